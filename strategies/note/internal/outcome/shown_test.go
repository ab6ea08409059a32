package outcome_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// TestCutOutput: what is left of an output that was cut says that all passed where a failure would stand in it too.
func TestCutOutput(t *testing.T) {
	const three = "ok  \tkw/a\t0.1s\nok  \tkw/b\t0.1s\nok  \tkw/c\t0.1s"
	for _, tc := range []struct {
		why, pipe string
		passed    bool
	}{
		{"all of it", "", true},
		{"its end", " | tail -3", true},
		{"its beginning", " | head -3", false},
		{"its beginning, with a letter", " | head -n 3", false},
		{"a beginning that is all of it", " | head -20", true},
		{"ten lines where nothing is said", " | head", true},
		{"bytes of it", " | head -c 200", false},
		{"what passed", " | grep ok", false},
		{"what passed or failed", " | grep -E 'ok|FAIL'", true},
		{"all but some", " | grep -v 'no test files'", true},
		{"lines by their numbers", " | sed -n 1,3p", false},
		{"a copy", " | tee out.txt | tail -3", true},
		{"the beginning of its end", " | tail -30 | head -2", false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			args, err := json.Marshal(map[string]string{"command": "go test ./... 2>&1" + tc.pipe})
			if err != nil {
				t.Fatal(err)
			}
			h := outcome.Harness{Marks: !strings.Contains(tc.pipe, "|"), GoOn: func() bool { return true }}
			o := h.Of(&abi.Message{Role: abi.RoleTool, Content: abi.Text(three)},
				action.Of(&abi.ToolCall{Name: "bash", Arguments: string(args)}))
			if o.Passed != tc.passed || o.Failed {
				t.Errorf("passed %v, want %v", o.Passed, tc.passed)
			}
		})
	}
}

// TestEditsThatSayWhatTheyDid: a script that edits files in place and puts out nothing but its own words did so; where
// anything else stands there, or could have been hidden, it is not known.
func TestEditsThatSayWhatTheyDid(t *testing.T) {
	const edits = "cd /p/src\n\n# Fix the imports\nsed -i '' 's|./a.js|./u/a.js|g' main.ts\nsed -i.bak s/x/y/ b.ts\n\n"
	for _, tc := range []struct {
		why, script, out string
		passed           bool
	}{
		{"its own words", edits + "echo \"Fixed main.ts\"", "Fixed main.ts\n", true},
		{"words between", "echo a; " + edits + "echo b", "a\nb", true},
		{"an error", edits + "echo done", "sed: main.ts: No such file or directory\ndone", false},
		{"errors are hidden", "sed -i s/a/b/ main.ts 2>/dev/null; echo done", "done", false},
		{"said where it failed alone", "sed -i s/a/b/ main.ts || echo done", "done", false},
		{"something else runs", "make build; " + edits + "echo done", "done", false},
		{"nothing is edited", "cd /p; echo done", "done", false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			args, err := json.Marshal(map[string]string{"command": tc.script})
			if err != nil {
				t.Fatal(err)
			}
			o := outcome.Harness{GoOn: func() bool { return true }}.Of(&abi.Message{Role: abi.RoleTool,
				Content: abi.Text(tc.out)}, action.Of(&abi.ToolCall{Name: "bash", Arguments: string(args)}))
			if o.Passed != tc.passed {
				t.Errorf("passed %v, want %v", o.Passed, tc.passed)
			}
		})
	}
}
