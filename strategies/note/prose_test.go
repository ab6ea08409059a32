package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestDatesEndNoSentence: no sentence ends behind the number of a day, nor behind the short form of a month.
func TestDatesEndNoSentence(t *testing.T) {
	features.Proves(t, "I4", "N13")
	for _, want := range []string{
		"It stays open until the 3. of May because auditors read it.|Then it closes.",
		"It stays open until 3. May because auditors read it.",
		"It stays open until Oct. 3 because auditors read it.",
		"Es bleibt bis zum 3. Mai offen, weil die Prüfer es lesen.|Dann ist Schluss.",
		"Es bleibt ab dem 3.5. um acht offen.|Am 31. Okt. 2026 ist Schluss.",
		"Vom 1.-3. Mai bleibt es offen.", "Beim 2. oder 12. Oktober bleibt es.",
		"Es sind der 1. und der 2. von vielen, der 3. folgt.",
		// These end one.
		"It says run_at 0001-01-01.|scan() takes it.", "1.|after 15 minutes.",
		"Take step 3.|Then go on.", "It listens on 8080.|restart it.", "Use version 1.2.3.|then go.",
		"We open in May.|3 days later it closes.",
	} {
		if got := strings.Join(note.Sentences(strings.ReplaceAll(want, "|", " ")), "|"); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
