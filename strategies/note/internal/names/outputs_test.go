package names_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

//go:embed testdata/outputs.txt
var outputs string

// mostQuoted is how many lines are quoted of one output at the most.
const mostQuoted = 20

// TestOutputsOfTools: what went wrong and where is quoted of the output of each tool, and what it warns of is not.
func TestOutputsOfTools(t *testing.T) {
	features.Proves(t, "N8")
	tools := strings.Split(outputs, "\n#### ")[1:]
	const least = 60
	if len(tools) < least {
		t.Fatalf("%d tools", len(tools))
	}
	for _, tool := range tools {
		head, output, _ := strings.Cut(strings.ReplaceAll(tool, "\\e", "\x1b"), "\n---\n")
		lines := strings.Split(head, "\n")
		t.Run(lines[0], func(t *testing.T) {
			msgs := called("Bash", "command", strings.TrimPrefix(lines[1], "$ "), "Exit code 1\n"+output, false)
			list := build(new(outcome.Known).Plain(msgs)).Failures()
			if len(list) != 1 {
				t.Fatalf("%d failures", len(list))
			}
			said := list[0].Text
			for _, line := range lines[2:] {
				any := strings.Split(line[2:], "|")
				if slices.ContainsFunc(any, func(s string) bool { return strings.Contains(said, s) }) != (line[0] == '+') {
					t.Errorf("%s", line)
				}
			}
			if n := strings.Count(said, "\n"); n > mostQuoted {
				t.Errorf("%d lines", n)
			}
			all := strings.Split(new(outcome.Known).Plain(msgs)[1].Text(), "\n")
			for _, line := range strings.Split(said, "\n")[1:] { // word for word, in the order of the output
				if strings.HasPrefix(line, "[...") {
					continue
				}
				i := slices.IndexFunc(all, func(s string) bool { return strings.Contains(s, strings.TrimSuffix(line, " …")) })
				if i < 0 {
					t.Fatalf("not in the output, or not in its order: %q", line)
				}
				all = all[i+1:]
			}
			if t.Failed() {
				t.Log(said)
			}
		})
	}
}

// TestQuotesWordForWord: each line that is quoted stands in the output, and how the command ended is not quoted.
func TestQuotesWordForWord(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ why, text, want string }{
		{"what a test that passed logged",
			"=== RUN   TestA\nSum is wrong\n  got: 1\n  want: 2\n--- PASS: TestA (0.00s)\nFAIL\n",
			"[...] / FAIL"},
		{"a document", `{"output":"exit code 0\nSum is wrong\n  got: 1\n  want: 2\n","exit_code":1}`,
			"Sum is wrong / got: 1 / want: 2"},
		{"a frame", "Process exited with code 1\nOutput:\ngot: 1\nwant: 2\n", "got: 1 / want: 2"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := new(outcome.Known).Plain(called("Bash", "command", "go test", tc.text, false))
			list := build(msgs).Failures()
			if len(list) != 1 {
				t.Fatalf("%d failures", len(list))
			}
			lines := strings.Split(list[0].Text, "\n")[1:]
			if got := strings.Join(lines, " / "); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
			for _, line := range lines {
				if !strings.HasPrefix(line, "[...") && !strings.Contains(tc.text, line) {
					t.Errorf("%q is not in the output", line)
				}
			}
		})
	}
}
