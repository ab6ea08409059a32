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
