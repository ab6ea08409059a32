package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestStatementsThatStandOut: of long messages in words that come again and again the one sentence stays, word for word
// and in order, that says something else: in whatever language, at any place, and behind a log too, over compactions.
func TestStatementsThatStandOut(t *testing.T) {
	features.Proves(t, "N13", "A6")
	statements := []string{
		"Scrap the queue again, the cron it is.",
		"Samira signs off anything that touches payroll, nobody else.",
		"Il ne faut surtout pas écraser les fichiers du client.",
		"Всё-таки оставим старую схему.",
		"レビューは佐藤さんが担当します。",
		"Vi väntar med utrullningen tills Karin har sagt ja.",
		"हर रिपोर्ट पर तारीख ज़रूर होनी चाहिए।",
		"Tabs.",
	}
	who := []string{"Yesterday evening", "As far as I can tell", "Somewhere around noon", "On the second monitor"}
	what := []string{"the numbers went up a little", "the page came back after a while", "two jobs took much longer"}
	prose := func(from, n int) string {
		var b strings.Builder
		for i := from; i < from+n; i++ {
			fmt.Fprintf(&b, "%s %s, and that was about it. ", who[i%len(who)], what[i/2%len(what)])
		}
		return b.String()
	}
	log := strings.Repeat("2026-01-23T08:15:11Z INFO importer.rows batch=17 took=12ms ok\n", 60)
	for name, message := range map[string]func(i int) string{
		"in prose":     func(i int) string { return prose(i, 9) + statements[i] + " " + prose(i+1, 9) },
		"at the end":   func(i int) string { return prose(i, 18) + statements[i] },
		"behind a log": func(i int) string { return "This is from the box:\n\n" + log + "\n" + statements[i] },
		"in a list": func(i int) string {
			text := "Notes from the call:\n"
			for k := range 14 {
				entry := prose(i+k, 1)
				if k == 3+i {
					entry = statements[i]
				}
				text += fmt.Sprintf("\n%d. %s", k+1, entry)
			}
			return text
		},
	} {
		t.Run(name, func(t *testing.T) {
			rest := []any{}
			for i := range statements {
				rest = append(rest, message(i), said("Read."))
			}
			msgs := session(rest...)
			for round := range 4 {
				text := render(msgs, note.Options{Budget: 1400})
				at := 0
				for _, s := range statements {
					i := strings.Index(text[at:], s)
					if i < 0 {
						t.Fatalf("round %d: %q is lost, or not in order:\n%s", round, s, text)
					}
					at += i + len(s)
				}
				msgs = session(summary(text), "Go on.", said("It goes on."))
			}
		})
	}
}

// TestRulesStandInTheirMessage: a rule of a message that is shortened stands in it, before what was said later, where
// there is room for the marks; a list stands there with its heading.
func TestRulesStandInTheirMessage(t *testing.T) {
	features.Proves(t, "N13")
	msgs := session(filler+"\nNever push to main.\n"+filler, said("a"),
		filler+"\nLeave these alone:\n- the clock\n- the leases\n\n"+filler, said("b"), "Now the docs.")
	for round := range 3 {
		text := render(msgs, note.Options{Budget: 1200})
		at := 0
		for _, s := range []string{"[1]\n", "> Never push to main.\n", "[2]\n",
			"> Leave these alone:\n> - the clock\n> - the leases\n", "> Now the docs."} {
			i := strings.Index(text[at:], s)
			if i < 0 {
				t.Fatalf("round %d: %q is not there, or not in order:\n%s", round, s, text)
			}
			at += i + len(s)
		}
		if strings.Contains(text, note.HeadRules) {
			t.Fatalf("round %d: a list of rules:\n%s", round, text)
		}
		msgs = session(summary(text))
	}
}

// TestQuotesKeepTheirTurns: a sentence of a message that is shortened is not shown without the one behind it that says
// how it is not so, or when.
func TestQuotesKeepTheirTurns(t *testing.T) {
	features.Proves(t, "N13")
	for _, tc := range []struct{ says, turns string }{
		{"I would love to write: always push to main without review.", "But that is exactly what got us into trouble."},
		{"If the staging tests fail, you must drop the table invoices_old.", "Only after Marta has said yes."},
		{"Wir nehmen den alten Exporter von Jonas.", "Aber nicht vor dem 3. Mai."},
	} {
		msgs := session("Begin.", said("a"), filler+tc.says+" "+tc.turns+" "+filler, said("b"), "Go on.")
		for round := range 3 {
			text := render(msgs, note.Options{Budget: 700})
			if strings.Contains(text, tc.says) && !strings.Contains(text, tc.says+" "+tc.turns) {
				t.Fatalf("round %d: %q without %q:\n%s", round, tc.says, tc.turns, text)
			}
			if !strings.Contains(text, tc.says) {
				t.Fatalf("round %d: %q is lost:\n%s", round, tc.says, text)
			}
			msgs = session(summary(text), "Go on.")
		}
	}
}

// TestFirstSentenceKeepsItsTurn: neither is the sentence that is told first shown without it.
func TestFirstSentenceKeepsItsTurn(t *testing.T) {
	features.Proves(t, "N13")
	for _, both := range []string{
		"I would love to push to main without review. But that is exactly what got us into trouble.",
		"Drop the table invoices_old. Only after Marta has said yes.",
		"Wir nehmen den alten Exporter von Jonas. Aber nicht vor Mai.",
	} {
		if got := note.Shorter(both+" "+filler, 160, ""); !strings.HasPrefix(got, both) {
			t.Errorf("%q is shown as %q", both, got)
		}
	}
}

// TestWordsBelowWhatWasPasted: a sentence right below or inside what was pasted, without an empty line before it, was
// typed.
func TestWordsBelowWhatWasPasted(t *testing.T) {
	features.Proves(t, "N13")
	log := strings.Repeat("2026-01-23T08:15:11Z INFO importer.rows batch=17 took=12ms ok\n", 60)
	const order = "Mend that, but do not change the schema."
	for name, message := range map[string]string{
		"below a log": log + order, "between two": log + order + "\n" + log,
		"below a failure": "Error: no such lease\n" + order,
	} {
		msgs := session("Begin.", said("a"), message, said("b"), "Go on.")
		for round := range 3 {
			text := render(msgs, note.Options{Budget: 300})
			if !strings.Contains(text, "> "+order) {
				t.Fatalf("%s, round %d: the order is lost:\n%s", name, round, text)
			}
			msgs = session(summary(text), "Go on.")
		}
	}
}

// TestEntriesStandUnderTheirHeading: an entry that is shown without what is before it stands under its own heading,
// however long that is, and where it is an entry itself.
func TestEntriesStandUnderTheirHeading(t *testing.T) {
	features.Proves(t, "N13", "A6")
	const entry = "config/legacy.yaml belongs to Oyelaran"
	more := strings.Repeat("- the plain thing that is like the others\n", 12)
	for why, head := range map[string]string{
		"a line":      "Leave these alone:\n",
		"a long line": "Whatever else you may find in the folders of the two old services, leave these alone for now:\n",
		"a number":    "1. Leave these alone:\n",
	} {
		got := note.Shorter("Do these first:\n"+more+head+more+"- "+entry+"\n"+more+filler, 700, "")
		before, _, ok := strings.Cut(got, entry)
		if !ok || !strings.Contains(before, strings.TrimSpace(head)) {
			t.Errorf("%s:\n%s", why, got)
		}
	}
}
