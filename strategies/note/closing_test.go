package note_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestShortAnswers: what a short answer answers stands above it: the question with its options, or what was proposed,
// by whole entries, after any number of compactions.
func TestShortAnswers(t *testing.T) {
	features.Proves(t, "A6", "N13")
	long := strings.Repeat("The old table is read by three programs, and each of them locks it. ", 20)
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
		{"options with letters", long + "\n\nTwo ways:\n\nA. Keep the text.\nB. Numbers, by a migration.\n\nI stop here.",
			"great find. A please, and keep it small",
			[]string{"- The agent had listed: A. Keep the text. / B. Numbers, by a migration."}},
		{"one letter", long + "\n\n**Option A: keep it**\n\nIt is text.\n\n**Option B: numbers**\n\nWhich?", "B",
			[]string{"- That was: Option B: numbers"}},
		{"what it proposed", long + "\n\nI would drop the cache and read the table once. Shall I?", "yes",
			[]string{"I would drop the cache and read the table once. Shall I?"}},
		{"the line before the question", long + "\n\nThe edit counts as the agent's.\n\nWant me to change that?",
			"go on",
			[]string{"The edit counts as the agent's. Want me to change that?"}},
		{"of a long list all entries, as they were written", long + "\n\nShall I do these?\n\n" + listOf(9), "yes",
			[]string{"Shall I do these?\n  - move table 1 ", "\n  - move table 2 ", "\n  - move table 8 ",
				"\n  - move table 9 "}},
		{"of a very long one the first, and how many follow", long + "\n\nShall I do these?\n\n" + listOf(30), "yes",
			[]string{"Shall I do these? move table 1 ", "; move table 9 ", " more]"}},
		{"entries with code and more below them", long + "\n\n1. **Join** the tables.\n   ```\n   join(a, b)\n   ```\n   " +
			"That takes a day.\n\n2. **Split** the log.\n\nThe first gains most. Shall I?", "is it pushed? if so, do it",
			[]string{"1. Join the tables. [...] 2. Split the log. The first gains most. Shall I?"}},
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
	t.Run("what begins before the list is told once", func(t *testing.T) {
		msgs := session("Look.", said("The list of boats is ready for you:\n\n## The boats of this year\n\n**From Hjelm**\n"+
			"- Ane: a mail boat that leaves at noon\n- Bo: a ferry\n\nI would take the first. Shall I book it?"), "yes")
		if got := thread(render(msgs, note.Options{})); strings.Count(got, "The boats of this year") != 1 {
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

// TestNoEntryIsSpokenOf: words that count something else take no entry of a list.
func TestNoEntryIsSpokenOf(t *testing.T) {
	features.Proves(t, "A6", "N13")
	const listed = "I changed three files:\n\n1. the parser\n2. the lexer\n3. the tests"
	for words, spoken := range map[string]bool{
		"can you update the metadata for the last checkpoint": false, "check the last two commits": false,
		"the first page is wrong": false, "let's take the first": true, "the last one": true,
		"I like the second, please go on": true, "the third is better": true, "the former": true,
		"the second of them": true, "run the first 10 tests": false, "both/either": true,
	} {
		got := thread(render(session("Look.", said(listed), words, said("Done.")), note.Options{}))
		if strings.Contains(got, "The agent had listed: ") != spoken {
			t.Errorf("%q: spoken of %v in\n%s", words, !spoken, got)
		}
	}
}

// listOf is a list of so many long entries.
func listOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- move table %d %s\n", i+1, strings.Repeat("to the other file ", 6))
	}
	return b.String()
}

// TestAnswersNeverStandAlone: in a note of any size a short answer stands with what it answers, in short where there
// is little room, or is left out with it.
func TestAnswersNeverStandAlone(t *testing.T) {
	features.Proves(t, "A6", "N13")
	long := strings.Repeat("The old table is read by three programs, and each of them locks it. ", 6)
	var msgs []abi.Message
	for i := range 12 {
		msgs = append(msgs, session(fmt.Sprintf("Look at table %d, and tell me what you find there, please.", i),
			said(fmt.Sprintf("%s\n\nShall I drop table %d?", long, i)), fmt.Sprintf("ok, drop %d", i),
			run(fmt.Sprintf("make drop N=%d", i), "", false), said("Dropped."))...)
	}
	alone := regexp.MustCompile(`(?m)^> ok, drop (\d+)$`)
	for budget := 200; budget < 3000; budget += 100 {
		text := render(msgs, note.Options{Budget: budget})
		for round := range 2 {
			for _, answer := range alone.FindAllStringSubmatch(thread(text), -1) {
				before, _, _ := strings.Cut(thread(text), answer[0])
				if !strings.Contains(before, "Shall I drop table "+answer[1]+"?") {
					t.Fatalf("%d, round %d: %q stands alone in\n%s", budget, round, answer[0], thread(text))
				}
			}
			text = render(session(summary(text), "Go on."), note.Options{Budget: budget})
		}
	}
}

// TestFindings: what an agent found and decided stands there in its own words, before announcements.
func TestFindings(t *testing.T) {
	features.Proves(t, "A6", "N13")
	const cause = "The root cause is that the lock is taken after the table is read."
	long := strings.Repeat("I looked at the table and at the programs that read it. ", 30)
	look := called("Read", map[string]any{"file_path": "/srv/kw/a.go"}, "package a", false)
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"far down in its closing words", session(said(long + "\n\n" + cause + "\n\nThe tests pass now.")),
			"[...] " + cause + " [...]"},
		{"on the way", session(said(cause), look, said("Let me check:"), look, said("It is mended.")),
			"- Agent on the way: " + cause + "\n- Agent: It is mended."},
		{"what it decided, and why", session(said("Understood. I chose bbolt over SQLite because it needs no cgo."), look,
			said("It is mended.")),
			"- Agent on the way: I chose bbolt over SQLite because it needs no cgo.\n- Agent: It is mended."},
		{"with what explains it", session(said("I found another bug in the code that moves the table. It's read with the "+
			"old name, and written with the new one. Let me fix it:"), look, said("It is mended.")),
			"- Agent on the way: I found another bug in the code that moves the table. It's read with the old name, and " +
				"written with the new one.\n- Agent: It is mended."},
		{"what it may decide", session(said("Let me look at bbolt, which we could choose over SQLite."), look,
			said("It is mended.")), "- Besides: 2 reads and searches\n- Agent: It is mended."},
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
	t.Run("what it says of itself is told as that, in a chain of notes", func(t *testing.T) {
		text := render(session(msgs[:2], "Review the conversation above and update the skills.",
			said("I added the tides to the skill of the harbour. It has a table of them now."), "thanks"), note.Options{})
		for range 2 {
			if got := thread(text); !strings.Contains(got, "- Agent: The leases are mended.\n"+
				"- Agent, asked by its harness: I added the tides to the skill of the harbour.") {
				t.Errorf("%s", got)
			}
			text = render(session(summary(text)), note.Options{})
		}
	})
	t.Run("but work that goes on behind it is", func(t *testing.T) {
		msgs := session(msgs[:3], edit("/srv/kw/a.go", "ok", false), said("Now the docs are mended too."), "thanks")
		if got := thread(render(msgs, note.Options{})); !strings.Contains(got,
			"- Agent: Now the docs are mended too.") {
			t.Errorf("%s", got)
		}
	})
}

// TestGapsAreMarked: what did not stand together is not quoted as if it did.
func TestGapsAreMarked(t *testing.T) {
	features.Proves(t, "N13")
	long := strings.Repeat("The old table is read by three programs. ", 30)
	for _, tc := range []struct{ why, said, answer, want string }{
		{"code before a question", long + "\n\nYou can update it by this command:\n```\nmake up\n```\nShall I run it?", "ok",
			"You can update it by this command: [...] Shall I run it?"},
		{"a heading between a list and a question", long + "\n\n- one\n- two\n\n## Next\n\nShall I?", "ok",
			"one; two [...] Shall I?"},
		{"entries with code between them", long + "\n\n1. Stash:\n```\ngit stash\n```\n2. Keep:\n\nShall I?", "1",
			"1. Stash: [...] 2. Keep:"},
		{"a table before the last sentence", long + "\n\nIt is slow.\n\n| a | b |\n\nAnd big. Is that well?",
			"And the docs too.",
			"And big. Is that well?"},
		{"code before the last question", long + "\n\nIt is slow.\n\nSee this:\n```\nx\n```\nIs that well?",
			strings.Repeat("And the docs. ", 20),
			"It is slow. [...] Is that well?"},
		{"a list that is not quoted from its start", "- Let me look at it.\n- The lock is taken late.", "And the docs too.",
			"- Agent: [...] The lock is taken late."},
		{"a list with its heading", "| a | b |\n|---|---|\n| 1 | 2 |\n\n**To skip:**\n- **#5** is slow\n- **#7** is meant",
			"And the docs too.",
			"- Agent: [...] To skip: 5"},
		{"words behind an announcement", "Let me look at it.\n\nThe lock is taken late.", "And the docs too.",
			"- Agent: [...] The lock is taken late."},
		{"a sentence that does not follow on its heading",
			long + "\n\n## Not done\n\nI looked at it. It is slow.\n\nIs that well?",
			strings.Repeat("And the docs. ", 20), "**Not done** [...] It is slow. Is that well?"},
		{"what stands in a list below code", long + "\n\n1. Keep it:\n- as it is\n```\nx\n```\n- for ever\n2. Drop it.", "2",
			"That was: 2. Drop it."},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := thread(render(session("Look at it.", said(tc.said), tc.answer), note.Options{})); !strings.Contains(got,
				tc.want) {
				t.Errorf("no %q in\n%s", tc.want, got)
			}
		})
	}
}

// TestQuotesOfSessions: in notes on real sessions each quote of an agent stands in the session as it is
// quoted, from one mark to the next, but for marks of lists, tables and emphasis.
func TestQuotesOfSessions(t *testing.T) {
	features.Proves(t, "N13")
	marks := regexp.MustCompile(`\[\.\.\.\](?: \(left out: [^\n]*\))?|…| / |; \[\d+ more\]| \(last commit then: [0-9a-f]{7,}\)$|` +
		` \(the person answered that something in this is wrong\)$`)
	quotes := regexp.MustCompile(`(?m)^- (?:Agent: (?:Plan that was approved:(?: |\n  ))?|Agent on the way: |` +
		`Agent earlier on the way: |That was: |The agent had listed: )(.*(?:\n  .*)*)`)
	files := shared.Sessions(t)
	checked := 0
	for _, path := range soak.Sample(files, 12, len(files)) {
		msgs := shared.Messages(t, path)
		var all strings.Builder
		for i := range msgs {
			m := &msgs[i]
			plan := m.Role == abi.RoleTool && strings.HasPrefix(m.Text(), "User has approved your plan")
			if m.Role == abi.RoleAssistant || m.Kind == abi.KindSummary || plan {
				all.WriteString(m.Text() + "\n")
			}
		}
		source := asWords(all.String())
		for _, budget := range []int{8000, 24000} {
			for _, quote := range quotes.FindAllStringSubmatch(thread(render(msgs, note.Options{Budget: budget})), -1) {
				for _, piece := range marks.Split(strings.ReplaceAll(quote[1], "\n  ", "\n"), -1) {
					if checked++; !strings.Contains(source, asWords(piece)) {
						t.Errorf("%s: %q stands nowhere", filepath.Base(path), piece)
					}
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d quotes were found", checked)
	}
}

// asWords are the words of a text in order, without marks of lists, tables, emphasis and rules.
func asWords(text string) string {
	text = regexp.MustCompile("(?m)^[-|: ─━═│┌┐└┘├┤┬┴┼╭╮╰╯]+$|^\\s*(?:[-*•+]|\\d{1,3}[.)])\\s+|^```\\w*|\\*\\*").
		ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m)(^|\s)\d{1,3}[.)] `).ReplaceAllString(text, "$1")
	apart := func(r rune) bool { return strings.ContainsRune(" \n\t\r;,|#>»*_", r) }
	return strings.Join(strings.FieldsFunc(text, apart), " ")
}

// TestAnswersBeforeNames: in a large note of which persons' words leave a part of their room, what the agent answered
// to them takes it before names do.
func TestAnswersBeforeNames(t *testing.T) {
	features.Proves(t, "A6", "complaint 18")
	msgs := session("Look at the modes.")
	for i := range 80 {
		var list strings.Builder
		for k := range 30 {
			fmt.Fprintf(&list, "handle%cMode%dResult%d ", 'A'+rune(i%26), i, k)
		}
		msgs = append(msgs, session(
			called("Write", map[string]any{
				"file_path": fmt.Sprintf("/srv/kw/m%d.go", i), "content": list.String()}, "ok", false),
			said(fmt.Sprintf("Mode %d takes its results from the queue of the mode before it, in the order in which they came, "+
				"and never looks at them again.", i)), "and the next one?")...)
	}
	text := render(msgs, note.Options{Budget: 8000})
	answers := strings.Count(text, "takes its results from the queue")
	if answers < 60 || !strings.Contains(text, "handle") {
		t.Errorf("%d of 80 answers are told:\n%s", answers, text)
	}
}

// TestClosingWordsFitTheRoom: an answer is told at length where there is room and in short where there is less, also of
// an earlier note; with the date of its last commit.
func TestClosingWordsFitTheRoom(t *testing.T) {
	features.Proves(t, "A6", "N13")
	answer := "CI is running: the build is pending. " +
		strings.Repeat("Each pier of the harbour carries its own crane. ", 12) + "The inlet is the last one."
	commit := run("git commit -am x", "[main 3f2a1bc] x", false)
	msgs := session("Mend it.", commit, said(answer), "And the docs, please, all.")
	long := render(msgs, note.Options{Budget: 4000})
	const begins, date = "- Agent: CI is running: the build is pending.", "(last commit then: 3f2a1bc)"
	line := func(text string) string {
		_, after, _ := strings.Cut(thread(text), begins)
		after, _, _ = strings.Cut(after, "\n")
		return after
	}
	if got := line(long); len(got) < 500 || !strings.HasSuffix(got, date) {
		t.Errorf("with room: %q", got)
	}
	short := 0
	for budget := 150; budget < 600; budget += 25 {
		got := line(render(session(summary(long), "Go on."), note.Options{Budget: budget}))
		if got != "" && !strings.HasSuffix(got, date) {
			t.Errorf("budget %d: %q", budget, got)
		}
		if got != "" && len(got) < 300 {
			short++
		}
	}
	if short == 0 {
		t.Error("the next note never tells it in short")
	}
}

// TestClosingPointsBack: a sentence that says little without the one before it is told with that.
func TestClosingPointsBack(t *testing.T) {
	features.Proves(t, "N13")
	filler := strings.Repeat("The sessions were looked at one by one, and their counts were set side by side. ", 6)
	text := filler + "\n\nThe comment is incomplete, as the second session counts other edits.\n\n" +
		"But the comparison of the trees is still valid. Would you like me to update the comment?"
	got := thread(render(session("Explain the merge.", said(text), "Later."), note.Options{}))
	const want = "The comment is incomplete, as the second session counts other edits. But the comparison"
	if !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
}

// TestAnswersAreNotFoldedAlone: a short answer stands where what it answers is told: a line that says that a message is
// left out is longer.
func TestAnswersAreNotFoldedAlone(t *testing.T) {
	features.Proves(t, "N13")
	design := "Got it.\n\n## Overview\n\n" + strings.Repeat("The queue holds what the island sends.\n", 12) +
		"\nDoes this overview capture what you're thinking?"
	msgs := session("Design it.", said("Which one?"), "Show me all of the first one, please.", said(design), "yes",
		said("Good."), run("ls", "x", false))
	tail := session(said("I look."), run("ls", strings.Repeat("x\n", 400), false))
	for budget := 120; budget < 700; budget += 20 {
		text := write(goneUpTo(len(msgs), session(msgs, tail)), note.Options{Budget: budget})
		got := thread(text)
		if strings.Contains(got, "capture what you're thinking?") && !strings.Contains(got, "\n> yes") {
			t.Errorf("%d tokens:\n%s", budget, got)
		}
	}
}
