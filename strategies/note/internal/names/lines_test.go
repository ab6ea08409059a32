package names_test

import (
	"encoding/json"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestLinesOfFiles: a number that a search, a compiler or a call put behind a file is told with it, and one that stood
// by itself too is not. The next note has them alike.
func TestLinesOfFiles(t *testing.T) {
	type args map[string]any
	for _, tc := range []struct {
		why, tool string
		args      args
		output    string
		want      string
	}{
		{"of several files", "Grep", args{"pattern": "take"},
			"store/lease.go:2210:take()\nstore/lease.go:407:take()\nmain.go:318:take()\n", "lease.go:407,2210 main.go:318"},
		{"of files with one name", "Grep", args{"pattern": "take"}, "store/lease.go:221:take()\nring/lease.go:407:take()\n",
			"store/lease.go:221 ring/lease.go:407"},
		{"of the one file that was searched", "Bash", args{"command": "grep -n take store/lease.go"},
			"221:take()\n407:take()\n", "lease.go:221,407"},
		{"of two files that were searched in turn", "Bash", args{"command": "grep -n take a.go; grep -n take b.go"},
			"221:take()\n407:take()\n", "221 407"},
		{"that a call asks for", "Read", args{"file_path": "/srv/kw/store/lease.go", "offset": 221}, "take()",
			"lease.go:221"},
		{"of a compiler", "Bash", args{"command": "go vet ./..."}, "store/lease.go:221:12: undefined: take\n",
			"lease.go:221"},
		{"by itself too", "Bash", args{"command": "sh look.sh"}, "store/lease.go:221:take()\ncode 221\n", "221"},
		{"at the beginning of a line that was only shown", "Bash", args{"command": "cat ports.yaml"}, "8080: web\n",
			"8080"},
		{"of a search without numbers", "Bash", args{"command": "grep web ports.yaml"}, "8080: web\n", "8080"},
		{"of a search by a tool", "Grep", args{"pattern": "take", "path": "store/lease.go"},
			"221:take()\n", "lease.go:221"},
		{"of one that may have told none", "Grep", args{"pattern": "web", "path": "ports.yaml"}, "8080: web\n", "8080"},
		{"of a list that was searched", "Bash", args{"command": "ps aux | grep -n server.py"}, "1221:root python\n", "1221"},
		{"of a search beside what shows another file", "Bash", args{"command": "grep -n take a.go; cat ports.yaml"},
			"8080: web\n", "8080"},
		{"that a call asks for in bytes", "Read", args{"file_path": "book.md", "offset": 50000}, "", "50000"},
		{"behind what is no file", "Bash", args{"command": "sh look.sh"}, "example.com:8080:take()\n", "8080"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			features.Proves(t, "N8")
			given, err := json.Marshal(tc.args)
			if err != nil {
				t.Fatal(err)
			}
			msgs := []abi.Message{
				{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: tc.tool, Arguments: string(given)}}},
				{Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(tc.output)}}
			text := build(msgs).Render(1000, byRune)
			for round := range 3 {
				if round == 2 { // what is said again of a file that the note names alone
					msgs[0].ToolCalls[0].ID, msgs[1].ToolCallID = "d", "d"
					text = build(append([]abi.Message{summary(text)}, msgs...)).Render(1000, byRune)
				}
				if got := lines(text)["Numbers and ids"]; !sameWords(got, tc.want) {
					t.Errorf("%q, want %q in\n%s", got, tc.want, text)
				}
				text = build([]abi.Message{summary(text)}).Render(1000, byRune)
			}
		})
	}
}
