package note_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// planned is a plan that stands in a table and in code.
const planned = "Here is the plan.\n\n| File | What |\n|---|---|\n| `kw/list.go` | the command |\n" +
	"| `kw/tree.go` | the tree |\n\n```\nkw list --flat\n```\n\nShall I start?"

// TestPlansStandAsTheyWereWritten: where there is room a plan is told in its lines, tables and code among them, after
// any number of compactions. In one line it would say nothing.
func TestPlansStandAsTheyWereWritten(t *testing.T) {
	features.Proves(t, "A6", "N13")
	const want = "- Agent: Here is the plan.\n  | File | What |\n  | `kw/list.go` | the command |\n" +
		"  | `kw/tree.go` | the tree |\n  ```\n  kw list --flat\n  ```\n  Shall I start?\n"
	msgs := session("Plan it.", said(planned), "yeah, let's give it a try", run("ls", "a.go", false))
	text := render(msgs, note.Options{})
	for round := range 3 {
		if !strings.Contains(text, want) {
			t.Errorf("round %d:\n%s", round, thread(text))
		}
		text = render(session(summary(text)), note.Options{})
	}
	t.Run("in a line where there is none", func(t *testing.T) {
		text := render(session("Plan it.", said(planned), "yes"), note.Options{Budget: 330})
		if got := thread(text); strings.Contains(got, "kw list --flat") || !strings.Contains(got, "Shall I start?") {
			t.Errorf("%s", got)
		}
	})
	t.Run("a list that it holds is not told again beside the answer", func(t *testing.T) {
		list := "I have two questions:\n\n" + strings.Repeat("The table is read by three programs. ", 8) +
			"\n\n1. Which store?\n2. Which port?\n\nWhat do you say?"
		got := thread(render(session("Plan it.", said(list), "1. bbolt\n2. 8080", said("Done.")), note.Options{}))
		if strings.Contains(got, "The agent had listed") || strings.Count(got, "Which store?") != 1 {
			t.Errorf("%s", got)
		}
	})
}

// TestLastAnswerIsToldOnce: in a conversation the last answer is told as it was written, in the thread alone, where the
// next note has it from.
func TestLastAnswerIsToldOnce(t *testing.T) {
	features.Proves(t, "A6", "N13")
	answer := "The price goes by the hour.\n\n| Hours | Price |\n|---|---|\n| up to 500 | 80 |\n| up to 5000 | 40 |\n\n" +
		strings.Repeat("Billed is what was delivered. ", 12) + "\n\nWhich of both do you need?"
	msgs := session("What does it cost?", said("A lot."), "By the hour?", said(answer))
	for round := range 2 {
		text := render(msgs, note.Options{Budget: 1200})
		for _, once := range []string{"| up to 500 | 80 |", "Which of both do you need?"} {
			if strings.Count(text, once) != 1 || !strings.Contains(thread(text), once) {
				t.Errorf("round %d: %q is not told once, in the thread:\n%s", round, once, text)
			}
		}
		msgs = session(summary(text))
	}
}

// TestBlocksEndAtGaps: where a part of what is told is left out, a block of code ends before the mark and begins again
// behind it.
func TestBlocksEndAtGaps(t *testing.T) {
	features.Proves(t, "N13")
	code := strings.Repeat("x := 1\n", 200)
	for _, tc := range []struct{ why, said, begins, ends string }{
		{"code before", "Look:\n```go\nfunc f() {\n" + code + "```\nThat is all.", "Agent: Look:\n  ```go\n  func f() {\n",
			"  ```\n  That is all."},
		{"the beginning of a block alone", "Look:\n```\n" + code + "```\nThat is all.", "Agent: Look:\n",
			"  ```\n  That is all."},
		{"text before", "Look:\n" + code + "```go\nfunc f() {}\n```\nThat is all.", "Agent: Look:\n",
			"  ```go\n  func f() {}\n  ```\n  That is all."},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := note.LastWords(tc.said, 300)
			if !strings.HasPrefix(got, tc.begins) || !strings.HasSuffix(got, tc.ends) {
				t.Errorf("%s", got)
			}
			if strings.Contains(got, "```\n  ```\n") {
				t.Errorf("an empty block:\n%s", got)
			}
			open := false
			for line := range strings.Lines(got) {
				line = strings.TrimSpace(line)
				if strings.HasPrefix(line, "```") {
					open = !open
				}
				if line == "[...]" && open {
					t.Errorf("code goes on over a gap:\n%s", got)
				}
			}
			if open {
				t.Errorf("code does not end:\n%s", got)
			}
		})
	}
}

// TestQuotesInCode: lines of code are told as they are; what an agent quotes is told apart from words of persons.
func TestQuotesInCode(t *testing.T) {
	features.Proves(t, "N13")
	const want = "Agent: » as you said\n  ```\n  > go build\n  ```\n  » and so on"
	if got := note.LastWords("> as you said\n```\n> go build\n```\n> and so on", 300); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestGapsNameHeadings: where a long answer is told in its lines, the mark of what is left out names the headings
// there, and still does after further compactions; lines of code are none.
func TestGapsNameHeadings(t *testing.T) {
	features.Proves(t, "N13")
	long := strings.Repeat("It takes the lock of the store, and waits until the sweep has ended.\n", 30)
	text := "Here is the design.\n\n## Overview\n" + long + "## Actions\n### Open\n" + long +
		"```sh\n# no heading\n```\n### Rewind:\n" +
		long + "\nShall I start?"
	got := render(session("Plan it.", said(text), "yes", run("ls", "a.go", false), said("I start.")),
		note.Options{Budget: 3_000})
	for round := range 3 {
		if strings.Count(got, "[...] (left out: Open)\n") != 1 || strings.Contains(got, "no heading") {
			t.Errorf("round %d:\n%s", round, thread(got))
		}
		got = render(session(summary(got)), note.Options{Budget: 3_000})
	}
}

// TestPartsOfAnswersThatAreNotTold: of a long answer that has no room the headings are told beside many messages, and
// still are later.
func TestPartsOfAnswersThatAreNotTold(t *testing.T) {
	features.Proves(t, "N13")
	long := strings.Repeat("It takes the lock of the store, and waits until the sweep has ended.\n", 12)
	text := "## Proposed design\n" + long + "## What open does not do\n" + long + "## Rewind\n" + long
	goes := session("Plan it.", edit("/srv/kw/plan.go", "ok", false), said(text),
		strings.Repeat("Not so. Each of the five has its own answer here. ", 12), edit("/srv/kw/a.go", "ok", false),
		edit("/srv/kw/b.go", "ok", false), said("Done so."))
	const want = "- Agent: [...] (left out: Proposed design; What open does not do; Rewind)\n"
	for round := range 3 {
		s := gone(session(goes, "And now?", said(strings.Repeat(long, 20))))
		s.Gone[len(s.Gone)-2], s.Gone[len(s.Gone)-1] = false, false
		got := write(s, note.Options{Budget: 330})
		if strings.Count(got, want) != 1 {
			t.Errorf("round %d:\n%s", round, got)
		}
		goes = session(summary(got))
	}
}

// TestAllChoicesAreTold: what each short answer chose is told before what was asked, however many there are.
func TestAllChoicesAreTold(t *testing.T) {
	features.Proves(t, "A6", "N13")
	var msgs []abi.Message
	for i := range 8 {
		msgs = append(msgs, session(said(fmt.Sprintf("1. the store of harbour %d\n2. the port of harbour %d\n3. none\n\n"+
			"%sWhich of these do you want for part %d?", i, i, strings.Repeat("It is read by many programs. ", 6), i)), "2")...)
	}
	got := render(session("Plan it.", msgs, said("Planned.")), note.Options{Budget: 180})
	for i := range 8 {
		if want := fmt.Sprintf("2. the port of harbour %d", i); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, thread(got))
		}
	}
}

// TestReportsThatArePruned: what another agent reported is told where its result stays and was shortened, once, and
// after the next compaction too.
func TestReportsThatArePruned(t *testing.T) {
	features.Proves(t, "A6", "N8")
	task := called("Task", map[string]any{"description": "Find the lock", "prompt": "Find it."},
		"The lock is taken in lease.go, and never released.", false)
	const want = "- Reported by the agent for Find the lock: The lock is taken in lease.go, and never released.\n"
	for _, pruned := range []bool{true, false} {
		s := gone(session("Mend it.", task, edit("/srv/kw/a.go", "ok", false), said("Mended."), "Go on."))
		s.Gone[0], s.Gone[1], s.Gone[2], s.Gone[6] = false, false, false, false
		if pruned {
			s.Pruned = slices.Clone(task)
			s.Messages[2].Content = abi.Text("[Pruned — 12 tokens: Task Find the lock]")
		}
		text := write(s, note.Options{}) + "\n"
		if n := strings.Count(text, want); n > 1 || n == 1 != pruned {
			t.Errorf("pruned %v: told %d times in\n%s", pruned, n, thread(text))
		}
		if !pruned {
			continue
		}
		for _, goes := range []bool{false, false, true} { // it stays shortened, and goes then, as it was
			later := gone(session(s.Messages[0], summary(text), s.Messages[1:3], s.Messages[6], said("Done."), "And then?"))
			if later.Messages[3] = task[1]; !goes {
				later.Messages[3] = s.Messages[2]
				later.Gone[2], later.Gone[3], later.Pruned = false, false, slices.Clone(task)
			}
			later.Gone[0], later.Gone[6] = false, false
			if text = write(later, note.Options{}) + "\n"; strings.Count(text, want) != 1 {
				t.Errorf("later, goes %v:\n%s", goes, thread(text))
			}
		}
	}
}

// TestReportsBeforeNames: in a small note beside many messages what another agent reported last has the room that
// words of persons leave, and not the names in it.
func TestReportsBeforeNames(t *testing.T) {
	features.Proves(t, "A6", "N8")
	var report strings.Builder
	report.WriteString("The lock is taken in store/lease.go, and never released. These read it:\n\n")
	for i := range 80 {
		fmt.Fprintf(&report, "- `store/reader_%d.go` reads `leaseField%d`\n", i, i)
	}
	task := called("Task", map[string]any{"description": "Find the lock", "prompt": "Find it."}, report.String(), false)
	s := gone(session("Mend it.", task, said("I see."), "Go on.", said(strings.Repeat("It goes on and on. ", 400))))
	s.Gone[0], s.Gone[4], s.Gone[5] = false, false, false
	got := write(s, note.Options{Budget: 350})
	if !strings.Contains(got, "- Reported by the agent for Find the lock: The lock is taken in store/lease.go") {
		t.Errorf("%s", got)
	}
}

// TestReportsInShort: of a long report the headings are told that are left out, and beside many messages the last steps
// do not tell again what the thread tells.
func TestReportsInShort(t *testing.T) {
	features.Proves(t, "A6", "N13")
	long := strings.Repeat("It takes the lock of the store, and waits until the sweep has ended.\n", 12)
	task := called("Task", map[string]any{"description": "Find the lock", "prompt": "Find it."},
		"# Report\n\n"+strings.Repeat(long, 4)+"\n## Hook handlers\n"+long+"\n## Tests\n"+long, false)
	goes := session("Mend it.", task, said("I see."), "Then go on.", said("Yes."))
	for round := range 3 {
		s := gone(session(goes, "And now?", said(strings.Repeat(long, 60))))
		s.Gone[len(s.Gone)-2], s.Gone[len(s.Gone)-1] = false, false
		text := write(s, note.Options{Budget: 3000})
		if strings.Count(text, "- Reported by the agent for Find the lock: [...] It takes the lock") != 1 ||
			strings.Count(text, " [...] (left out: Hook handlers; Tests)\n") != 1 {
			t.Errorf("round %d:\n%s", round, text)
		}
		goes = session(summary(text))
	}
}

// TestReportsInFull: where persons said little more of a report is told than elsewhere, up to what there is room for.
func TestReportsInFull(t *testing.T) {
	features.Proves(t, "A6", "N13")
	part := func(what string) string {
		return "\n## The " + what + "\n" + strings.Repeat("The "+what+" waits for the one before it. ", 12) + "\n"
	}
	task := called("Task", map[string]any{"description": "Find the lock", "prompt": "Find it."},
		"# Report\n"+part("lock")+part("sweep")+part("store"), false)
	s := gone(session("Mend it.", task, said("I see."), "And now?", said(strings.Repeat("It is being looked at. ", 4000))))
	s.Gone[len(s.Gone)-2], s.Gone[len(s.Gone)-1] = false, false
	for budget, want := range map[int]string{3000: "**The store** The store waits", 700: "[...] (left out: The sweep"} {
		if got := thread(write(s, note.Options{Budget: budget})); !strings.Contains(got, want) {
			t.Errorf("%d tokens: no %q in\n%s", budget, want, got)
		}
	}
}

// TestReportsThatBeginAlike: of two reports that read the same in short each is told as it is, or in short.
func TestReportsThatBeginAlike(t *testing.T) {
	features.Proves(t, "N13")
	task := func(id, what string) []abi.Message {
		msgs := called("Task", map[string]any{"description": "Find: the " + what, "prompt": "Find it."},
			strings.Repeat("The store is read line by line, and each line is held against the index. ", 12)+
				"The "+what+" is safe to delete.", false)
		msgs[0].ToolCalls[0].ID, msgs[1].ToolCallID = id, id
		return msgs
	}
	long := said(strings.Repeat("It is being looked at. ", 4000))
	s := gone(session("Mend it.", task("a", "alpha"), task("b", "beta"), said("I see."), "And now?", long))
	s.Gone[len(s.Gone)-2], s.Gone[len(s.Gone)-1] = false, false
	for line := range strings.Lines(thread(write(s, note.Options{Budget: 4000}))) {
		if strings.HasPrefix(line, "- Reported") && strings.Contains(line, "is safe") &&
			strings.Contains(line, "the beta") == strings.Contains(line, "The alpha") {
			t.Errorf("%s", line)
		}
	}
	one := gone(session("Mend it.", task("a", "alpha"), said("I see."), "And now?", long))
	one.Gone[len(one.Gone)-2], one.Gone[len(one.Gone)-1] = false, false
	if got := thread(write(one, note.Options{Budget: 4000})); !strings.Contains(got, "The alpha is safe to delete.") {
		t.Errorf("%s", got)
	}
}

// TestReportsNameTheirSections: of a report with sections and parts the sections that are left out are named, and not
// those of which something is told.
func TestReportsNameTheirSections(t *testing.T) {
	features.Proves(t, "A6", "N13")
	var b strings.Builder
	b.WriteString("# Report\n\n## 1. The lock\n### Where\n" +
		"- **lease.go** takes the lock of the store, and never gives it back\n")
	for _, name := range []string{"The sweep", "The store", "The tests"} {
		b.WriteString("\n## " + name + "\n### Where\n" + strings.Repeat("It waits for the "+name+" to end. ", 30) + "\n")
	}
	task := called("Task", map[string]any{"description": "Find the lock", "prompt": "Find it."}, b.String(), false)
	got := thread(render(session("Mend it.", task, said("I see.")), note.Options{}))
	if !strings.Contains(got, " [...] (left out: The store; The tests)\n") {
		t.Errorf("%s", got)
	}
}

// TestReportsOfOtherAgents: what another agent reported is told, without what it announces.
func TestReportsOfOtherAgents(t *testing.T) {
	features.Proves(t, "A6")
	task := called("Task", map[string]any{"description": "Find the lock", "prompt": "Find it."},
		"Excellent! Now I have everything I need.\n\n## Summary\n\nThe lock is taken in lease.go, and never released.", false)
	text := render(session("Mend it.", task, said("I see."), "Then go on.", said("Yes.")), note.Options{})
	const want = "- Reported by the agent for Find the lock: [...] The lock is taken in lease.go, and never released.\n"
	for round := range 3 {
		if !strings.Contains(text, want) {
			t.Errorf("round %d:\n%s", round, thread(text))
		}
		text = render(session(summary(text)), note.Options{})
	}
}

// TestWordsBeforeNamesBesideMessages: in a note with many messages below the words of a conversation have more room,
// and names less: those that are used next stand in these messages.
func TestWordsBeforeNamesBesideMessages(t *testing.T) {
	features.Proves(t, "N13")
	var msgs []abi.Message
	for i := range 12 {
		n := string(rune('a' + i))
		var names strings.Builder
		for k := range 400 {
			fmt.Fprintf(&names, "kw_%s_x%d z%s/q%d.go ", n, k, n, k)
		}
		msgs = append(msgs, session("Now look at part "+n+" of the island.", run("ls "+n, names.String(), false),
			said("Part "+n+" has one road. "+strings.Repeat("It leads to the mole of "+n+". ", 12)+"No cars go there."))...)
	}
	tail := session(said("I go on."), run("ls", strings.Repeat("a b\n", 4000), false))
	count := func(s string) int { return (len(s) + 3) / 4 }
	told := func(s note.Session) int { return len(thread(write(s, note.Options{Budget: 1500, Count: count}))) }
	alone, beside := told(gone(msgs)), told(goneUpTo(len(msgs), session(msgs, tail)))
	if beside < alone*6/5 {
		t.Errorf("%d characters are told beside messages, %d where there are none", beside, alone)
	}
}

// TestAnsweredPlanComesFirst: what the newest words of a person answer is told as it was written before what came of
// other words, where the agent went on since: a plan that somebody approved is what there is to do.
func TestAnsweredPlanComesFirst(t *testing.T) {
	features.Proves(t, "N13")
	long := strings.Repeat("The island has one road and no cars. ", 20)
	head := session("Look at the island.", said(long), "And at the next one.", said(long), "Plan it.", said(planned))
	goes := session("yeah, let's give it a try", said("I look first."), run("ls", "a.go", false))
	tail := session(said("I go on."), run("ls", "x", false))
	msgs := session(head, goes, tail)
	got := thread(write(goneUpTo(len(head)+len(goes), msgs), note.Options{Budget: 1000}))
	if !strings.Contains(got, "\n  kw list --flat\n") {
		t.Errorf("%s", got)
	}
}
