package outcome_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// results are calls to one tool that were answered with these texts.
func results(texts ...string) (msgs []abi.Message) {
	for i, text := range texts {
		id := string(rune('a' + i))
		msgs = append(msgs, abi.Message{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: id, Name: "shell"}}},
			abi.Message{Role: abi.RoleTool, ToolCallID: id, Content: abi.Text(text)})
	}
	return msgs
}

// TestPlain: what a command put out is read without what its harness and its colours put around it.
func TestPlain(t *testing.T) {
	features.Proves(t, "N8")
	const codex = "Chunk ID: 1a2b3c\nWall time: 0.2 seconds\nProcess exited with code 1\nTokens: 5\nOutput:\n"
	for _, tc := range []struct{ why, text, want string }{
		{"a code in its metadata",
			`{"output":"a.go:3:5: undefined: x\n","metadata":{"exit_code":1,"seconds":1.2}}`,
			"Exit code 1\na.go:3:5: undefined: x"},
		{"a code beside it", `{"output": "FAIL \"x\"", "exit_code": 2, "error": null}`, "Exit code 2\nFAIL \"x\""},
		{"two texts", `{"stdout":"out","stderr":"err","exitCode":0}`, "Exit code 0\nout\nerr"},
		{"no output", `{"stdout":"","stderr":"","returncode":0}`, "Exit code 0"},
		{"an error of the harness", `{"output":"half","exit_code":-1,"error":"timed out after 60s"}`,
			"half\ntimed out after 60s"},
		{"no code", `{"output":"x","exit_code":null}`, `{"output":"x","exit_code":null}`},
		{"no output at all", `{"exit_code":1,"id":7}`, `{"exit_code":1,"id":7}`},
		{"an output that is no text", `{"output":{"a":1},"exit_code":1}`, `{"output":{"a":1},"exit_code":1}`},
		{"half a document", `{"output":"x","exit_code":1`, `{"output":"x","exit_code":1`},
		{"a frame", codex + "FAIL\n", "Process exited with code 1\nFAIL"},
		{"a frame of what still runs", "Chunk ID: 1\nProcess running with session ID 3\nOutput:\nx",
			"Chunk ID: 1\nProcess running with session ID 3\nOutput:\nx"},
		{"an output that has such a line", "make\nall of it\nOutput:\nExit code 1\n",
			"make\nall of it\nOutput:\nExit code 1\n"},
		{"a frame around it", "Command: go vet\nDirectory: (root)\nOutput: a.go:3: x\nb\nError: (none)\nExit Code: 1\n" +
			"Signal: 0",
			"Exit Code: 1\na.go:3: x\nb"},
		{"an error in the frame", "Command: x\nOutput: (empty)\nError: spawn failed\nExit Code: 127",
			"Exit Code: 127\nError: spawn failed"},
		{"a frame in a document", `{"output":"Exit code: 0\nOutput:\nx","exit_code":1}`,
			"Exit code 1\nExit code: 0\nOutput:\nx"},
		{"colours", "\x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mType", "error TS2322: Type"},
		{"a link", "see \x1b]8;;https://a.io/b\x1b\\here\x1b]8;;\a", "see here"},
		{"what does not end", "a\x1b[12;\nb\x1b", "a\nb"},
		{"a set of characters", "\x1b(B\x1b[mred\x1b(B", "red"},
		{"an escape before a character", "a\x1bé\x1b[é", "aéé"},
		{"an escape at the end of a line", "a\x1b\nb\x1b(\nc", "a\nb(\nc"},
		{"texts for the terminal", "a\x1bPq#0;2\x1b\\b\x1b_x\x1b\\c\x1b^x\x1b\\d\x1bXx\x1b\\e", "abcde"},
		{"a title that a colour ends", "\x1b]0;t\x1b[31mred", "red"},
		{"a cursor", "\x1b7a\x1b8\x1b=b", "ab"},
		{"nothing", "--- FAIL: TestA\n", "--- FAIL: TestA\n"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := results(tc.text)
			got := new(outcome.Known).Plain(msgs)
			if s := got[1].Text(); s != tc.want {
				t.Errorf("%q, want %q", s, tc.want)
			}
			if msgs[1].Text() != tc.text {
				t.Error("the messages were changed")
			}
			if failed := strings.Contains(tc.want, "timed out"); got[1].IsError != failed {
				t.Errorf("marked as an error: %v", got[1].IsError)
			}
		})
	}
	t.Run("a document that a command put out", func(t *testing.T) {
		const doc = `{"output":"x","exit_code":1}`
		if got := new(outcome.Known).Plain(results(doc, "Exit code 1\nx"))[1].Text(); got != doc {
			t.Errorf("%q", got)
		}
	})
}

// TestCodeOfHarness: the code that the harness tells is believed, whatever the command printed.
func TestCodeOfHarness(t *testing.T) {
	features.Proves(t, "N8", "I4")
	const failing, passing = "exit code 0\\n--- FAIL: TestA\\nFAIL", "exit code 1\\nok  \\tkw\\t0.1s\\nexit code 2"
	frame := func(code, output string) string {
		return "Process exited with code " + code + "\nOutput:\n" + strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(output)
	}
	around := func(code, output string) string {
		return "Command: go test\nOutput: " + strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(output) +
			"\nError: (none)\nExit Code: " + code
	}
	for _, tc := range []struct {
		why, text      string
		failed, passed bool
	}{
		{"a frame above", frame("1", failing), true, false},
		{"one of what passed", frame("0", passing), false, true},
		{"a document", `{"output":"` + failing + `","exit_code":1}`, true, false},
		{"one of what passed", `{"output":"` + passing + `","exit_code":0}`, false, true},
		{"a frame around", around("1", failing), true, false},
		{"one of what passed", around("0", passing), false, true},
		{"one that says it was stopped", frame("0", `ok\naborted by user`), false, true},
	} {
		for _, command := range []string{"go test ./...", ""} {
			t.Run(tc.why+" "+command, func(t *testing.T) {
				args, err := json.Marshal(map[string]string{"command": command})
				if err != nil {
					t.Fatal(err)
				}
				m := new(outcome.Known).Plain(results(tc.text))[1]
				h := outcome.Harness{GoOn: func() bool { return true }}
				o := h.Of(&m, action.Of(&abi.ToolCall{Name: "shell", Arguments: string(args)}))
				if o.Failed != tc.failed || o.Passed != tc.passed {
					t.Errorf("failed %v, passed %v", o.Failed, o.Passed)
				}
				for _, line := range o.Lines {
					if outcome.SaysExit(line) {
						t.Errorf("%q is told", line)
					}
				}
			})
		}
	}
}

// TestOutput: what a tool gave back stands behind the line on how it ended.
func TestOutput(t *testing.T) {
	features.Proves(t, "N8")
	for text, want := range map[string]string{
		"Exit code 0\n{\"id\":7}": "{\"id\":7}", "Exit code 1": "Exit code 1", "a\nExit code 1": "a\nExit code 1", "": "",
	} {
		if got := outcome.Output(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
