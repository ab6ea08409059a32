package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestEntriesThatAreNamedStandInSmallNotes: in a note with little room the entries that an answer names by number stand
// there, and how many it does not name is counted right, whatever stands in them.
func TestEntriesThatAreNamedStandInSmallNotes(t *testing.T) {
	features.Proves(t, "A6", "N13")
	list := "Which way?\n\n1. Find them with `a` / `b`, the two that look for names in all of the files there are\n" +
		"2. Keep a list of them, which somebody has to write and to read again before each change\n" +
		"3. Let the hook find them, after the fact, and refuse the commit until they are gone\n" +
		"4. All of it, one after the other, beginning with the hook of the repository"
	const answer = "4, but I take it that 2 is a part of that one, and that we look at it again later on?"
	msgs := session("Look for copies.", said(list), answer)
	for i := range 30 {
		msgs = append(msgs, session(said(fmt.Sprintf("Part %d is done, and all that hangs on it.", i)),
			fmt.Sprintf("Now part %d, in the way of the one before, please.", i+1))...)
	}
	seen := make(map[string]int)
	for budget := 600; budget < 4000; budget += 100 {
		got := thread(render(msgs, note.Options{Budget: budget}))
		_, line, ok := strings.Cut(got, "- The agent had listed: ")
		line, _, _ = strings.Cut(line, "\n")
		if !ok {
			continue
		}
		for _, want := range []string{"2. Keep a list of them", "4. All of it"} {
			if !strings.Contains(line, want) {
				t.Errorf("budget %d: no %q in %s", budget, want, line)
			}
		}
		switch short := strings.Contains(line, "; [2 more]"); {
		case short && strings.Contains(line, "3. Let"), !short && strings.Contains(line, " more]"):
			t.Errorf("budget %d: %s", budget, line)
		case short:
			seen["short"]++
		case strings.Contains(line, "1. Find them with `a` / `b`"):
			seen["whole"]++
		}
	}
	if seen["short"] == 0 || seen["whole"] == 0 {
		t.Errorf("%v", seen)
	}
}
