package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// answered are commands that an agent wrote down, each with what the harness answered.
func answered(prompt string, pairs ...string) []abi.Message {
	msgs := []abi.Message{user("Mend the lease.")}
	for i := 0; i < len(pairs); i += 2 {
		msgs = append(msgs, said(pairs[i]), user(pairs[i+1]+prompt))
	}
	return append(msgs, said("Mended."), user("Thanks, and now the lock."))
}

// TestWrittenCommands: what an agent without tools writes down is told like calls of one
// with tools: files by what was done to them, checks by how they ended, what was refused.
func TestWrittenCommands(t *testing.T) {
	features.Proves(t, "N13", "I4")
	const swe = "\n(Open file: /srv/kw/lease.py)\n(Current directory: /srv/kw)\nbash-$"
	const refused = "Your proposed edit has introduced new syntax error(s).\n\nERRORS:\n- E999 SyntaxError: " +
		"unmatched ']'\n"
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"SWE-agent", answered(swe, "I create it.\n```\ncreate test_lease.py\n```",
			"[File: /srv/kw/test_lease.py (1 lines total)]\n1:",
			"```\nedit 7:9\nx = 1\nend_of_edit\n```", "File updated. Please review the changes and make sure they are correct",
			"```\npytest -q\n```", "12 passed in 3.1s",
			"```\nrm test_lease.py\n```", "Your command ran successfully and did not produce any output.",
			"```\nopen lease.py 7\n```", "[File: /srv/kw/lease.py (9 lines total)]"),
			"- Changed: lease.py (edited), test_lease.py (written, deleted)\n- Checks: `pytest -q` passed\n- " +
				"Besides: 1 read or search"},
		{"an edit that was refused", answered(swe, "```\nedit 7:9\nx = [\nend_of_edit\n```", refused,
			"```\nedit 7:9\nx = [\nend_of_edit\n```", refused),
			"- Failed: edit lease.py 7-9 (2 times): Your proposed edit has introduced new syntax error(s). ERRORS: " +
				"- E999 SyntaxError: unmatched ']' (Open file:"},
		{"OpenHands", answered("", "I edit it.\n<function=str_replace_editor>\n<parameter=command>str_replace</parameter>\n"+
			"<parameter=path>/srv/kw/lease.py</parameter>\n"+
			"<parameter=old_str>a</parameter>\n<parameter=new_str>b</parameter>\n</function>",
			"EXECUTION RESULT of [str_replace_editor]:\nThe file /srv/kw/lease.py has been edited.",
			"<function=execute_bash>\n<parameter=command>\ncd /srv/kw && git commit -am x\n</parameter>\n</function>",
			"EXECUTION RESULT of [execute_bash]:\n[main 3f2a1bc] x\n[The command completed with exit code 0.]"),
			"- Changed: lease.py (edited)\n- Committed: 3f2a1bc x"},
		{"OpenHands of before", answered("", "I run it.\n<execute_bash>\nmake test\n</execute_bash>",
			"OBSERVATION:\nx\n[Command finished with exit code 2]"),
			"- Checks: `make test` failed"},
		{"mini-swe-agent", answered("", "THOUGHT: I run it.\n\n```bash\nmake test\n```",
			"<returncode>0</returncode>\n<output>\nok\n</output>"),
			"- Checks: `make test` passed"},
		{"an agent that shows code to a person", session("Show it.", said("```\nrm -rf x\n```"), "Thanks."), ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(tc.msgs, note.Options{})
			_, came, _ := strings.Cut(thread(text), "\n- ")
			if came = "- " + came; tc.want == "" && came != "- " || !strings.HasPrefix(came, tc.want) {
				t.Errorf("%s\nwant %s", came, tc.want)
			}
			if strings.Contains(text, "Tools called in what went") {
				t.Errorf("it has no tools:\n%s", text)
			}
			if strings.Contains(text, "<function") || strings.Contains(text, "OBSERVATION") {
				t.Errorf("the answer of a harness is told as words:\n%s", text)
			}
		})
	}
}

// TestDemonstrations: what a demonstration names is of another task.
func TestDemonstrations(t *testing.T) {
	features.Proves(t, "complaint 15")
	msgs := []abi.Message{user("Here is a demonstration of how to correctly accomplish this task.\n```\ncreate " +
		"src/reproduce.py\n```\nTimeDelta is in fields_of_it.py"),
		user("Mend lease_table.py"), said("ok")}
	text := render(msgs, note.Options{})
	for _, name := range []string{"reproduce.py", "TimeDelta", "fields_of_it.py"} {
		if strings.Contains(text, name) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if !strings.Contains(text, "lease_table.py") {
		t.Errorf("%s", text)
	}
}

// TestNamesOfTheProgram: names in what the program of an agent prints of itself, as its release notes, come last; those
// in what a person ran do not.
func TestNamesOfTheProgram(t *testing.T) {
	features.Proves(t, "N8", "complaint 15")
	text := render([]abi.Message{user("<command-name>/release-notes</command-name>"),
		user("<local-command-stdout>Version 2.1.9: CLAUDE_CODE_SHELL, config/managed-mcp.json</local-command-stdout>"),
		user("<bash-input>ls</bash-input>"), user("<bash-stdout>store/lease_table.go</bash-stdout>"),
		user("Mend it."), said("ok")}, note.Options{Budget: 60})
	for name, want := range map[string]bool{"CLAUDE_CODE_SHELL": false, "managed-mcp.json": false,
		"lease_table.go": true} {
		if strings.Contains(text, name) != want {
			t.Errorf("%s, want %v:\n%s", name, want, text)
		}
	}
}

// TestRemovedAndMoved: a file that is removed or moved is listed as that, also after
// further compactions.
func TestRemovedAndMoved(t *testing.T) {
	features.Proves(t, "I8", "N13")
	msgs := session("Mend it.", edit("/srv/kw/docs/a.md", "ok", false), edit("/srv/kw/docs/b.md", "ok", false),
		edit("/srv/kw/docs/c.md", "ok", false),
		run("cd /srv/kw && rm docs/a.md && mkdir notes && git mv docs/b.md notes/", "", false),
		run("make lint", "Exit code 1\nerror: x", true), said("Done."))
	n := build(gone(msgs))
	files := n.Files()
	if got := strings.Join(files.Modified, " "); got != "/srv/kw/docs/a.md /srv/kw/docs/b.md /srv/kw/docs/c.md "+
		"/srv/kw/notes/b.md" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(files.Deleted, " "); got != "/srv/kw/docs/a.md /srv/kw/docs/b.md" {
		t.Errorf("deleted %q", got)
	}
	text := render(msgs, note.Options{})
	for round := range 3 {
		for _, part := range []string{"a.md (edited, deleted)", "b.md (edited, moved to notes/b.md)",
			" docs/c.md", " notes/b.md"} {
			if !strings.Contains(text, part) {
				t.Errorf("round %d: no %q in\n%s", round, part, text)
			}
		}
		text = render(session(summary(text)), note.Options{})
	}
}

// TestRemovedAndSaidSo: a file is gone, whatever a command says after it was deleted.
func TestRemovedAndSaidSo(t *testing.T) {
	features.Proves(t, "I8")
	msgs := session("Mend it.", edit("/srv/kw/docs/a.md", "ok", false),
		run(`rm /srv/kw/docs/a.md 2>/dev/null; echo "done"`, "done", false), said("Done."))
	if text := render(msgs, note.Options{}); strings.Count(text, "a.md (edited, deleted)") == 0 ||
		len(build(gone(msgs)).Files().Deleted) != 1 {
		t.Error(text)
	}
}
