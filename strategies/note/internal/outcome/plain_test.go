package outcome_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
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
			"a.go:3:5: undefined: x\nExit code 1"},
		{"a code beside it", `{"output": "FAIL \"x\"", "exit_code": 2, "error": null}`, "FAIL \"x\"\nExit code 2"},
		{"two texts", `{"stdout":"out","stderr":"err","exitCode":0}`, "out\nerr\nExit code 0"},
		{"no output", `{"stdout":"","stderr":"","returncode":0}`, "Exit code 0"},
		{"an error of the harness", `{"output":"half","exit_code":-1,"error":"timed out after 60s"}`,
			"half\ntimed out after 60s"},
		{"no code", `{"output":"x","exit_code":null}`, `{"output":"x","exit_code":null}`},
		{"no output at all", `{"exit_code":1,"id":7}`, `{"exit_code":1,"id":7}`},
		{"an output that is no text", `{"output":{"a":1},"exit_code":1}`, `{"output":{"a":1},"exit_code":1}`},
		{"half a document", `{"output":"x","exit_code":1`, `{"output":"x","exit_code":1`},
		{"a frame", codex + "FAIL\n", "FAIL\nProcess exited with code 1"},
		{"a frame of what still runs", "Chunk ID: 1\nProcess running with session ID 3\nOutput:\nx",
			"Chunk ID: 1\nProcess running with session ID 3\nOutput:\nx"},
		{"an output that has such a line", "make\nall of it\nOutput:\nExit code 1\n",
			"make\nall of it\nOutput:\nExit code 1\n"},
		{"a frame around it", "Command: go vet\nDirectory: (root)\nOutput: a.go:3: x\nb\nError: (none)\nExit Code: 1\n" +
			"Signal: 0",
			"a.go:3: x\nb\nExit Code: 1"},
		{"an error in the frame", "Command: x\nOutput: (empty)\nError: spawn failed\nExit Code: 127",
			"\nError: spawn failed\nExit Code: 127"},
		{"colours", "\x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mType", "error TS2322: Type"},
		{"a link", "see \x1b]8;;https://a.io/b\x1b\\here\x1b]8;;\a", "see here"},
		{"what does not end", "a\x1b[12;\nb\x1b", "a\nb"},
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
