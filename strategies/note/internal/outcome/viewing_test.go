package outcome_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// TestShownTextFailsNothing: no statement of the note is false: a command that only shows text did not fail by the
// errors and the codes in it, and failed where the program complains or the harness says so.
func TestShownTextFailsNothing(t *testing.T) {
	features.Proves(t, "N13")
	const trace = "Traceback (most recent call last):\n  File \"x.py\", line 3\nValueError: x"
	for _, tc := range []struct {
		command, text string
		flags, failed bool
	}{
		{"docker logs --tail 3 web", trace, false, false},
		{"docker logs web", "Error response from daemon: No such container: web", false, true},
		{"docker run web logs", trace, false, true},
		{"kubectl -n pay logs pod/x --tail=2", "panic: nil\nexit status 2", false, false},
		{"kubectl logs pod/x", `Error from server (NotFound): pods "x" not found`, false, true},
		{"cat test-output.txt", "--- FAIL: TestRound (0.00s)\nFAIL\nexit status 1", false, false},
		{"cat errors.txt", "Error: an example\nexit status 2", false, false},
		{"cat errors.txt | sort | head -3", "error: an example\nexit status 2", false, false},
		{"cat errors.txt", "cat: errors.txt: No such file or directory", false, true},
		{"cat errors.txt", "Exit code 1\ncat: errors.txt: No such file or directory", false, true},
		{"cat ci.log", "step test\nexit code 1", true, false},
		{"tail -2 x.log; go test ./...", "x\nexit code 1", false, true},
		{`sqlite3 db "select msg from errs"`, "Error: no such user", false, false},
		{`sqlite3 db "select msg from errs"`, "Error: in prepare, no such table: errs", false, true},
		{`psql -c "select msg from errs"`, `ERROR:  relation "errs" does not exist`, false, true},
		{"journalctl -u x", "error: it ended\nexit status 1", false, false},
		{"git -C sub log --oneline", "error: x is mended", false, true}, // as git complains itself
		{"git log --oneline", "fatal: not a git repository", false, true},
		{"gh run view 7 --log", "error: build\nexit status 1", false, false},
		{"curl -s http://x/errors", "Error: E1001 means that the card was declined.", false, false},
		{"curl -f http://x", "curl: (22) The requested URL returned error: 404", false, true},
	} {
		t.Run(tc.command+" "+tc.text, func(t *testing.T) {
			m := result(tc.text, false)
			h := outcome.Harness{Marks: tc.flags, Flags: tc.flags, GoOn: func() bool { return true }}
			if o := h.Of(&m, run(t, tc.command)); (o.Failed || o.Told) != tc.failed {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestCodesInLogsAreNoMarks: a code in a log that is shown does not say that the harness tells codes.
func TestCodesInLogsAreNoMarks(t *testing.T) {
	msgs := []abi.Message{{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{
		{ID: "c", Name: "run", Arguments: `{"command":"kubectl logs pod/x"}`}}}, result("x\nexit status 2", false)}
	if new(outcome.Known).Marks(msgs) {
		t.Error("it does")
	}
	if msgs[1].IsError = true; !new(outcome.Known).Flags(msgs) {
		t.Error("a flag was not seen")
	}
}
