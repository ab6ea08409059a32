package kagewasm_test

import (
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestLedgerBesideWhatIsPinned: every compaction, with or without a model, carries a ledger of exact names inside a
// token budget. Where what is pinned exceeds the target the note still has a share of what the window leaves, is never
// over the window, and is left as it is.
func TestLedgerBesideWhatIsPinned(t *testing.T) {
	features.Proves(t, "N8")
	list := chat(300)
	list[0].Content = abi.Text(words(2200))
	for why, opts := range map[string]kagewasm.Options{
		"without a model": {}, "with a model": {Model: writes("The tests are being mended.")},
	} {
		t.Run(why, func(t *testing.T) {
			opts.Counter = realCounter()
			c := newCompactor(t, opts)
			fixed := bare(t, c, list)
			for free := 400; free <= fixed; free += 300 {
				r := compact(t, c, request(fixed+free, list))
				if !strings.Contains(r.Report.Summary, "\n## Exact names\n") {
					t.Errorf("%d tokens are free, and no name is told in %d:\n%s", free, r.Report.Metrics.NoteTokens,
						r.Report.Summary)
				}
				if r.Report.TokensAfter > fixed+free {
					t.Errorf("%d tokens in a window of %d", r.Report.TokensAfter, fixed+free)
				}
				again := compact(t, c, request(fixed+free, r.Messages))
				if again.Report.Compacted {
					t.Errorf("%d tokens are free, and the note is compacted again: %s", free, again.Report.Reason)
				}
			}
		})
	}
}

// bare returns the tokens of a session of which all that may go went, without a note.
func bare(t *testing.T, c *kagewasm.Compactor, list []abi.Message) int {
	t.Helper()
	req := request(longWindow, list)
	target := 0
	req.Force, req.Target = true, &target
	r := compact(t, c, req)
	return r.Report.TokensAfter - r.Report.Metrics.NoteTokens
}
