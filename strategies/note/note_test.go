package note_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestParts: without a model everything that can be read off the session is there, in
// the order in which somebody who goes on needs it. A part that found nothing is left
// out.
func TestParts(t *testing.T) {
	features.Proves(t, "I4")
	text, at := render(work(), note.Options{Recall: "`kagewasm recall FILE QUERY`"}), 0
	for _, part := range []string{
		"All of it can be read and searched: `kagewasm recall FILE QUERY`",
		"## Thread\n",
		"> Make the lease table safe.\n>\n> - [ ] no parcel is handed out twice\n> - [x] a test shows it\n>\n" +
			"> You must not change the wire format. Thanks\n",
		"## Todos\n- [x] write the test\n- [-] add the lock\n- [ ] run everything\n",
		"Failed, newest last:\n```\n$ go test ./internal/store/... -run TestLease\nExit code 1\n" +
			"--- FAIL: TestLease (0.41s)\n    lease_test.go:40: got 2, want 1\n```\n",
		"Errors, newest last:\n```\nEdit /srv/kw/internal/store/lease.go\n" +
			"<tool_use_error>String to replace not found in file.</tool_use_error>\n```\n",
		"Modified in what went:\n- internal/: store/",
		"Read in what went:\n- docs/leases.md\n",
		"## Exact names\n",
	} {
		t.Run(fmt.Sprintf("%.40q", part), func(t *testing.T) {
			i := strings.Index(text[at:], part)
			if i < 0 {
				t.Fatalf("no %q behind byte %d:\n%s", part, at, text)
			}
			at += i
		})
	}
	for _, absent := range []string{"(none)", "shortened above", "earlier compaction"} {
		t.Run("no "+absent, func(t *testing.T) {
			if strings.Contains(text, absent) {
				t.Errorf("%q is in\n%s", absent, text)
			}
		})
	}
	t.Run("a session in which nothing was done has its words alone", func(t *testing.T) {
		if text := render([]abi.Message{user("Hello there.")}, note.Options{}); strings.Count(text, "\n\n") != 1 ||
			!strings.HasSuffix(text, "[1]\n> Hello there.") {
			t.Errorf("%s", text)
		}
	})
	t.Run("of nothing there is no note", func(t *testing.T) {
		if text := render(nil, note.Options{Recall: "x"}); text != "" {
			t.Errorf("%q", text)
		}
	})
}

// TestClasses: what is kept as a reference, and what goes.
func TestClasses(t *testing.T) {
	features.Proves(t, "I8")
	text := render(work(), note.Options{})
	for _, tc := range []struct{ why, part string }{
		{"an edit is the lines it changed", "lease.go (edited, lines 12-13)"},
		{"a new file is named", "lock.go (created)"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if !strings.Contains(text, tc.part) {
				t.Errorf("no %q in\n%s", tc.part, text)
			}
		})
	}
	t.Run("contents are dropped", func(t *testing.T) {
		if strings.Contains(text, "package store") {
			t.Errorf("%s", text)
		}
	})
}

// TestPassedLater: a command that failed is resolved where the same one passed later,
// and nothing else resolves it.
func TestPassedLater(t *testing.T) {
	features.Proves(t, "I4")
	const failed, passed = "Exit code 1\n--- FAIL: TestLease (0.41s)", "ok  \tkw/internal/store\t0.3s"
	const command = "go test ./internal/store -run TestLease"
	for _, tc := range []struct {
		why, later, output string
		bad, want          bool
	}{
		{"the same command", command, passed, false, true},
		{"the same in its folder, with a setting and a time limit", "cd /srv/kw && CGO_ENABLED=0 timeout 60 " + command,
			passed, false, true},
		{"the same with its output cut, which says that it passed", command + " 2>&1 | tail -5", passed, false, true},
		{"the same behind a pipe, of which nothing is known", command + " 2>&1 | head -1", "compiling", false, false},
		{"the same behind another", "make lint && " + command, passed, false, true},
		{"another test", "go test ./internal/store -run TestOther", passed, false, false},
		{"all of the package", "go test ./internal/store", passed, false, false},
		{"another program", "gofmt -l .", "", false, false},
		{"the same, which fails again", command, "Exit code 1\n--- FAIL: TestOther (0.1s)", true, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session("Mend it.", run(command, failed, true), run(tc.later, tc.output, tc.bad)), note.Options{})
			if got := strings.Contains(text, "```\nPassed later."); got != tc.want {
				t.Errorf("told as passed later %v, want %v:\n%s", got, tc.want, text)
			}
		})
	}
	t.Run("a check that holds it did", func(t *testing.T) {
		text := render(session("Mend it.", run(command, failed, true), run("go test ./...", passed, false)), note.Options{})
		for range 2 {
			if !strings.Contains(text, "```\nA check that holds it passed later.") {
				t.Errorf("%s", text)
			}
			text = render(session(summary(text)), note.Options{})
		}
	})
	t.Run("the same in another folder did not", func(t *testing.T) {
		text := render(session("Mend it.", run("cd web && npm ci", "Exit code 1\nnpm ERR! 404", true),
			run("cd api && npm ci", "", false)), note.Options{})
		if strings.Contains(text, "Passed later") {
			t.Errorf("%s", text)
		}
	})
	t.Run("a script that does more is not settled by its checks", func(t *testing.T) {
		text := render(session("Mend it.", run("go vet ./... && ./bin/parcel", "Exit code 1\naddress in use", true),
			run("go vet ./...", "", false)), note.Options{})
		if strings.Contains(text, "passed later") || strings.Contains(text, "Passed later") {
			t.Errorf("%s", text)
		}
	})
	t.Run("in a later compaction", func(t *testing.T) {
		text := render(session("Mend it.", run(command, failed, true)), note.Options{})
		if strings.Contains(text, "Passed later.") {
			t.Fatalf("it did not:\n%s", text)
		}
		// The code 1 of another command shows that this harness tells of those that fail.
		more := session(summary(text), run("false", "Exit code 1", true), run(command, passed, false), said("Done."))
		text = render(more, note.Options{})
		for round := range 2 {
			if !strings.Contains(text, "```\nPassed later.") {
				t.Errorf("round %d:\n%s", round, text)
			}
			text = render(session(summary(text)), note.Options{})
		}
	})
}

// TestPatches: of a patch the files and the lines stay.
func TestPatches(t *testing.T) {
	features.Proves(t, "I8")
	for _, tc := range []struct{ why, patch, want string }{
		{"a patch of files",
			"*** Begin Patch\n*** Update File: internal/a.go\n@@\n-x\n+y\n*** Add File: internal/b.go\n+z\n" +
				"*** Delete File: internal/c.go\n*** End Patch",
			"internal/a.go internal/b.go (created) internal/c.go (deleted)"},
		{"a unified diff", "--- a/internal/a.go\n+++ b/internal/a.go\n@@ -10,2 +12,3 @@ func f() {\n-x\n+y\n",
			"a.go (edited, line 12)"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(called("apply_patch", map[string]any{"input": tc.patch}, "Done", false), note.Options{})
			_, files, _ := strings.Cut(text, "Modified in what went:")
			got, _, _ := strings.Cut(files, "\n\n")
			for _, file := range strings.SplitAfter(tc.want, ") ") {
				if !strings.Contains(got, strings.TrimSpace(file)) {
					t.Errorf("no %q in %q", file, got)
				}
			}
		})
	}
}

// TestFiles: what was read and what was modified, as data and as a footer
// below a summary, cumulative over compactions.
func TestFiles(t *testing.T) {
	features.Proves(t, "T7")
	want := abi.Files{Read: []string{"/srv/kw/docs/leases.md"},
		Modified: []string{"/srv/kw/internal/store/lease.go", "/srv/kw/internal/store/lock.go"}}
	if got := build(gone(work())).Files(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	want.Read = append(want.Read, "/srv/kw/go.mod")
	for what, o := range map[string]note.Options{"facts alone": {},
		"a model's summary": {Summary: "A model wrote this."}} {
		t.Run(what, func(t *testing.T) {
			later := session(summary(render(work(), o)), called("Read", map[string]any{"file_path": "/srv/kw/go.mod"},
				"module kw", false))
			if got := build(gone(later)).Files(); !reflect.DeepEqual(got, want) {
				t.Errorf("after a compaction %+v, want %+v", got, want)
			}
		})
	}
}

// TestRefusedIsNotModified: a file of which every change was refused is not said to be
// modified, in words or in data.
func TestRefusedIsNotModified(t *testing.T) {
	features.Proves(t, "T7", "N13")
	for why, result := range map[string]string{
		"rejected":  "The user doesn't want to proceed with this tool use. The tool use was rejected.",
		"not found": "<tool_use_error>String to replace not found in file.</tool_use_error>",
	} {
		t.Run(why, func(t *testing.T) {
			msgs := session("Mend it.", edit("/srv/kw/resume.go", result, true), edit("/srv/kw/other.go", "ok", false),
				said("Done."))
			for round := range 2 {
				n := build(gone(msgs))
				text := n.Render(note.Options{Budget: 3000, Count: byRune})
				_, files, _ := strings.Cut(text, "Modified in what went:")
				files, _, _ = strings.Cut(files, "\n\n")
				modified := n.Files().Modified
				if strings.Contains(files, "resume.go") || !strings.Contains(files, "other.go") ||
					!reflect.DeepEqual(modified, []string{"/srv/kw/other.go"}) {
					t.Errorf("round %d: %v are modified:\n%s", round, modified, text)
				}
				msgs = session(summary(text))
			}
		})
	}
}

// TestKeptBelowASummary: what a model wrote stands first and unchanged, and
// what models lose is added to it.
func TestKeptBelowASummary(t *testing.T) {
	features.Proves(t, "A6")
	const model = "## Goal\nMend the lease table.\n\n## Next Steps\n(none)"
	text := render(work(), note.Options{Summary: model})
	if !strings.HasPrefix(text, model+"\n\n") {
		t.Fatalf("the summary is not first:\n%s", text)
	}
	for _, part := range []string{
		"> You must not change the wire format. Thanks", "> - [ ] no parcel is handed out twice", "- [-] add the lock",
		"$ go test ./internal/store/... -run TestLease\nExit code 1", "<tool_use_error>String to replace not found",
		"Modified in what went:\n- internal/: store/", "Read in what went:\n- docs/leases.md",
		"acquireLocked",
	} {
		t.Run(fmt.Sprintf("%.40q", part), func(t *testing.T) {
			if n := strings.Count(text, part); n != 1 {
				t.Errorf("%q stands there %d times:\n%s", part, n, text)
			}
		})
	}
	if got := render(nil, note.Options{Summary: model}); got != model {
		t.Errorf("nothing to add adds %q", got)
	}
}

// TestSummaryIsBeside: a summary does not count against the budget, and what is said
// to have been added is what was.
func TestSummaryIsBeside(t *testing.T) {
	features.Proves(t, "A6")
	n, long := build(gone(work())), strings.Repeat("A model wrote this. ", 500)
	o := note.Options{Budget: 700, Count: byRune}
	alone, _ := n.Write(o)
	o.Summary = long
	text, cost := n.Write(o)
	added := strings.TrimPrefix(text, strings.TrimSpace(long))
	if cost != byRune(added) || cost > 701 || cost < byRune(alone)/2 {
		t.Errorf("%d tokens are said to be added, %d are, and %d alone", cost, byRune(added), byRune(alone))
	}
}

// TestTodos: the list in its last state, whoever's tool keeps it.
func TestTodos(t *testing.T) {
	features.Proves(t, "A6")
	list := []any{map[string]any{"step": "one", "status": "completed"},
		map[string]any{"step": "two", "status": "in_progress"}}
	items := []any{map[string]any{"title": "one", "done": true}}
	create := func(what, result string) []abi.Message {
		return called("TaskCreate", map[string]any{"subject": what}, result, false)
	}
	broken := abi.Message{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{Name: "TodoWrite", Arguments: `{"todos":`}}}
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"the last call counts", session(todoWrite("old", "pending"), todoWrite("one", "completed", "two", "in_progress")),
			"- [x] one\n- [-] two"},
		{"a plan", called("update_plan", map[string]any{"explanation": "x", "plan": list}, "", false),
			"- [x] one\n- [-] two"},
		{"words", called("write_todos", map[string]any{"todos": []any{"one", "two"}}, "", false), "- [ ] one\n- [ ] two"},
		{"a checklist in markdown", called("todo_write", map[string]any{"todos": "- [x] one\n- [ ] two\n"}, "", false),
			"- [x] one\n- [ ] two"},
		{"true for done", called("set_todos", map[string]any{"items": items}, "", false), "- [x] one"},
		{"one by one, by number", session(create("one", "Task #7 created"), create("two", "Task #8 created"),
			called("TaskUpdate", map[string]any{"taskId": "7", "status": "completed"}, "", false)),
			"- [x] #7 one\n- [ ] #8 two"},
		{"cleared", session(todoWrite("one", "pending"), todoWrite()), ""},
		{"arguments that are none change nothing", session(todoWrite("one", "pending"), broken), "- [ ] one"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := tc.msgs
			for round := range 3 {
				text := render(session(msgs, "see foo_bar"), note.Options{})
				_, got, _ := strings.Cut(text, "## Todos\n")
				if got, _, _ = strings.Cut(got, "\n\n"); got != tc.want {
					t.Errorf("round %d: %q, want %q", round, got, tc.want)
				}
				msgs = session(summary(text))
			}
		})
	}
}

// TestTodoList: the list as text is that of the note.
func TestTodoList(t *testing.T) {
	features.Proves(t, "A6")
	const want = "- [x] write the test\n- [-] add the lock\n- [ ] run everything"
	if got := build(gone(work())).Todos(); got != want || !strings.Contains(render(work(), note.Options{}),
		"\n"+want+"\n") {
		t.Errorf("%q, want %q, and in the note", got, want)
	}
	if got := build(gone(session("hello"))).Todos(); got != "" {
		t.Errorf("of no list: %q", got)
	}
}

// TestChains: with room for it, no compaction loses what the one
// before it kept, whatever was written above it and whatever comes between.
func TestChains(t *testing.T) {
	features.Proves(t, "complaint 8")
	keeps := []string{"> Make the lease table safe.\n", "> - [ ] no parcel is handed out twice\n",
		"> You must not change the wire format. Thanks\n", "- [-] add the lock", "lock.go (created)",
		"lease.go (edited, lines 12-13)", "leases.md", "--- FAIL: TestLease (0.41s)", "String to replace not found",
		"- Changed: lock.go (written), lease.go (edited)\n", "- Agent: The lock works. Next I will run",
		"acquireLocked", "PAR-2291"}
	text := render(work(), note.Options{})
	for round := range 6 {
		for _, part := range keeps {
			t.Run(fmt.Sprintf("round %d: %s", round, part), func(t *testing.T) {
				if !strings.Contains(text, part) {
					t.Errorf("lost:\n%s", text)
				}
			})
		}
		o := note.Options{Budget: 4000}
		if round%2 == 0 {
			o.Summary = fmt.Sprintf("What a model wrote in round %d.", round)
		}
		text = render(session(summary(text), run(fmt.Sprintf("make step_%d", round), "ok", false),
			said(fmt.Sprintf("Now step %d.", round))), o)
	}
	if strings.Count(text, "make step_") == 0 {
		t.Errorf("the steps of later rounds are lost:\n%s", text)
	}
}

// TestForeign: a summary of another program is quoted, and its names
// are kept; so is one that a model wrote in an earlier round.
func TestForeign(t *testing.T) {
	features.Proves(t, "complaint 8")
	foreign := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary,
		Content: abi.Text("# Summary\nThe user wants maxRetries in src/app/main.go.\n\n## Pending\n- raise it to 5")}
	for whose, m := range map[string]abi.Message{
		"another program":  foreign,
		"an earlier round": summary(render(work(), note.Options{Summary: foreign.Content.Text()})),
	} {
		t.Run(whose, func(t *testing.T) {
			text := render([]abi.Message{m}, note.Options{Budget: 5000})
			for round := range 3 {
				for _, line := range []string{"> Summary\n", "> The user wants maxRetries in src/app/main.go.\n", "> Pending\n",
					"> - raise it to 5"} {
					t.Run(fmt.Sprintf("round %d: %q", round, line), func(t *testing.T) {
						if strings.Count(text+"\n", line) != 1 {
							t.Errorf("%q stands there %d times:\n%s", line, strings.Count(text+"\n", line), text)
						}
					})
				}
				text = render([]abi.Message{summary(text)}, note.Options{Budget: 5000})
			}
		})
	}
}

// TestForeignOrder: of a summary that somebody else wrote what was open stands first, and the note says so; one without
// such a part keeps its order.
func TestForeignOrder(t *testing.T) {
	const first = "What it says was open then is put first."
	foreign := func(text string) abi.Message {
		return abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(text)}
	}
	text := render(session(foreign("1. Intent:\nMend the leases.\n2. Pending Tasks:\nThe docs.\n"), "Go on."),
		note.Options{})
	for round := range 3 {
		if open, intent := strings.Index(text, "> The docs."), strings.Index(text, "> Mend the leases."); open < 0 ||
			open > intent ||
			!strings.Contains(text, first+"\n> ") {
			t.Errorf("round %d:\n%s", round, text)
		}
		text = render(session(summary(text), "Go on."), note.Options{})
	}
	t.Run("no such part", func(t *testing.T) {
		text := render(session(foreign("1. Intent:\nMend the leases.\n2. Files:\na.go\n"), "Go on."), note.Options{})
		if strings.Contains(text, first) || !strings.Contains(text, "> Mend the leases.") {
			t.Errorf("%s", text)
		}
	})
}

// TestForeignCode: code that a summary quotes is no failure.
func TestForeignCode(t *testing.T) {
	features.Proves(t, "complaint 8")
	foreign := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary,
		Content: abi.Text("Added:\n```\nfunc f_g() {}\n```\n")}
	text := render([]abi.Message{foreign}, note.Options{})
	if !strings.Contains(text, "f_g") || strings.Contains(text, "Failed, newest") ||
		strings.Contains(text, "Errors, newest") {
		t.Errorf("%s", text)
	}
}

// TestBounded: whatever the session and however long the chain, a
// note is never over its budget, and the same comes out again.
func TestBounded(t *testing.T) {
	features.Proves(t, "complaint 18")
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(0, 6000).Draw(t, "budget")
		o := note.Options{Budget: budget, Count: byRune, Recall: "`kagewasm recall FILE QUERY`"}
		var chain []abi.Message
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			chain = append(chain, sessiongen.Messages(30).Draw(t, "session")...)
			if rapid.Bool().Draw(t, "work") {
				chain = append(chain, work()...)
			}
			s := goneUpTo(rapid.IntRange(0, len(chain)).Draw(t, "gone"), chain)
			text := build(s).Render(o)
			if n := byRune(text); n > budget {
				t.Fatalf("%d tokens of %d:\n%s", n, budget, text)
			}
			if !utf8.ValidString(text) {
				t.Fatalf("invalid utf-8: %q", text)
			}
			if again := build(s).Render(o); again != text {
				t.Fatalf("not the same again:\n%s\n\n%s", text, again)
			}
			chain = nil
			if text != "" {
				chain = []abi.Message{summary(text)}
			}
		}
	})
}

// TestBesideWhatStays: names that stay in view make room for others.
func TestBesideWhatStays(t *testing.T) {
	features.Proves(t, "N8")
	msgs := session(called("Grep", map[string]any{"pattern": "x"}, "first_name and second_name, also 8443", false),
		said("second_name"))
	text := write(goneUpTo(2, msgs), note.Options{Budget: 1000})
	if !strings.Contains(text, "first_name") || strings.Contains(text, "second_name") {
		t.Errorf("%s", text)
	}
}

// TestPrunedFails: what failed in results that were pruned is told, though their calls
// stay.
func TestPrunedFails(t *testing.T) {
	features.Proves(t, "I4")
	s := goneUpTo(1, session(said("see foo_bar"), run("make lint", "(pruned)", false)))
	s.Pruned = run("make lint", "lint.go:4: error: no comment", true)
	if text := write(s, note.Options{}); !strings.Contains(text, "$ make lint\nlint.go:4: error: no comment\n") {
		t.Errorf("%s", text)
	}
}

// TestPrunedReads: a file whose reading stays below, with its result pruned, was not read in what went.
func TestPrunedReads(t *testing.T) {
	features.Proves(t, "N13")
	read := func(file, result string) []abi.Message {
		return called("Read", map[string]any{"file_path": file}, result, false)
	}
	s := goneUpTo(3, session(read("/srv/kw/setup.py", "import os"), read("/srv/kw/fields.py", "(pruned)")))
	s.Gone[2] = false
	s.Pruned = read("/srv/kw/fields.py", "class Field: pass")
	text := write(s, note.Options{})
	if !strings.Contains(text, "setup.py") || strings.Contains(text, "fields.py") {
		t.Errorf("%s", text)
	}
}

// TestStops: a note of a session that is no longer wanted is not read to its end.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if told, all := note.Build(ctx, gone(work())).Words(""); told+all != 0 {
		t.Errorf("%d characters of words were read", all)
	}
}

// TestMemory: notes that share what was found in the texts say what they would say without.
func TestMemory(t *testing.T) {
	msgs, memory := work(), new(note.Memory)
	for n := range len(msgs) {
		s := goneUpTo(n, msgs)
		want := write(s, note.Options{})
		s.Memory = memory
		if got := write(s, note.Options{}); got != want {
			t.Errorf("with %d messages gone\n%s\nwant\n%s", n, got, want)
		}
	}
}

// FuzzSummary: a summary met in a log may hold anything, a forged note too.
func FuzzSummary(f *testing.F) {
	for _, text := range []string{render(work(), note.Options{}), render(work(), note.Options{Summary: "x"}), "", "```",
		"```\n```\n```", "## Todos\n- [", "Modified in what went:\n- /: a (edited ×-1, lines 5-) (",
		"Read in what went:\n- ./: ../: ~/: x\nPaths are relative to /",
		"## Thread\n[1-9] 99999999999999999999" + note.FoldedMark,
		"## Thread\n[-1]\n> x\n[9999999999999999999]\n>\n- \n- Agent: ", "## Thread\n[5-2] -7" + note.FoldedMark,
		"## From the summary of an earlier compaction\n> > > x", "## Exact names\n## Thread\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		foreign := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(text)}
		for _, m := range []abi.Message{foreign, summary(text), summary(note.Intro + "\n\n" + text)} {
			out := render(session(m, work()), note.Options{Budget: 2500})
			if n := byRune(out); n > 2500 || !utf8.ValidString(out) || !strings.Contains(out, "acquireLocked") {
				t.Fatalf("%d tokens:\n%s", n, out)
			}
		}
	})
}

// TestLinear: ten times as much takes about ten times as long, whatever it is made of.
func TestLinear(t *testing.T) {
	features.Proves(t, "complaint 18")
	for _, tc := range []struct {
		why  string
		msgs func(n int) []abi.Message
	}{
		{"one message of logs", func(n int) []abi.Message {
			return session(strings.Repeat("2026-01-23T14:05 error: x\n", n))
		}},
		{"one message of rules", func(n int) []abi.Message { return session(strings.Repeat("- never do it\n", n)) }},
		{"one message of fences", func(n int) []abi.Message { return session(strings.Repeat("```\nx\n", n)) }},
		{"one message of elements that do not end", func(n int) []abi.Message {
			return session("Begin.\n" + strings.Repeat("<system-reminder>\n", n))
		}},
		{"one message of many such elements", func(n int) []abi.Message {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "<bash-%d>\n", i)
			}
			return session("Begin.\n" + b.String())
		}},
		{"one word", func(n int) []abi.Message { return session(strings.Repeat("x", 10*n)) }},
		{"a skill of lists", func(n int) []abi.Message {
			return session("Look.", skillOf("claude", strings.Repeat("- a\n  - b\n", 5*n)), said("Read."))
		}},
		{"an answer of what is missing", func(n int) []abi.Message {
			return session("Look.", said(strings.Repeat("- missing x\n", 5*n)), "And the boats, please.")
		}},
		{"many files that go behind a summary of many lines", func(n int) []abi.Message {
			msgs := session(summary("## Kept\n" + strings.Repeat("- Keep the old code\n", n/4)))
			for i := range n / 40 {
				msgs = append(msgs, run(fmt.Sprintf("rm f%d.go", i), "", false)...)
			}
			return msgs
		}},
		{"many messages", func(n int) (msgs []abi.Message) {
			for i := range n / 10 {
				msgs = append(msgs, user(fmt.Sprintf("Never do the thing %d again, it is not what was asked.", i)), said("ok"))
			}
			return msgs
		}},
		{"a note of many turns", func(n int) []abi.Message {
			var b strings.Builder
			b.WriteString(note.Intro + "\n\n" + note.HeadThread + "\n")
			for i := range n / 10 {
				fmt.Fprintf(&b, "[%d]\n> Never do the thing %d again.\n- Changed: x%d.go (edited)\n", i+1, i, i)
			}
			return session(summary(b.String()))
		}},
		{"a note of one long turn", func(n int) []abi.Message {
			return session(summary(note.Intro + "\n\n" + note.HeadThread + "\n[1]\n" + strings.Repeat("> x y\n", 3*n)))
		}},
		{"many calls", func(n int) (msgs []abi.Message) {
			for i := range n / 20 {
				msgs = append(msgs, run(fmt.Sprintf("make step_%d", i), "Exit code 1\nerror: x", true)...)
			}
			return msgs
		}},
		{"many changes", func(n int) (msgs []abi.Message) {
			for i := range n / 20 {
				msgs = append(msgs, edit(fmt.Sprintf("/srv/kw/f%d.go", i), "ok", false)...)
			}
			return msgs
		}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			cost.Linear(t, 1_000, func(n int) func() {
				msgs := tc.msgs(n)
				return func() { render(msgs, note.Options{Budget: 2000}) }
			})
		})
	}
}

// BenchmarkNote reads and writes a long session.
func BenchmarkNote(b *testing.B) {
	msgs := sessiongen.Long(5000, 300)
	n := 0
	for i := range msgs {
		n += len(msgs[i].Text())
	}
	b.SetBytes(int64(n))
	for b.Loop() {
		build(gone(msgs)).Render(note.Options{Budget: 8000, Count: byRune})
	}
}
