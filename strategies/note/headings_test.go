package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// flights are the last words of an agent on a flight out and a flight back.
const flights = `The cheapest direct round-trip flight from New York (JFK) to the West Coast is to Seattle (SEA).

### Outbound Flight (JFK to SEA)
- **Flight Number:** HAT069
- **Departure:** May 20, 2024, at 06:00 AM EST
- **Arrival:** May 20, 2024, at 12:00 PM EST
- **Cabin Prices:**
  - Basic Economy: $51
  - Business: $239

### Return Flight (SEA to JFK)
- **Flight Number:** HAT276
- **Departure:** May 25, 2024, at 06:00 PM EST
- **Arrival:** May 26, 2024, at 12:00 AM EST
- **Cabin Prices:**
  - Basic Economy: $55
  - Business: $490

The total round-trip price in Basic Economy is $106. Let me know if you would like to proceed with booking!`

// TestWhatStandsUnderAHeading: where the last words of an agent are cut, a line is told with the headings that it
// stands under, in the order of the text, and a gap between them is marked, whatever the room and after any number of
// compactions.
func TestWhatStandsUnderAHeading(t *testing.T) {
	features.Proves(t, "N13")
	entries := func(of string) string { return strings.Repeat("- it holds "+of+" and what comes of it\n", 12) }
	for _, tc := range []struct {
		why, said string
		under     map[string]string // lines, by what the last heading above each has to be
	}{
		{"a heading of markdown", flights, map[string]string{"May 26": "### Return", "$490": "### Return",
			"May 20": "### Outbound", "$239": "### Outbound", "$55": "### Return"}},
		{"a bold line", "Found:\n\n**Fixed:**\n" + entries("the lock") + "\n**Not fixed:**\n" + entries("the clock"),
			map[string]string{"the lock": "**Fixed:**", "the clock": "**Not fixed:**"}},
		{"an entry with others below it", "Found:\n\n1. Keep\n" + entries("a.go") + "2. Delete\n" + entries("b.go"),
			map[string]string{"a.go": "1. Keep", "b.go": "2. Delete"}},
		{"a line above a list", "All of it:\n\nThese pass:\n" + entries("a.go") + "\nThese fail:\n" + entries("b.go"),
			map[string]string{"a.go": "These pass:", "b.go": "These fail:"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			heads := make(map[string]bool)
			for _, head := range tc.under {
				heads[head] = true
			}
			for budget := 200; budget < 3000; budget += 50 {
				text := render(session("Look.", edit("/srv/kw/x.go", "ok", false), said(tc.said)), note.Options{Budget: budget})
				for round := range 2 {
					last := ""
					if !strings.Contains(state(text), "\n  ") {
						break // the last words are told in one line
					}
					for line := range strings.Lines(state(text)) {
						for head := range heads {
							if strings.HasPrefix(strings.TrimSpace(line), head) {
								last = head
							}
						}
						for what, head := range tc.under {
							if strings.Contains(line, what) && last != head {
								t.Fatalf("budget %d, round %d: %q stands under %q, not %q:\n%s", budget, round, line, last, head,
									state(text))
							}
						}
					}
					text = render(session(summary(text)), note.Options{Budget: budget})
				}
			}
		})
	}
	t.Run("entries below entries stay where they are", func(t *testing.T) {
		got := state(render(session("Look.", edit("/srv/kw/a.go", "ok", false), said(flights)), note.Options{Budget: 8000}))
		if !strings.Contains(got, "\n  - **Cabin Prices:**\n    - Basic Economy: $51\n") {
			t.Errorf("%s", got)
		}
	})
}

// TestHeadingsInTheThread: the closing words in the thread are told with what they stand under, unless that says
// nothing.
func TestHeadingsInTheThread(t *testing.T) {
	features.Proves(t, "N13")
	long := strings.Repeat("The old table is read by three programs. ", 30)
	for _, tc := range []struct{ why, said, want string }{
		{"a heading", "## What I left alone\n\nThe table of leases.", "- Agent: **What I left alone** The table of leases."},
		{"one that says nothing", "## Summary\n\nThe table is safe.", "- Agent: The table is safe."},
		{"an entry far below the first line", "Two things.\n\n### Broken\n- the clock",
			"- Agent: Two things. **Broken** the clock"},
		{"an entry below a number", "1. **Ruled out:**\n   - the clock", "- Agent: Ruled out: the clock"},
		{"an entry with entries below it", "Found:\n\n1. Keep\n- a.go\n- b.go\n2. Delete\n- c.go",
			"- Agent: Found: **Keep** a.go; b.go **Delete** c.go"},
		{"what it came to before a question", long + "\n\n## Not done\n\nThe old table is still there.\n\nShall I go on?",
			"**Not done** The old table is still there. Shall I go on?"},
		{"what it found", long + "\n\n**Ruled out**\n\nThe root cause is that the lock is taken twice.\n\nDone.",
			"[...] **Ruled out** The root cause is that the lock is taken twice. [...]"},
		{"options", long + "\n\n### What speaks for bbolt\n- fast\n\n### What speaks for SQLite\n- known\n\nWhich one?",
			"**What speaks for bbolt** fast **What speaks for SQLite** known Which one?"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session("Look at it.", said(tc.said), "And the docs, please, all of them."), note.Options{})
			for round := range 2 {
				if got := thread(text); !strings.Contains(got, tc.want) {
					t.Errorf("round %d: no %q in\n%s", round, tc.want, got)
				}
				text = render(session(summary(text)), note.Options{})
			}
		})
	}
}

// TestHeadingsOfAPerson: what a person said under a heading is not shown under another one where the middle is left
// out, and an entry of a list of what must not be done is no wish.
func TestHeadingsOfAPerson(t *testing.T) {
	features.Proves(t, "A6", "N13")
	entries := func(of string) string { return strings.Repeat("- "+of+" one of the many tables\n", 40) }
	words := "## Production\n" + entries("read") + "## Staging\n" + entries("drop")
	for _, runes := range []int{400, 1200} {
		got := note.Shorter(words, runes, "m7")
		before, _, ok := strings.Cut(got, "- drop")
		if !ok || !strings.Contains(before, "\n## Staging\n") {
			t.Errorf("%d:\n%s", runes, got)
		}
	}
	for _, tc := range []struct{ why, says, want string }{
		{"a line with a colon", "Leave these alone:\n- the table of leases\n- the clock\n\n",
			"- [2] Leave these alone:\n- [2] the table of leases\n- [2] the clock"},
		{"a heading", "## Out of scope\n\n- the clock\n\n", "- [2] ## Out of scope\n- [2] the clock"},
		{"two lists", "What I want:\n- tabs\n\nWhat I do not want:\n- spaces\n\n",
			"- [2] What I want:\n- [2] tabs\n- [2] What I do not want:\n- [2] spaces"},
		{"the same above lists of two messages", "", "- [2] Not this:\n- [2] tabs\n- [3] Not this:\n- [3] spaces"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := session("Begin.", said("a"), filler+"\n"+tc.says+"\n"+filler, said("b"), "Go on.")
			if tc.says == "" {
				msgs = session("Begin.", said("a"), filler+"\nNot this:\n- tabs\n\n"+filler, said("b"),
					filler+"\nNot this:\n- spaces\n\n"+filler, said("c"), "Go on.")
			}
			for round := range 3 {
				text := render(msgs, note.Options{Budget: 1400})
				if got := rulesIn(text); got != tc.want {
					t.Fatalf("round %d: %q, want %q:\n%s", round, got, tc.want, text)
				}
				msgs = session(summary(text), "Go on.")
			}
		})
	}
}

// TestBoldHeadings: a bold line is a heading, a number before it and a figure in it or not, but for a sentence.
func TestBoldHeadings(t *testing.T) {
	features.Proves(t, "N13")
	part := strings.Repeat("A line on this one that is long enough. ", 8) + "\n"
	got := note.LastWords("**Uzbek (5K hours)**\n"+part+"**Tatar (~1.5K hours, rare)**\n"+part+"**2. Uighur**\n"+part+
		"**It was done.**\n"+part+"**Is it?**\n"+part+"Which one comes first?", 120)
	if want := "  [...] (left out: Tatar (~1.5K hours, rare))\n  **2. Uighur**\n  [...]\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// TestHeadingsLeftOutAreCounted: a mark names some of the headings that are left out, and says how many more there are.
func TestHeadingsLeftOutAreCounted(t *testing.T) {
	features.Proves(t, "N13")
	var b strings.Builder
	for i := range 11 {
		fmt.Fprintf(&b, "## Part %d\n%s\n", i, strings.Repeat("It says what the part is about. ", 5))
	}
	got := note.LastWords(b.String()+"## End\nWhich one comes first?", 100)
	if !strings.Contains(got, "Part 8; 2 more)") || strings.Contains(got, "Part 9") {
		t.Errorf("%s", got)
	}
}
