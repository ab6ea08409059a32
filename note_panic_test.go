package kagewasm_test

import (
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// panicsInNotes is a counter that panics when it is given a text of a note.
type panicsInNotes struct{ wordCounter }

func (c panicsInNotes) Text(text string) int {
	if strings.Contains(text, "## ") {
		panic("no such token")
	}
	return c.wordCounter.Text(text)
}

// TestPanicInANote: a compaction always completes. Where the host panics as it writes the note, the compaction goes on
// with a note that says only that messages were left out, and the report names the panic.
func TestPanicInANote(t *testing.T) {
	features.Proves(t, "K7")
	for name, options := range map[string]kagewasm.Options{"drop": {}, "a model": {Model: writes("all is well")}} {
		t.Run(name, func(t *testing.T) {
			options.Counter = panicsInNotes{}
			r := compact(t, newCompactor(t, options), request(longWindow, long()))
			found := false
			for _, e := range r.Report.Failures {
				found = found || e.Code == abi.CodeInternal && strings.Contains(e.Message, "no such token")
			}
			if !r.Report.Compacted || !found {
				t.Errorf("compacted %v, %v: %s", r.Report.Compacted, r.Report.Failures, r.Report.Reason)
			}
		})
	}
}
