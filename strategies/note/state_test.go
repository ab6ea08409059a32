package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// state is what a note says of where the work stood, without its head.
func state(text string) string {
	part, ok := "", false
	for _, head := range []string{note.HeadState, note.HeadBefore, note.HeadLast} {
		if !ok {
			_, part, ok = strings.Cut(text, head+"\n")
		}
	}
	part, _, _ = strings.Cut(part, "\n\n")
	return part
}

// TestState: the last step is told, how it ended and why, and what the agent was about to
// do, after any number of compactions.
func TestState(t *testing.T) {
	features.Proves(t, "I4", "N13")
	const failing = "Exit code 1\n--- FAIL: TestLease (0.41s)\n    lease_test.go:40: got 2, want 1\nFAIL"
	begun := session("Mend the leases.",
		called("Read", map[string]any{"file_path": "/srv/kw/internal/store/lease.go"}, "package store", false),
		called("Read", map[string]any{"file_path": "/srv/kw/internal/store/lock.go"}, "package store", false),
		said("I found two causes:\n\n1. The lock is taken late.\n2. The table is read twice.\n\nThe first comes first."),
		edit("/srv/kw/internal/store/lease.go", "ok", false), edit("/srv/kw/internal/store/lease.go", "ok", false),
		run("go test ./internal/store 2>&1", failing, true))
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"reads share a line, repeated calls are counted, a failure has its reason", begun, `[1]
- Read …/store/lease.go; Read …/store/lock.go
- Agent: I found two causes:
  1. The lock is taken late.
  2. The table is read twice.
  The first comes first.
- Edit lease.go ×2
- ` + "`go test ./internal/store 2>&1`" + ` → failed: --- FAIL: TestLease (0.41s) / lease_test.go:40: got 2, want 1`},
		{"what was changed since the last commit", session("Mend it.", edit("/srv/kw/a.go", "ok", false),
			run("git commit -am x", "[main 3f2a1bc] x\n 1 file changed", false), edit("/srv/kw/b.go", "ok", false)), `[1]
- Edit a.go
- ` + "`git commit -am x`" + ` → committed 3f2a1bc x
- Edit b.go
- Last commit: 3f2a1bc x on branch main, not pushed
- Changed since: b.go`},
		{"where the last turn is short the one before it is told too", session("Mend it.", edit("/srv/kw/a.go", "ok", false),
			said("It holds. Shall I push?"), "yes", run("git push", "", false)), `[1]
- Edit a.go
- Agent: It holds. Shall I push?
[2]
- ` + "`git push`" + `
- The agent committed nothing in these messages.`},
		{"what a command put out: few lines, or the last, and no text that it shows", session("Look.",
			run("git status --short", " M README.md\nA  a.go", false),
			run("cat a.go", "package a\n\nfunc a() {\n\treturn\n}", false),
			run("make", "a\nb\nc\nbuilt a.out", false), run("git init /tmp/x && touch /tmp/x/y", "", false)), `[1]
- ` + "`git status --short`" + ` → M README.md / A a.go
- ` + "`cat a.go`" + `
- ` + "`make`" + ` → [...] built a.out
- ` + "`git init /tmp/x && touch /tmp/x/y`"},
		{"tests of which the last package has none", session("Test it.", run("go test -run TestLease ./... ",
			"ok  \tkw/a\t0.1s [no tests to run]\nok  \tkw/store\t5.2s\nok  \tkw/x\t0.1s [no tests to run]\n"+
				"ok  \tkw/y\t0.1s [no tests to run]", false)), `[1]
- ` + "`go test -run TestLease ./...`" + ` → passed: [...] ok kw/store 5.2s [...]`},
		{"a check that does not say itself that it passed", session("Test it.", run("ls x", "Exit code 2\nls: x: none", true),
			run("npm run lint", "> kw@1 lint\n> eslint .\n\n> tsc --noEmit\n> tsc -p test", false)), `[1]
- ` + "`ls x`" + ` → failed: ls: x: none
- ` + "`npm run lint`" + ` → passed: [...] > tsc -p test`},
		{"an edit that was refused, with the reason", session("Mend it.", said("Now."), edit("/srv/kw/a.py",
			"Your proposed edit has introduced new syntax error(s).\nERRORS:\n- E999 SyntaxError: unmatched ')'", false)), `[1]
- Agent: Now.
- Edit a.py → refused: Your proposed edit has introduced new syntax error(s). / - E999 SyntaxError: unmatched ')'`},
		{"what an edit puts in, and what one was to put in that the person did not allow", session("Mend it.",
			called("Edit", map[string]any{"file_path": "/srv/kw/a.go", "old_string": "// x\nfunc a() {}",
				"new_string": "// lock once\nfunc lockOnce(t *Table) {}\nfunc a() {}"}, "ok", false),
			called("Edit", map[string]any{"file_path": "/srv/kw/b.go", "old_string": "x", "new_string": "type Lease struct {"},
				"The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "+
					"the user said:\nkeep it a table", true)), `[1]
- Edit a.go ` + "`func lockOnce(t *Table) {}`" + `
- Edit b.go ` + "`type Lease struct {`" + ` → the person rejected it
- Rejected by the person: [1] Edit b.go ` + "`type Lease struct {`" + `: "keep it a table"`},
		{"files of one name in two folders, and what was searched for", session("Mend it.",
			edit("/srv/kw/a/x_test.go", "ok", false), edit("/srv/kw/b/x_test.go", "ok", false),
			called("Grep", map[string]any{"pattern": `func Lock\(`, "path": "/srv/kw/store"}, "lock.go:12", false)), `[1]
- Edit a/x_test.go
- Edit b/x_test.go
- Grep "func Lock\(" in …/kw/store`},
		{"what a look-up found", session("Change it.", called("get_reservation", map[string]any{"id": "YAX4DR"},
			`{"id": "YAX4DR", "cabin": "economy", "flights": [{"cabin": "x"}], "insurance": "no", "bags": 2}`, false),
			called("search_flights", map[string]any{"from": "BOS", "to": "MSP"}, `[{"price": 128}]`, false)), `[1]
- get_reservation YAX4DR → cabin economy, insurance no, bags 2, ...; search_flights (from BOS, to MSP)
- The agent itself has changed nothing so far: it only read or searched.`},
		{"one answer that the thread has is not said twice", session("Hello.", said("Hello!")), ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(tc.msgs, note.Options{})
			for round := range 3 {
				if got := state(text); got != tc.want {
					t.Errorf("round %d:\n%s\n\nwant\n%s", round, got, tc.want)
				}
				text = render(session(summary(text)), note.Options{})
			}
		})
	}
	t.Run("what follows takes its place", func(t *testing.T) {
		later := session(summary(render(begun, note.Options{})), "And the docs.", edit("/srv/kw/a.md", "ok", false),
			edit("/srv/kw/b.md", "ok", false), edit("/srv/kw/c.md", "ok", false), run("ls docs", "a.md", false))
		const want = "[2]\n- Edit a.md\n- Edit b.md\n- Edit c.md\n- `ls docs` → a.md"
		if got := state(render(later, note.Options{})); got != want {
			t.Errorf("%s\n\nwant\n%s", got, want)
		}
	})
	t.Run("of long last words the beginning and the end", func(t *testing.T) {
		long := "The cause is the lock.\n" + strings.Repeat("It is taken late, and then again.\n", 90) + "Shall I move it?"
		got := state(render(session("Mend it.", edit("/srv/kw/a.go", "ok", false), said(long)), note.Options{}))
		if !strings.Contains(got, "- Agent: The cause is the lock.\n") || !strings.HasSuffix(got, "\n  Shall I move it?") ||
			!strings.Contains(got, "\n  [...]\n") {
			t.Errorf("%s", got)
		}
	})
	t.Run("nothing that an agent says is taken for a part of the note", func(t *testing.T) {
		text := render(session("Mend it.", edit("/srv/kw/a.go", "ok", false),
			said("Now:\n\n## Todos\n- [ ] drop the table")), note.Options{})
		if n := build(gone(session(summary(text)))).Todos(); n != "" {
			t.Errorf("%q is a todo in\n%s", n, text)
		}
	})
}

// TestStepsHaveNoGaps: where a call that changed something has no room, what was looked at before it is not told: it
// would read as if nothing had come between that and what is told.
func TestStepsHaveNoGaps(t *testing.T) {
	features.Proves(t, "N13")
	read := func(file string) []abi.Message {
		return called("Read", map[string]any{"file_path": "/srv/kw/" + file}, "package kw", false)
	}
	long := run("docker run "+strings.Repeat("--env LAMP=1 ", 12)+"kw", strings.Repeat("a lamp ", 60), false)
	msgs := session("Mend it.", read("a.go"), read("b.go"), long, read("c.go"),
		said("All of it is mended, I think. Shall I commit it?"), run("git push", "To github.com:x/kw.git", false))
	for budget := 300; budget < 1500; budget += 50 {
		got := state(render(msgs, note.Options{Budget: budget}))
		if strings.Contains(got, "a.go") && !strings.Contains(got, "docker run") {
			t.Errorf("%d tokens:\n%s", budget, got)
		}
	}
}

// TestStateSaysWhatFollows: where the agent goes on in what stays, the heading says that what is told stands before
// that, and how things stand is told of all; where nothing of that stays it is the end, and so it is in the note after.
func TestStateSaysWhatFollows(t *testing.T) {
	features.Proves(t, "N13")
	const follows = "## Where it stood before the messages below\n[1]\n- "
	const pushed = "\n## How it stands at the end of the messages below\n" +
		"- Last commit: 3f2a1bc mend it on branch main, pushed\n"
	commit := run("git commit -am x", "[main 3f2a1bc] mend it\n 1 file changed", false)
	head := session("Mend it.", edit("/srv/kw/a.go", "ok", false), commit)
	push := run("git push", "To github.com:x/kw.git", false)
	push[0].ToolCalls[0].ID, push[1].ToolCallID = "p", "p"
	msgs := session(head, run("false", "Exit code 1", true), push, said("Pushed."))
	text := write(goneUpTo(len(head), msgs), note.Options{})
	s := goneUpTo(len(head), msgs)
	s.Gone[2] = false // came before what is told
	const last = "## Where it stood before the last messages below\n" +
		"The last message that went stood after the first %s below.\n[1]\n- "
	if got := write(s, note.Options{}); !strings.Contains(got, fmt.Sprintf(last, "message")) ||
		!strings.Contains(state(render(session(summary(got)), note.Options{})), "3f2a1bc") {
		t.Errorf("%s", got)
	}
	for i := range 3 {
		s.Gone[i] = false // all that goes stood behind it, and the note stands before it
	}
	if got := write(s, note.Options{}); !strings.Contains(got, fmt.Sprintf(last, "2 messages")) {
		t.Errorf("%s", got)
	}
	if !strings.Contains(text, follows) || !strings.Contains(text, pushed) || strings.Contains(text, note.HeadState) {
		t.Errorf("%s", text)
	}
	followed := session(summary(text), "And push.")
	for why, msgs := range map[string][]abi.Message{"all goes": msgs, "a person follows": followed} {
		t.Run(why, func(t *testing.T) {
			s := gone(msgs)
			if why != "all goes" {
				s.Gone[len(msgs)-1] = false
			}
			text := write(s, note.Options{})
			if !strings.Contains(text, "## Where it stood at the end\n") || strings.Contains(text, "messages below") ||
				!strings.Contains(text, "3f2a1bc") {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestMoreOfTheLastSteps: what an agent said on the way is told in full where there is room: what it means to do next
// often stands at its end.
func TestMoreOfTheLastSteps(t *testing.T) {
	features.Proves(t, "A6", "N13")
	plan := strings.Repeat("The parser reads each pattern twice and keeps both. ", 6) + "So I start with the second one."
	msgs := session("Mend it.", said(plan), edit("/srv/kw/a.go", "ok", false), said("It is the first."),
		edit("/srv/kw/b.go", "ok", false))
	for _, tc := range []struct {
		budget int
		told   bool
	}{{4000, true}, {260, false}} {
		text := render(msgs, note.Options{Budget: tc.budget})
		if got := strings.Contains(state(text), "So I start with the second one."); got != tc.told {
			t.Errorf("budget %d: told %v, want %v:\n%s", tc.budget, got, tc.told, text)
		}
	}
}
