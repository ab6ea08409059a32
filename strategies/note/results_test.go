package note_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// further is a further result of the last call.
func further(output string, failed bool) abi.Message {
	return abi.Message{Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(output), IsError: failed}
}

// TestSecondResultIsTold: "a tool call with all its results: kept, dropped or summarized together". How a call ended
// is what its last result says, wherever that stands.
func TestSecondResultIsTold(t *testing.T) {
	features.Proves(t, "K9", "N13")
	const failed = "Exit code 1\n--- FAIL: TestLease (0.41s)\n    lease_test.go:40: got 2, want 1"
	for why, c := range map[string]struct {
		msgs           []abi.Message
		want, unwanted string
	}{
		"it failed": {session("Mend it.", run("go test ./lease", "started", false), further(failed, true), said("Hm.")),
			"lease_test.go:40: got 2, want 1", "passed"},
		"it failed, as is known later": {session("Mend it.", run("go test ./lease", "started", false),
			said("Meanwhile."), "And?", further(failed, true), said("Hm.")), "lease_test.go:40: got 2, want 1", "passed"},
		"it passed": {session("Mend it.", run("go test ./lease", failed, true), run("go test ./lease", "started", false),
			further("Exit code 0\nok", false), said("Good.")), "`go test ./lease` failed once, then passed", "failed 2"},
		"a result that is there twice": {session("Mend it.", run("go test ./lease", failed, true), further(failed, true)),
			"lease_test.go:40: got 2, want 1", "(2 times)"},
	} {
		t.Run(why, func(t *testing.T) {
			text := render(c.msgs, note.Options{})
			if !strings.Contains(text, c.want) || strings.Contains(text, c.unwanted) {
				t.Errorf("want %q and no %q in\n%s", c.want, c.unwanted, text)
			}
		})
	}
}

// TestManyResultsOfACall: all of them are told of as one, and what they say is not put together once more for each.
func TestManyResultsOfACall(t *testing.T) {
	msgs := session("Watch it.", run("make watch", "line 0", false))
	for range 20_000 {
		msgs = append(msgs, further("line 1", false), further("line 2", false))
	}
	msgs = append(msgs, further("Exit code 2\nmain.go:7:1: undefined: x", true))
	if text := render(slices.Clip(msgs), note.Options{}); !strings.Contains(text, "main.go:7:1: undefined: x") {
		t.Errorf("%s", text)
	}
}
