package action_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

func of(t *testing.T, tool string, args map[string]any) *action.Action {
	t.Helper()
	doc, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return action.Of(&abi.ToolCall{Name: tool, Arguments: string(doc)})
}

var uses = map[action.Use]string{action.Read: "reads", action.Created: "creates", action.Edited: "edits",
	action.Deleted: "deletes",
	action.Moved:   "moves"}

// told is what a list of files says, in a line.
func told(files []action.File) string {
	var list []string
	for _, f := range files {
		s := uses[f.Use] + " " + f.Path
		if f.To != "" {
			s += " to " + f.To
		}
		if f.From > 0 {
			s += fmt.Sprintf(" %d-%d", f.From, f.Last)
		}
		list = append(list, s)
	}
	return strings.Join(list, ", ")
}

type args = map[string]any

// TestFilesOfTools: what a tool does to which file is told by its name and its
// arguments, the same for every part of the note.
func TestFilesOfTools(t *testing.T) {
	features.Proves(t, "N13")
	const codex = "*** Begin Patch\n*** Update File: a.go\n@@ func x\n-x\n+y\n*** Add File: b.go\n+z\n*** Delete " +
		"File: c.go\n" +
		"*** Update File: d.go\n*** Move to: e.go\n*** End Patch"
	const unified = "--- a/a.go\n+++ b/a.go\n@@ -7,5 +7,6 @@ func x\n x\n y\n-z\n+z\n+z\n x\n y\n"
	for _, tc := range []struct {
		why, tool string
		args      args
		kind      action.Kind
		want      string
	}{
		{"an editor", "Edit", args{"file_path": "a.go", "old_string": "x", "new_string": "y"}, action.Changes, "edits a.go"},
		{"an editor with lines", "edit", args{"path": "a.go", "start_line": 7, "end_line": 9, "text": "x"},
			action.Changes, "edits a.go 7-9"},
		{"an insertion", "str_replace_editor",
			args{"command": "insert", "path": "a.go", "insert_line": 7, "new_str": "x"}, action.Changes, "edits a.go 7-7"},
		{"a new file", "Write", args{"file_path": "a.go", "content": "x"}, action.Changes, "creates a.go"},
		{"an editor that is one tool", "str_replace_editor", args{"command": "create", "path": "a.go"}, action.Changes,
			"creates a.go"},
		{"and views", "str_replace_editor", args{"command": "view", "path": "a.go"}, action.Looks, "reads a.go"},
		{"a file that is deleted", "delete_file", args{"path": "a.go"}, action.Changes, "deletes a.go"},
		{"a file that is moved", "move_file", args{"source": "a.go", "destination": "b.go"}, action.Changes,
			"moves a.go to b.go"},
		{"a reader", "Read", args{"file_path": "a.go", "limit": 3}, action.Looks, "reads a.go"},
		{"a patch", "apply_patch", args{"input": codex}, action.Changes,
			"edits a.go, creates b.go, deletes c.go, moves d.go to e.go"},
		{"a patch by a shell", "shell", args{"command": "apply_patch <<'EOF'\n" + codex + "\nEOF"}, action.Changes,
			"edits a.go, creates b.go, deletes c.go, moves d.go to e.go"},
		{"a patch with numbers says which lines it changes, not which it shows", "patch", args{"diff": unified},
			action.Changes, "edits a.go 9-10"},
		{"a text that speaks of patches is none", "Write", args{"file_path": "a.md", "content": "x\n+++ b/a.go\n"},
			action.Changes, "creates a.md"},
		{"a tool of a server", "mcp__linear__get_issue", args{"id": "ENT-98"}, action.Looks, ""},
		{"a tool of which nothing is known", "book_reservation", args{"user": "mia"}, action.Does, ""},
		{"one that creates what is no file", "create_comment", args{"issue": "ENT-98"}, action.Does, ""},
		{"one that asks", "AskUserQuestion", args{"questions": "Which?"}, action.Asks, ""},
		{"one that hands work on", "Task", args{"description": "Find it", "prompt": "x"}, action.Delegates, ""},
		{"a list of tasks", "TodoWrite", args{"todos": []string{}}, action.Silent, ""},
		{"a search", "Grep", args{"pattern": "x", "path": "src"}, action.Looks, "reads src"},
		{"Python is no shell", "python", args{"code": "if a > b:\n  rm(c)"}, action.Runs, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if a := of(t, tc.tool, tc.args); a.Kind != tc.kind || told(a.Files) != tc.want {
				t.Errorf("kind %d, %q, want %d, %q", a.Kind, told(a.Files), tc.kind, tc.want)
			}
		})
	}
	t.Run("an editor that names no file changes the one that is open", func(t *testing.T) {
		a := of(t, "edit", args{"start_line": 7, "end_line": 9, "replacement_text": "x"})
		a.Answered("File updated.\n(Open file: /srv/a.go)\n(Current directory: /srv)\nbash-$")
		if a.Kind != action.Changes || told(a.Files) != "edits /srv/a.go 7-9" {
			t.Errorf("kind %d, %q", a.Kind, told(a.Files))
		}
		for text, want := range map[string]string{"x": "edits /srv/a.go 7-7", "x\n\ny\nz\n": "edits /srv/a.go 7-10",
			"": "edits /srv/a.go 7-9", "x\ny\nend_of_edit": "edits /srv/a.go 7-8"} {
			a := of(t, "edit", args{"start_line": 7, "end_line": 9, "replacement_text": text})
			a.Answered("File updated.\n(Open file: /srv/a.go)\n(Current directory: /srv)\nbash-$")
			if a.Made(); told(a.Files) != want {
				t.Errorf("%q put there: %q, want %q", text, told(a.Files), want)
			}
		}
		none := of(t, "edit", args{"text": "x"})
		if none.Answered("Edited."); none.Kind != action.Does || len(none.Files) > 0 {
			t.Errorf("kind %d, %q", none.Kind, told(none.Files))
		}
	})
}

// TestFilesOfCommands: what a command does to files that it names.
func TestFilesOfCommands(t *testing.T) {
	features.Proves(t, "N13")
	for _, tc := range []struct{ why, script, want string }{
		{"removed", "rm -rf a.go ./b", "deletes a.go, deletes ./b"},
		{"removed by git", "git rm -q a.go", "deletes a.go"},
		{"removed from the index alone", "git rm --cached a.go", ""},
		{"moved", "mv a.go b.go", "moves a.go to b.go"},
		{"moved by git", "git mv a.go b.go", "moves a.go to b.go"},
		{"moved into a folder", "mv x/a.go y/b.go docs/", "moves x/a.go to docs/a.go, moves y/b.go to docs/b.go"},
		{"moved into what looks like a folder", "mv x/a.go docs", "moves x/a.go to docs/a.go"},
		{"a folder that is moved", "mv docs/testing docs/tests", "moves docs/testing to docs/tests"},
		{"copied", "cp -p a.go b.go", "creates b.go"},
		{"written", "cat > a.yaml <<'EOF'\nrm x\nEOF", "creates a.yaml"},
		{"added to", "echo x >> a.md", "edits a.md"},
		{"by a pipe", "echo x | tee a.md | tee -a b.md", "creates a.md, edits b.md"},
		{"in place", "sed -i 's/a/b/' a.go b.go", "edits a.go, edits b.go"},
		{"in place, of other systems", "sed -i '' -e 's/a/b/' a.go", "edits a.go"},
		{"in place, by Perl", "perl -pi -e 's/a/b/' a.go", "edits a.go"},
		{"read", "cat a.go && head -n 50 b.go && sed -n 1,20p c.go", "reads a.go, reads b.go, reads c.go"},
		{"in the folder that it changes to", "cd /srv/kw && rm a.go && cd web && rm /tmp/b.go c.go",
			"deletes /srv/kw/a.go, deletes /tmp/b.go, deletes /srv/kw/web/c.go"},
		{"moved to a place that a variable names", "mv a.go $dir/", ""},
		{"a pattern names none", "rm *.html; sed -i s/a/b/ $f", ""},
		{"nowhere", "make > /dev/null 2>&1", ""},
		{"nothing", "grep -rn 'rm a.go' src", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := told(of(t, "Bash", args{"command": tc.script}).Files); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestSteps: what the commands of a script do beside files: checks, acts, what prepares.
func TestSteps(t *testing.T) {
	features.Proves(t, "A6", "N13")
	kinds := map[action.StepKind]string{action.Shows: "shows", action.Checks: "checks", action.Prepares: "prepares",
		action.Acts: "acts", action.Writes: "writes"}
	for _, tc := range []struct{ script, want string }{
		{"npm run test:ci", "checks"}, {"npm test", "checks"}, {"pnpm --filter web lint", "checks"},
		{"yarn typecheck", "checks"},
		{"npm run dev", ""}, {"npm run start", ""}, {"make serve", ""}, {"make deploy", ""}, {"bun run dev", ""},
		{"mise run dev", ""},
		{"make", "checks"}, {"make -j8", "checks"}, {"make -C lib test", "checks"},
		{"mise run fmt && mise run lint", "checks checks"},
		{"npx tsc --noEmit", "checks"}, {"poetry run pytest -q", "checks"}, {"npx serve", ""},
		{"go test ./... > out.txt", "checks"},
		{"npm tests", ""}, {"cmake --build build", "checks"}, {"cmake -S . -B build", "prepares"},
		{"git status && git diff && git log", ""}, {"git add -A && git commit -m x && git push", "acts acts acts"},
		{"git stash list", ""}, {"git stash", "acts"}, {"git stash pop", "acts"}, {"git branch -a", ""},
		{"git branch -D x", "acts"},
		{"git tag -l", ""}, {"git checkout -- .", "acts"}, {"git fetch", "prepares"}, {"mkdir -p a", "prepares"},
		{"chmod +x a", "prepares"},
		{"npm install left-pad", "prepares"}, {"npm ci", "prepares"}, {"go mod tidy", "prepares"},
		{"eslint --fix .", "prepares"}, {"eslint .", "checks"},
		{"docker ps", ""}, {"docker compose up -d", "acts"}, {"kubectl get pods", ""}, {"kubectl delete pod x", "acts"},
		{"terraform plan", ""}, {"terraform apply", "acts"}, {"gh pr view 7", ""}, {"gh pr create --fill", "acts"},
		{"gh api repos/x/pulls", ""}, {"gh api repos/x/pulls/7/replies -X POST -f body=x", "acts"},
		{"gh api x -X GET -f page=2", ""},
		{"curl https://x.io", ""}, {"curl -X DELETE https://x.io/1", "acts"}, {"curl -d @a https://x.io", "acts"},
		{`psql -c "UPDATE x SET a = 1"`, "acts"}, {`psql -c "SELECT updated FROM x"`, ""}, {"rm *.html", "prepares"},
		{"rm a.html", "writes"},
		{"golangci-lint linters", ""}, {"golangci-lint run ./...", "checks"},
		{"cat a.go", "shows"}, {"ls -la", ""}, {"for f in a b; do git rm $f; done", "prepares"},
		{"cat > x <<EOF\ngit push\nEOF", "writes"},
	} {
		t.Run(tc.script, func(t *testing.T) {
			var got []string
			for _, s := range of(t, "Bash", args{"command": tc.script}).Steps {
				got = append(got, kinds[s.Kind])
			}
			if got := strings.Join(got, " "); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestChangedLines: of an edit those lines are told that it changed, not those that its
// editor shows around them.
func TestChangedLines(t *testing.T) {
	features.Proves(t, "I8")
	const shown = "The file was updated:\n     9→func f() {\n    10→\tx := 1\n    11→\ty := 2\n    12→\treturn x + " +
		"y\n    13→}\n    14→\n"
	for _, tc := range []struct{ why, before, after, shown, want string }{
		{"all of the new text", "\tz := 1\n", "\tx := 1\n\ty := 2\n", shown, "edits a.go 10-11"},
		{"without what stood there before", "func f() {\n\tx := 1\n\ty := 3\n\treturn x + y",
			"func f() {\n\tx := 1\n\ty := 2\n\treturn x + y", shown, "edits a.go 11-11"},
		{"where lines went", "\tx := 1\n\tz()\n\ty := 2", "\tx := 1\n\ty := 2", shown, "edits a.go 11-11"},
		{"with tabs", "a", "\ty := 2", "10\t\tx := 1\n11\t\ty := 2\n", "edits a.go 11-11"},
		{"a text that is not shown", "a", "b", shown, "edits a.go"},
		{"nothing shown", "a", "b", "Done", "edits a.go"},
		{"nothing put there", "a", "", shown, "edits a.go"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			a := of(t, "Edit", args{"file_path": "a.go", "old_string": tc.before, "new_string": tc.after})
			if a.Answered(tc.shown); told(a.Files) != tc.want {
				t.Errorf("%q, want %q", told(a.Files), tc.want)
			}
		})
	}
}

// TestActionOfAnything: whatever a call holds, it is read, and of each file it is said
// what is done to it.
func TestActionOfAnything(t *testing.T) {
	piece := rapid.SampledFrom([]string{"rm ", "mv ", "cp ", "sed -i ", "git ", "mv a b", "> ", ">> ", "tee -a ", "'",
		"\"", "-e ", "a/b.go ", "/", "*", "$x ", "\n", ";",
		"*** Begin Patch\n", "*** Update File: ", "*** Move to: ", "+++ b/", "@@ -1 +2 @@\n", "+x\n", "<<X\n", "<<"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 14).Draw(rt, "text"), "")
		for _, key := range []string{"command", "path", "input", "code", "new_string", "start_line"} {
			for _, tool := range []string{"", "x", "__", "Edit", "move_file", "str_replace_editor"} {
				for _, given := range []args{{key: text}, {key: text, "file_path": text}} {
					a := of(t, tool, given)
					a.Answered(text)
					for _, f := range a.Files {
						if f.Path == "" || uses[f.Use] == "" || f.Last < f.From || (f.Use == action.Moved) != (f.To != "") {
							rt.Fatalf("%s %q: %+v", tool, text, a.Files)
						}
					}
				}
			}
		}
	})
}
