package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestStanding: how things stand at the end is told after any number of compactions: what was committed, on which
// branch and whether it was pushed, what was changed and staged since, which checks fail, what the person rejected.
func TestStanding(t *testing.T) {
	features.Proves(t, "I4", "N13")
	const (
		rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected."
		failing  = "Exit code 1\n--- FAIL: TestLease (0.41s)\n    lease_test.go:40: got 2, want 1\nFAIL"
	)
	a, b := edit("/srv/kw/a.go", "ok", false), edit("/srv/kw/b.go", "ok", false)
	commit := run("git commit -am x", "[fix/lease 3f2a1bc] mend it\n 1 file changed", false)
	fails := run("go test ./store -run TestLease", failing, true)
	marks := run("false", "Exit code 1", true)
	const failed = "- Failed when it last ran: `go test ./store -run TestLease` in [1]: lease_test.go:40: got 2, want 1"
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want []string
		not  []string
	}{
		{"a commit and what was changed since", session(a, commit, b),
			[]string{"- Last commit: 3f2a1bc mend it on branch fix/lease, not pushed", "- Changed since: b.go"},
			nil},
		{"a commit that was pushed", session(a, commit, marks, run("git push", "", false)),
			[]string{"- Last commit: 3f2a1bc mend it on branch fix/lease, pushed"}, []string{"Changed since"}},
		{"a push that failed", session(a, commit, run("git push", "Exit code 1\nerror: denied", true)),
			[]string{"fix/lease, not pushed"}, nil},
		{"a push of which it is not known how it ended", session(a, commit, run("git push | tail -1", "", false)),
			[]string{"on branch fix/lease\n"}, []string{"pushed"}},
		{"what is staged", session(a, marks, run("git add a.go docs/b.md", "", false)),
			[]string{"- Staged since: a.go, b.md", "- The agent committed nothing in these messages."}, nil},
		{"what was staged is committed", session(a, marks, run("git add a.go", "", false), commit), nil,
			[]string{"Staged since"}},
		{"what may be staged no more", session(a, marks, run("git add a.go", "", false), run("git reset", "", false)),
			nil,
			[]string{"Staged since"}},
		{"the branch, by what git says", session(a, run("git status", "On branch main\nnothing to commit", false)),
			[]string{"- Branch: main", "- The agent committed nothing in these messages."}, nil},
		{"a merge behind the commit", session(a, commit, run("git merge main", "Merge made by the 'ort' strategy.",
			false)), nil,
			[]string{"Last commit"}},
		{"a commit in a repository that the same command made", session(a, commit,
			run("mkdir t && cd t && git init && git add . && git commit -m initial", "[main 4a4a4a4] initial", false)),
			[]string{"- Last commit: 3f2a1bc mend it on branch fix/lease"}, []string{"Last commit: 4a4a4a4", "on branch main"}},
		{"a later commit there", session(a, commit, run("mkdir t && cd t && git init", "", false),
			run("cd t && git commit -m more", "[main 4a4a4a4] more", false)),
			[]string{"- Last commit: 3f2a1bc mend it on branch fix/lease"},
			[]string{"Last commit: 4a4a4a4"}},
		{"one in the project that the agent made", session(run("mkdir /srv/lamp && cd /srv/lamp && git init", "", false),
			edit("/srv/lamp/a.go", "ok", false), run("cd /srv/lamp && git commit -am light", "[main 4a4a4a4] light", false), b),
			[]string{"- Last commit: 4a4a4a4 light in /srv/lamp on branch main, not pushed",
				"- Changed since: b.go"}, nil},
		{"another branch behind the commit", session(a, commit, run("git checkout main", "Switched to branch 'main'",
			false)),
			[]string{"- Last commit: 3f2a1bc mend it on branch fix/lease, not pushed\n- Branch: main"}, nil},
		{"a check that ran again without a result", session(fails, said("x"), "Again.", a, b, a,
			abi.Message{Role: abi.RoleAssistant,
				ToolCalls: []abi.ToolCall{{ID: "z", Name: "Bash",
					Arguments: `{"command":"go test ./store -run TestLease"}`}}}), nil,
			[]string{failed}},
		{"a check that ran again, of which it is not known how it ended", session(fails, said("x"), "Again.", a,
			run("go test ./store -run TestLease 2>&1 | tail -2", "it took 2 s", false)), nil, []string{failed}},
		{"a commit of which git says nothing", session(a, run("git commit -qam x", "", false)), nil,
			[]string{"committed nothing"}},
		{"no word of commits where git was not used", session(a), nil, []string{"ommit"}},
		{"nothing but reading", session(called("Read", map[string]any{"file_path": "/srv/kw/a.go"}, "package a", false),
			run("cat b.go | head -3", "package b", false)),
			[]string{"- The agent itself has changed nothing so far: it only read or searched.\n"}, nil},
		{"reading, and work that others were to do", session(run("ls", "a.go", false),
			called("Task", map[string]any{"description": "Find it", "prompt": "Find it."}, "It is in a.go.", false)),
			[]string{"it only read or searched, and handed work to other agents.\n"}, nil},
		{"a command of which it is not known what it does", session(run("ls", "a.go", false), run("kwctl up", "", false)),
			nil, []string{"has changed nothing"}},
		{"an edit of which there is no result", session(run("ls", "a.go", false), edit("/srv/kw/a.go", "ok", false)[:1]),
			nil, []string{"has changed nothing"}},
		{"behind a summary of another program", session(abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary,
			Content: abi.Text("The agent edited a.go.")}, "Look at it.", run("cat b.go", "package b", false)), nil,
			[]string{"has changed nothing"}},
		{"no call at all", session(said("Hello.")), nil, []string{"has changed nothing"}},
		{"a repository in which git was not used", session(a, run("ls", "/srv/kw/.git/config", false), b),
			[]string{"- No commit was seen in these messages, and no command of git."}, []string{"committed nothing"}},
		{"one in which nothing was changed", session(run("ls", "/srv/kw/.git/config", false)), nil, []string{"ommit"}},
		{"one made to try something in", session(a, run("ls", ".git/config", false),
			run("cd /tmp && mkdir t && cd t && git init && git commit -m x --allow-empty", "[main 4a4a4a4] x", false)), nil,
			[]string{"ommit was seen"}},
		{"a tool that commits", session(a, run("ls", ".git/config", false),
			called("create_commit", map[string]any{"title": "x"}, "ok", false)), nil, []string{"ommit was seen"}},
		{"no repository", session(a, run("cat deps", "https://host.test/kw.git/info", false)), nil, []string{"ommit"}},
		{"a commit behind that", session(a, run("ls", ".git/config", false), commit),
			[]string{"- Last commit: 3f2a1bc mend it"}, []string{"No commit"}},
		{"a check that fails", session(fails, said("Go on."), "Leave it, and look at the docs.", a, b, a, b),
			[]string{failed}, nil},
		{"one that passed later", session(fails, run("go test ./store -run TestLease", "ok", false), a, b, a, b), nil,
			[]string{failed}},
		{"one that is a part of what passed later", session(fails, run("go test ./...", "ok", false), a, b, a, b), nil,
			[]string{failed}},
		{"one that passed later with another", session(fails,
			run("make lint && go test ./store -run TestLease", "ok  \tkw/store\t0.3s", false), a, b, a, b), nil,
			[]string{failed}},
		{"several that passed one by one", session(run("make lint && go test ./store", failing, true),
			run("make lint", "", false), a, run("go test ./store", "ok  \tkw/store\t0.3s", false), a, b, a, b), nil,
			[]string{"Failed when"}},
		{"one of several is not all", session(run("make lint && go test ./store", failing, true), said("x"), "Go on.",
			run("make lint", "", false), a, b, a, b),
			[]string{"- Failed when it last ran: `make lint && go test ./store` in [1]"}, nil},
		{"one that failed with changes put away", session(marks,
			run("git stash push -q a.go && go test ./store -run TestLease; git stash pop", failing, false),
			said("x"), "Go on.", a, b, a, b), nil, []string{"Failed when"}},
		{"one behind which something else failed", session(marks,
			run("go test ./store && ./bin/parcel", "Exit code 1\nok  \tkw/store\t0.3s\naddress already in use", true),
			said("x"), "Go on.", a, b, a, b), nil, []string{"Failed when"}},
		{"one that looked for less settles nothing", session(run("go test -race ./store", failing, true), said("x"), "Go on.",
			run("go test ./store", "ok  \tkw/store\t0.3s", false), a, b, a, b),
			[]string{"- Failed when it last ran: `go test -race ./store` in [1]"}, nil},
		{"one that failed before later changes", session(fails, said("x"), "Leave it.", a, b, a, b),
			[]string{failed + " (4 later calls changed files)"}, nil},
		{"another that passed later settles nothing", session(fails, said("x"), "Then the docs.",
			run("go test ./docs -run TestY", "ok", false),
			a, b, a), []string{failed}, nil},
		{"what the person rejected, with the words", session(run("git add -A", rejected, true),
			run("git push", rejected+" To tell you how to proceed, the user said:\nPush to staging.", true)),
			[]string{"- Rejected by the person: [1] `git add -A`; [1] `git push`: \"Push to staging.\""}, nil},
		{"a rejected change of a file that was changed later", session(edit("/srv/kw/a.go", rejected, true), a, b),
			[]string{"- Rejected by the person: [1] Edit a.go (that file was changed by a later call)\n"}, nil},
		{"a rejected change, and another file of that name", session(edit("/srv/kw/store/a.go", rejected, true), a, b),
			[]string{"- Rejected by the person: [1] Edit a.go\n"}, nil},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session("Mend the leases.", tc.msgs, said("So far.")), note.Options{})
			for round := range 3 {
				for _, want := range tc.want {
					if !strings.Contains(state(text)+"\n", want) {
						t.Errorf("round %d: no %q in\n%s", round, want, text)
					}
				}
				for _, not := range tc.not {
					if strings.Contains(state(text), not) {
						t.Errorf("round %d: %q in\n%s", round, not, text)
					}
				}
				text = render(session(summary(text)), note.Options{})
			}
		})
	}
}

// TestTakenBack: a booking that was cancelled later says so, and one that holds does not.
func TestTakenBack(t *testing.T) {
	features.Proves(t, "A6", "N13")
	book := func(card, id string) []abi.Message {
		return called("book", map[string]any{"card": card}, `{"reservation_id": "`+id+`"}`, false)
	}
	text := render(session("Book it.", book("c1", "HATHAT"), said("Booked."), "With the other card.", book("c2",
		"HATHAU"),
		called("cancel_reservation", map[string]any{"reservation_id": "HATHAU"}, `{"status": "cancelled"}`, false),
		said("Done.")),
		note.Options{})
	for round := range 3 {
		got := thread(text)
		if !strings.Contains(got, "→ reservation_id HATHAU (taken back in [2])") || !strings.Contains(got,
			"→ reservation_id HATHAT\n") {
			t.Errorf("round %d:\n%s", round, got)
		}
		const holds = "- Not taken back by a later call: [1] book → reservation_id HATHAT\n"
		if got := state(text) + "\n"; strings.Count(got, holds) != 1 {
			t.Errorf("round %d: what holds is not told:\n%s", round, got)
		}
		text = render(session(summary(text)), note.Options{})
	}
}

// TestWorkedOn: of the newest message, which stays, it is said that it was worked on where nothing of that stays.
func TestWorkedOn(t *testing.T) {
	features.Proves(t, "N13")
	const worked = "The agent has worked on it: what came of it is told here alone."
	msgs := session("Mend it.", said("Mended. Shall I commit?"), "commit",
		run("git commit -am x", "[main 3f2a1bc] mend it", false), said("Committed."))
	s := goneUpTo(len(msgs), msgs)
	s.Gone[2] = false
	if got := thread(write(s, note.Options{})); !strings.Contains(got, "below: \"commit\"\n") || !strings.Contains(got,
		worked) {
		t.Errorf("%s", got)
	}
	t.Run("not where some of it stays", func(t *testing.T) {
		s.Gone[5] = false
		if got := thread(write(s, note.Options{})); strings.Contains(got, worked) {
			t.Errorf("%s", got)
		}
	})
}

// TestWorkedOnIsTold: where the note says that what came of the newest message is told in it alone, it is, or the note
// says where else, or that there is no room.
func TestWorkedOnIsTold(t *testing.T) {
	features.Proves(t, "N13")
	const worked = "The agent has worked on it: what came of it is told "
	msgs := session("Mend it. "+strings.Repeat("And say why it broke. ", 30), said("Mended."), "Why do they come late?",
		run("grep -rn lease .", "a.go:1: lease", false), said("The lock is taken late, and the lease is read before it."))
	s := goneUpTo(len(msgs), msgs)
	s.Gone[2] = false
	seen := make(map[string]bool)
	for budget := 60; budget < 1500; budget += 10 {
		text := write(s, note.Options{Budget: budget})
		_, below, ok := strings.Cut(thread(text), "below: \"Why do they come late?\"\n")
		below = strings.TrimPrefix(below, "- Besides: 1 other command\n")
		if !ok || !strings.HasPrefix(below, "- The agent has worked on it: ") {
			continue
		}
		switch told, _, _ := strings.Cut(below+"\n", "\n"); {
		case strings.HasPrefix(below, told+"\n- Agent: The lock is taken late"):
			seen["here"] = strings.HasSuffix(told, worked+"here alone.")
		case strings.Contains(text, "\n[2]\n- "):
			seen["below"] = strings.HasSuffix(told, worked+"below, where it stood at the end.")
		default:
			seen["nowhere"] = strings.HasSuffix(told, ": there is no room here to tell what came of it.")
		}
		for where, ok := range seen {
			if !ok {
				t.Fatalf("%d tokens, %s:\n%s", budget, where, text)
			}
		}
	}
	if len(seen) < 2 {
		t.Errorf("only %v", seen)
	}
}

// TestCheckThatPassesInWhatStays: a check that failed in a turn is told as one that passed later where it does in what
// stays, and not where it passed there before.
func TestCheckThatPassesInWhatStays(t *testing.T) {
	features.Proves(t, "I4", "N13")
	fails := run("go test ./store", "Exit code 1\n--- FAIL: TestLease (0.41s)", true)
	passes := run("go test ./store", "ok  \tkw/store\t0.2s", false)
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		stay int // where what stays begins, two messages of it
		want string
	}{
		{"behind it", session("Mend it.", fails, passes, said("Done.")), 3, "failed once, then passed later"},
		{"before it", session("Mend it.", passes, fails, said("Done.")), 1, "failed"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := gone(tc.msgs)
			s.Gone[tc.stay], s.Gone[tc.stay+1] = false, false
			got := thread(write(s, note.Options{}))
			_, line, _ := strings.Cut(got, "- Checks: `go test ./store` ")
			if line, _, _ = strings.Cut(line, "\n"); line != tc.want {
				t.Errorf("%q, want %q in\n%s", line, tc.want, got)
			}
		})
	}
}

// TestCancelledCallThatRunsInWhatStays: a call that its harness did not run is not told as that where it ran later, in
// what stays too.
func TestCancelledCallThatRunsInWhatStays(t *testing.T) {
	features.Proves(t, "I4", "N13")
	cancelled := run("go test ./store", "<tool_use_error>Sibling tool call errored</tool_use_error>", true)
	again := run("go test ./store", "ok  \tkw/store\t0.2s", false)
	const want = "- Not run, as a call beside it failed: `go test ./store`"
	msgs := session("Mend it.", cancelled, edit("/srv/kw/a.go", "ok", false), again, said("Done."))
	for _, stays := range []bool{false, true} {
		s := gone(msgs)
		if stays {
			s.Gone[5], s.Gone[6] = false, false
		}
		if got := thread(write(s, note.Options{})); strings.Contains(got, "Not run") {
			t.Errorf("it ran, in what stays %v:\n%s", stays, got)
		}
	}
	if got := thread(render(msgs[:5], note.Options{})); !strings.Contains(got, want) {
		t.Errorf("it never ran:\n%s", got)
	}
}

// TestStandingOfWhatStays: how things stood is told of all messages up to the last that goes, of those that stay in
// between too.
func TestStandingOfWhatStays(t *testing.T) {
	features.Proves(t, "I4", "N13")
	commit := func(hash string) []abi.Message {
		return run("git commit -am x", "[main "+hash+"] mend it\n 1 file changed", false)
	}
	fails := run("go test ./store", "Exit code 1\n--- FAIL: TestLease (0.41s)\n    lease_test.go:40: got 2, want 1", true)
	head := session("Mend it.", run("false", "Exit code 1", true), edit("/srv/kw/a.go", "ok", false))
	tail := session(said("Done."), run("git status", "On branch main", false))
	for _, tc := range []struct {
		why               string
		goes, stays       []abi.Message
		want, not, pruned string
	}{
		{"a commit that was pushed", commit("3f2a1bc"), session(commit("4a4a4a4"), run("git push", "", false)),
			"Last commit: 4a4a4a4 mend it on branch main, pushed\n", "Last commit: 3f2a1bc", ""},
		{"a push", commit("3f2a1bc"), run("git push", "", false), "3f2a1bc mend it on branch main, pushed\n",
			"not pushed", ""},
		{"an edit", commit("3f2a1bc"), edit("/srv/kw/b.go", "ok", false), "Changed since: /srv/kw/b.go\n", "b.go, ", ""},
		{"a commit where none went", nil, commit("4a4a4a4"), "Last commit: 4a4a4a4", "committed nothing", ""},
		{"a check that passes", session(fails, said("x"), "Then the docs.", head[3:], head[3:], head[3:]),
			run("go test ./store", "ok", false), "", "Failed when it last ran", ""},
		{"a commit whose result was pruned", commit("3f2a1bc"), run("git commit -am x", "[pruned]", false),
			"Last commit: 4a4a4a4", "Last commit: 3f2a1bc", "[main 4a4a4a4] mend it\n 1 file changed"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			for i := range tc.stays { // ids as a harness has them
				tc.stays[i].ToolCallID = strings.Replace(tc.stays[i].ToolCallID, "c", "kept", 1)
				for k := range tc.stays[i].ToolCalls {
					tc.stays[i].ToolCalls[k].ID = "kept"
				}
			}
			s := gone(session(head, tc.goes, tc.stays, tail))
			from := len(head) + len(tc.goes)
			for i := range tc.stays {
				s.Gone[from+i] = false
			}
			if tc.pruned != "" {
				s.Pruned = run("git commit -am x", tc.pruned, false)
				s.Pruned[0].ToolCalls[0].ID, s.Pruned[1].ToolCallID = "kept", "kept"
			}
			got := state(write(s, note.Options{})) + "\n"
			if !strings.Contains(got, tc.want) || strings.Contains(got, tc.not) {
				t.Errorf("no %q, or %q in\n%s", tc.want, tc.not, got)
			}
		})
	}
	t.Run("the last steps are those that went", func(t *testing.T) {
		msgs := session(head, commit("3f2a1bc"), tail, commit("4a4a4a4"))
		if got := state(write(goneUpTo(len(msgs)-2, msgs), note.Options{})); !strings.Contains(got, "3f2a1bc") {
			t.Errorf("%s", got)
		}
	})
}

// TestStandingWithWhatStaysBelow: how things stand is told as of the last message of the session. What a message below
// committed, pushed, changed, checked or took back is in it; what failed or was rejected there tells itself.
func TestStandingWithWhatStaysBelow(t *testing.T) {
	features.Proves(t, "I4", "N13")
	const failing = "Exit code 1\n--- FAIL: TestLease (0.41s)\n    lease_test.go:40: got 2, want 1\nFAIL"
	commit := func(hash string) []abi.Message {
		return run("git commit -am x", "[main "+hash+"] mend it\n 1 file changed", false)
	}
	fails := run("go test ./store -run TestLease", failing, true)
	const failed = "- Failed when it last ran: `go test ./store -run TestLease` in [1]"
	book := called("book", map[string]any{"card": "c1"}, `{"reservation_id": "HATHAT"}`, false)
	for _, tc := range []struct {
		why         string
		goes, below []abi.Message
		want, not   string
	}{
		{"a later commit", commit("3f2a1bc"), commit("4a4a4a4"),
			"- Last commit, in the messages below: 4a4a4a4 mend it on branch main, not pushed", "Last commit: 3f2a1bc"},
		{"a commit where none went", nil, commit("4a4a4a4"), "- Last commit, in the messages below: 4a4a4a4",
			"committed nothing"},
		{"what changed before a later commit", session(commit("3f2a1bc"), edit("/srv/kw/b.go", "ok", false)),
			session(commit("4a4a4a4"), edit("/srv/kw/c.go", "ok", false)), "- Changed since: /srv/kw/c.go\n", "b.go, "},
		{"a later change", commit("3f2a1bc"), edit("/srv/kw/c.go", "ok", false), "- Changed since: /srv/kw/c.go", ""},
		{"a commit of which git says nothing", commit("3f2a1bc"), run("git commit -qam x", "", false), "", "Last commit: "},
		{"a push", commit("3f2a1bc"), run("git push", "", false), "3f2a1bc mend it on branch main, pushed", "not pushed"},
		{"the same check, which passes", fails, run("go test ./store -run TestLease", "ok", false), "", failed},
		{"a check that holds it and passes", fails, run("go test ./...", "ok", false), "", failed},
		{"the same check, of which it is not known how it ended", fails,
			run("go test ./store -run TestLease 2>&1 | tail -2", "it took 2 s", false), "", failed},
		{"the same check, which fails again and tells itself", fails, fails, "", "Failed when"},
		{"the same check, which still runs", fails, fails[:1], "", failed},
		{"another check that passes", fails, run("go test ./docs -run TestY", "ok", false), failed, ""},
		{"more checks that fail tell themselves", fails, session(run("make a-lint", failing, true),
			run("make b-lint", failing, true), run("make c-lint", failing, true)), failed, "-lint"},
		{"a booking that is cancelled", session(book, called("book", map[string]any{"card": "c2"},
			`{"reservation_id": "HATHAU"}`, false)),
			called("cancel", map[string]any{"reservation_id": "HATHAT"}, `{"status": "cancelled"}`, false), "", "HATHAT;"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			head := session("Mend it.", run("false", "Exit code 1", true), edit("/srv/kw/a.go", "ok", false))
			head = session(head, tc.goes, said("So far."), "Go on, and look at the docs.",
				called("Read", map[string]any{"file_path": "/srv/kw/x.md"}, "x", false),
				called("Read", map[string]any{"file_path": "/srv/kw/y.md"}, "y", false),
				called("Read", map[string]any{"file_path": "/srv/kw/z.md"}, "z", false),
				called("Read", map[string]any{"file_path": "/srv/kw/w.md"}, "w", false))
			msgs := session(head, tc.below)
			n := build(goneUpTo(len(head), msgs))
			text := n.Render(note.Options{Budget: 6000, Count: byRune})
			stood := state(text) + "\n"
			if !strings.Contains(stood, tc.want) || tc.not != "" && strings.Contains(stood, tc.not) {
				t.Errorf("no %q, or %q in\n%s", tc.want, tc.not, text)
			}
			// The next note has what stood below, and says what it would have said at once.
			next := session(msgs[0], summary(text), msgs[len(head):])
			again := gone(next)
			got := standings(write(again, note.Options{Budget: 6000}))
			if want := standings(render(msgs, note.Options{Budget: 6000})); got != want {
				t.Errorf("at once\n%s\nand in two steps\n%s", want, got)
			}
		})
	}
}

// standings are the lines on how things stand, without the marks of what stands below.
func standings(text string) (lines string) {
	for line := range strings.Lines(state(text)) {
		for _, mark := range []string{"- Last commit", "- Changed since", "- Failed when", "- Branch",
			"- The agent committed"} {
			if strings.HasPrefix(line, mark) {
				lines += strings.Replace(strings.TrimSpace(line), ", in the messages below", "", 1) + "\n"
			}
		}
	}
	return lines
}

// TestWordsOnChecksElsewhere: where an agent says how checks stand that run on a commit elsewhere, the note says which
// commit was the last one then.
func TestWordsOnChecksElsewhere(t *testing.T) {
	features.Proves(t, "N13")
	commit := func(hash string) []abi.Message {
		return run("git commit -am x", "[main "+hash+"] mend it\n 1 file changed", false)
	}
	text := render(session("Mend it.", commit("3f2a1bc"), said("All of it is pushed. CI is running."), "And now?",
		commit("4a4a4a4"), said("Done with the CI settings of 4a4a4a4."), "Thanks.", said("Fine.")), note.Options{})
	for round := range 3 {
		const want = "- Agent: All of it is pushed. CI is running. (last commit then: 3f2a1bc)\n"
		if !strings.Contains(text, want) || strings.Count(text, "last commit then") != 1 {
			t.Errorf("round %d: no %q in\n%s", round, want, text)
		}
		text = render(session(summary(text)), note.Options{})
	}
}

// TestWhatOnlySeemsToLook: no note says that the agent only looked where a tool whose name says so did more.
func TestWhatOnlySeemsToLook(t *testing.T) {
	features.Proves(t, "N13")
	for _, tc := range []struct {
		tool, key, value string
		looks            bool
	}{
		{"mcp__postgres__query", "sql", "DELETE FROM users", false}, {"mcp__postgres__query", "sql", "SELECT 1", true},
		{"mcp__playwright__browser_click", "element", "Buy now", false}, {"find_or_create_user", "name", "ann", false},
		{"mcp__playwright__browser_snapshot", "page", "1", true}, {"fetch", "method", "DELETE", false},
		{"fetch", "method", "GET", true}, {"bash", "command", "awk -i inplace '{print}' f.txt", false},
		{"bash", "command", "awk '{print > \"x\"}' f.txt", false}, {"bash", "command", "sed -n 'w out.txt' f.txt", false},
		{"bash", "command", "tree -o out.txt", false}, {"bash", "command", "sed -n '1,9p' f.txt", true},
	} {
		text := render(session("Look.", called(tc.tool, map[string]any{tc.key: tc.value}, "ok", false), said("Done.")),
			note.Options{})
		if got := strings.Contains(text, "has changed nothing so far"); got != tc.looks {
			t.Errorf("%s %s: it only looked: %v", tc.tool, tc.value, got)
		}
	}
}
