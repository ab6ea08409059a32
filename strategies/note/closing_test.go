package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestShortAnswers: what a short answer answers stands above it: the question with its options, or what was proposed,
// by whole entries, after any number of compactions.
func TestShortAnswers(t *testing.T) {
	features.Proves(t, "A6", "N13")
	long := strings.Repeat("The old table is read by three programs, and each of them locks it. ", 6)
	for _, tc := range []struct {
		why, said, answer string
		want              []string
	}{
		{"options before the question",
			long + "\n\nTwo ways:\n\n- keep bbolt\n- move to SQLite, with WAL\n\nWhich is correct?",
			"the latter", []string{"Two ways: keep bbolt; move to SQLite, with WAL Which is correct?"}},
		{"options behind the question", long + "\n\nWhat shall I do?\n\n1. Merge it.\n2. Close it.", "2",
			[]string{"What shall I do? 1. Merge it.; 2. Close it."}},
		{"options in the question", long + "\n\nReply `/approve`, `/approve always` or `/deny`. Which do you prefer?",
			"always",
			[]string{"Reply `/approve`, `/approve always` or `/deny`. Which do you prefer?"}},
		{"what it proposed", long + "\n\nI would drop the cache and read the table once. Shall I?", "yes",
			[]string{"I would drop the cache and read the table once. Shall I?"}},
		{"the line before the question", long + "\n\nThe edit counts as the agent's.\n\nWant me to change that?",
			"go on",
			[]string{"The edit counts as the agent's. Want me to change that?"}},
		{"of a long list the first, and how many follow", long + "\n\nShall I do these?\n\n" +
			strings.Repeat("- "+strings.Repeat("move the table ", 8)+"\n", 9), "yes",
			[]string{"Shall I do these? move the table", "move the table; [5 more]"}},
		{"how it began stays", "The cause is the clock. " + long + "\n\nShall I mend it?", "yes",
			[]string{"- Agent: The cause is the clock. [...]", "Shall I mend it?"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session("Look at it.", said(tc.said), tc.answer), note.Options{})
			for round := range 3 {
				for _, want := range tc.want {
					if !strings.Contains(thread(text), want) {
						t.Errorf("round %d: no %q in\n%s", round, want, thread(text))
					}
				}
				text = render(session(summary(text)), note.Options{})
			}
		})
	}
	t.Run("options stay where something else follows", func(t *testing.T) {
		msgs := session("Look.", said(long+"\n\nWhich?\n\n1. Reply `/approve always`.\n2. Turn it off."),
			strings.Repeat("And the docs. ", 20))
		if got := thread(render(msgs, note.Options{})); !strings.Contains(got,
			"Which? 1. Reply `/approve always`.; 2. Turn it off.") {
			t.Errorf("%s", got)
		}
	})
	t.Run("marks of a status ask nothing", func(t *testing.T) {
		msgs := session("Look.", said("The cause is the clock. "+long+"\n\n`git status` says `?? a.go`."), "ok")
		if got := thread(render(msgs, note.Options{})); strings.Contains(got, "??") {
			t.Errorf("%s", got)
		}
	})
	t.Run("it comes before what came of other turns", func(t *testing.T) {
		msgs := session("Look at it.", said(long+"\n\nShall I drop the cache?"), "yes", edit("/srv/kw/a.go", "ok",
			false),
			said("Dropped."), "And the docs, all of them, with what they say of the cache, please.", said(long))
		for budget := 2000; budget > 400; budget -= 50 {
			got := thread(render(msgs, note.Options{Budget: budget}))
			if strings.Contains(got, "Agent: The old") && !strings.Contains(got, "Shall I drop the cache?") {
				t.Errorf("%d:\n%s", budget, got)
			}
		}
	})
}

// TestFindings: what an agent found stands there in its own words, before announcements.
func TestFindings(t *testing.T) {
	features.Proves(t, "A6", "N13")
	const cause = "The root cause is that the lock is taken after the table is read."
	long := strings.Repeat("I looked at the table and at the programs that read it. ", 8)
	look := called("Read", map[string]any{"file_path": "/srv/kw/a.go"}, "package a", false)
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"far down in its closing words", session(said(long + "\n\n" + cause + "\n\nThe tests pass now.")),
			"- Agent: " + cause + " [...]"},
		{"on the way", session(said(cause), look, said("Let me check:"), look, said("It is mended.")),
			"- Agent on the way: " + cause + "\n- Agent: It is mended."},
		{"what it must leave alone", session(said("There are unrelated changes in README.md, which I leave alone."),
			look, said("Staged.")),
			"- Agent on the way: There are unrelated changes in README.md, which I leave alone.\n- Agent: Staged."},
		{"not what it announces", session(said("Let me look for where the table is locked."), look,
			said("It is mended.")),
			"- Besides: 2 reads and searches\n- Agent: It is mended."},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session("Mend it.", look, tc.msgs), note.Options{})
			for round := range 2 {
				if !strings.Contains(thread(text), tc.want) {
					t.Errorf("round %d: no %q in\n%s", round, tc.want, thread(text))
				}
				text = render(session(summary(text)), note.Options{})
			}
		})
	}
}

// TestAsides: an answer to what a harness wrote is no answer to the person before it.
func TestAsides(t *testing.T) {
	features.Proves(t, "N13")
	msgs := session("Mend the leases.", said("The leases are mended."),
		"<system-reminder>\nThe todo list is empty.\n</system-reminder>", said("I have nothing to note down."),
		"thanks")
	got := thread(render(msgs, note.Options{}))
	if !strings.Contains(got, "- Agent: The leases are mended.") || strings.Contains(got, "note down") {
		t.Errorf("%s", got)
	}
	t.Run("but work that goes on behind it is", func(t *testing.T) {
		msgs := session(msgs[:3], edit("/srv/kw/a.go", "ok", false), said("Now the docs are mended too."), "thanks")
		if got := thread(render(msgs, note.Options{})); !strings.Contains(got,
			"- Agent: Now the docs are mended too.") {
			t.Errorf("%s", got)
		}
	})
}
