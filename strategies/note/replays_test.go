package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestReplaysAreToldOnce: a harness that records its conversation anew for each of its calls writes the same messages
// of the same moment again and again: each is told once, oldest first, after any number of compactions.
func TestReplaysAreToldOnce(t *testing.T) {
	features.Proves(t, "N13")
	at := func(i int, m abi.Message) abi.Message {
		m.Timestamp = fmt.Sprintf("2026-05-15T11:%02d:00Z", i)
		m.ID = fmt.Sprintf("m%d-%s", i, m.Role)
		return m
	}
	ask := func(i int) string { return fmt.Sprintf("Please tell me all there is to know of island %d.", i) }
	answer := func(i int) string { return fmt.Sprintf("Island %d has one road and no cars at all, and a mole.", i) }
	var msgs []abi.Message
	for pass := 1; pass < 6; pass++ {
		for i := range pass {
			msgs = append(msgs, at(i, user(ask(i))), at(i, said(answer(i))))
		}
	}
	const want = 5
	told := func(text string) {
		t.Helper()
		last := -1
		for i := range want {
			words := ask(i)
			at := strings.Index(text, "> "+words)
			if strings.Count(text, words) != 1 || at < last || strings.Count(text, answer(i)) > 2 {
				t.Errorf("%q is told %d times, at %d behind %d:\n%s", words, strings.Count(text, words), at, last, text)
			}
			last = at
		}
		if strings.Contains(text, "said again") {
			t.Errorf("%s", text)
		}
	}
	told(thread(render(msgs, note.Options{})))
	t.Run("and it is said that they stand below again", func(t *testing.T) {
		const line = "\nThe recording repeats messages: some of those that are told here stand below once more.\n"
		some := write(goneUpTo(8, msgs), note.Options{})
		if all := render(msgs, note.Options{}); !strings.Contains(some, line) || strings.Contains(all, line) {
			t.Errorf("%s\n\n%s", thread(some), thread(all))
		}
	})
	t.Run("behind a note", func(t *testing.T) {
		half := len(msgs) / 2
		text := render(msgs[:half], note.Options{})
		told(thread(render(session(summary(text), msgs[half:]), note.Options{})))
	})
	t.Run("what was called anew is told", func(t *testing.T) {
		before := summary(render(msgs[:4], note.Options{}))
		next := session(before, user(ask(1)), edit("/srv/kw/a.go", "ok", false), said(answer(1)))
		if got := thread(render(next, note.Options{})); !strings.Contains(got, "Changed: a.go (edited)") {
			t.Errorf("%s", got)
		}
	})
	t.Run("short words of one moment are not one event", func(t *testing.T) {
		var day []abi.Message
		for _, m := range session("continue", said("Done once."), "continue", said("Done twice.")) {
			m.Timestamp = "2026-05-15T00:00:00Z"
			day = append(day, m)
		}
		if got := thread(render(day, note.Options{})); strings.Count(got, "> continue") != 2 {
			t.Errorf("%s", got)
		}
	})
	t.Run("what is said again and answered otherwise is told again", func(t *testing.T) {
		words := ask(1)
		before := summary(render(msgs[:4], note.Options{}))
		text := render(session(before, user(words), said("Its road is gone.")), note.Options{})
		if got := thread(text); !strings.Contains(got, "Its road is gone.") {
			t.Errorf("%s", got)
		}
	})
}

// TestNumbersOfWhatStays: messages of persons that stay keep their numbers through a chain of compactions, whichever go
// before them, and each is told once.
func TestNumbersOfWhatStays(t *testing.T) {
	features.Proves(t, "N13", "A6")
	ask := func(i int) string { return fmt.Sprintf("Please look at part %d of the island.", i) }
	work := func(i int) []abi.Message { return edit(fmt.Sprintf("/srv/kw/part%d.go", i), "ok", false) }
	var msgs []abi.Message
	for i := 1; i <= 6; i++ {
		msgs = append(msgs, session(ask(i), work(i), said(fmt.Sprintf("Part %d is done.", i)))...)
	}
	// What was done for parts 2 and 4 goes first, then what was done for the others.
	gone := make([]bool, len(msgs))
	for i := range msgs {
		part := i/4 + 1
		gone[i] = (part == 2 || part == 4) && i%4 > 0
	}
	text := write(note.Session{Messages: msgs, Gone: gone}, note.Options{})
	next := session(msgs[0], summary(text))
	for i := range msgs {
		if i > 0 && !gone[i] {
			next = append(next, msgs[i])
		}
	}
	gone = make([]bool, len(next))
	for i := range next {
		gone[i] = i > 0 && i < len(next)-4 // all but the first message and the last part
	}
	got := thread(write(note.Session{Messages: next, Gone: gone}, note.Options{}))
	for i := 1; i <= 5; i++ {
		head := fmt.Sprintf("[%d]", i)
		_, turn, _ := strings.Cut("\n"+got, "\n"+head)
		turn, _, _ = strings.Cut(turn, fmt.Sprintf("\n[%d]", i+1))
		if !strings.Contains(turn, fmt.Sprintf("part%d.go", i)) || strings.Count(got, "\n"+head) > 1 ||
			i > 1 && !strings.Contains(turn, "> "+ask(i)) {
			t.Errorf("%s is\n%s\nin\n%s", head, turn, got)
		}
	}
}

// TestCountsOfTwoNotes: what was only looked at is counted in one line, whatever was counted before, and a turn whose
// end went does not go on.
func TestCountsOfTwoNotes(t *testing.T) {
	features.Proves(t, "A6")
	looks := session(run("ls a", "x", false), run("ls b", "x", false))
	msgs := session("Look at the island.", looks, looks)
	first := note.Session{Messages: msgs, Gone: make([]bool, len(msgs))}
	for i := 1; i < 5; i++ {
		first.Gone[i] = true
	}
	text := write(first, note.Options{})
	next := session(msgs[0], summary(text), msgs[5:], said("It has one road."), "Thanks.")
	second := note.Session{Messages: next, Gone: make([]bool, len(next))}
	for i := 1; i < len(next)-1; i++ {
		second.Gone[i] = true
	}
	got := thread(write(second, note.Options{}))
	if strings.Count(got, "Besides: ") != 1 || !strings.Contains(got, "Besides: 4 ") ||
		strings.Contains(got, "stands below.") {
		t.Errorf("%s", got)
	}
}

// TestNotToldHereAlone: of a turn of which a part stays, wherever that stands, it is not said that the note alone tells
// what came of it.
func TestNotToldHereAlone(t *testing.T) {
	features.Proves(t, "N13")
	msgs := session("Look at the island.", said("Done."), "Mend it.", edit("/srv/kw/a.go", "ok", false),
		run("cat log", strings.Repeat("x\n", 400), false))
	s := note.Session{Messages: msgs, Gone: make([]bool, len(msgs))}
	s.Gone[1], s.Gone[5], s.Gone[6] = true, true, true
	if got := thread(write(s, note.Options{})); strings.Contains(got, "told here alone") {
		t.Errorf("%s", got)
	}
	s.Gone[3], s.Gone[4] = true, true
	if got := thread(write(s, note.Options{})); !strings.Contains(got, "told here alone") {
		t.Errorf("%s", got)
	}
}
