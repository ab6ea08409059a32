package kagewasm_test

import (
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestSummaryCoversAll: with covers: all a plugin's summary stands for everything before the
// last entry: a tenth of the tokens is left, with the note of the host a seventh. Without it the
// host makes the cut.
func TestSummaryCoversAll(t *testing.T) {
	features.Proves(t, "O2", "O9")
	knows := "The port is 8443, the store is done, the tests of parcel are next."
	for _, tc := range []struct {
		name   string
		covers abi.Covers
		by     strategies.NoteBy
		plugin func(*abi.Output) *fakePlugin
		most   float64 // of the tokens, that are left
	}{
		{"an observer that may", abi.CoversAll, strategies.NoteByBoth,
			func(o *abi.Output) *fakePlugin { return granted("mem", answers(o)) }, 0.15},
		{"its summary alone", abi.CoversAll, strategies.NoteByPlugin,
			func(o *abi.Output) *fakePlugin { return granted("mem", answers(o)) }, 0.10},
		{"a compactor", abi.CoversAll, strategies.NoteByBoth,
			func(o *abi.Output) *fakePlugin { return compactor(answers(o)) }, 0.15},
		{"without it the host cuts", "", strategies.NoteByBoth,
			func(o *abi.Output) *fakePlugin { return granted("mem", answers(o)) }, 0.75},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := writes("by the model")
			c := newCompactor(t, kagewasm.Options{Model: m,
				Plugins: plugins(tc.plugin(&abi.Output{Summary: knows, Covers: tc.covers})),
				Policy:  kagewasm.Policy{Note: strategies.NoteConfig{By: tc.by}}})
			r := compact(t, c, request(longWindow, long()))
			if r.Report.Strategy != "delegate" || len(m.Requests()) > 0 || !strings.Contains(r.Report.Summary, knows) {
				t.Fatalf("by %s: %v", r.Report.Strategy, r.Report.Failures)
			}
			if tc.covers == abi.CoversAll && ids(r.Messages) != "sys goal "+r.Report.Inserted[0]+" last" {
				t.Errorf("left are %s", ids(r.Messages))
			}
			if share := float64(r.Report.TokensAfter) / float64(r.Report.TokensBefore); share > tc.most {
				t.Errorf("%.2f of the tokens are left, want %.2f", share, tc.most)
			}
		})
	}
}

// TestCoversAllKeepsTheRules: what is pinned, by whomever, and the unit of the current turn
// stay byte for byte; a summary that is too long, and one that covers something else, are
// refused like any other plan.
func TestCoversAllKeepsTheRules(t *testing.T) {
	features.Proves(t, "O2", "K10")
	all := &abi.Output{Summary: "All of it is known.", Covers: abi.CoversAll, AlwaysKeep: []string{"t7"}}
	msgs := long()
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(granted("mem", answers(all)))}),
		request(longWindow, msgs))
	if got := ids(r.Messages); r.Report.Strategy != "delegate" || got != "sys goal "+r.Report.Inserted[0]+" a7 t7 last" {
		t.Errorf("by %s: left are %s: %v", r.Report.Strategy, got, r.Report.Failures)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		at := slices.IndexFunc(msgs, func(was abi.Message) bool { return was.ID == m.ID })
		if at >= 0 && !msgs[at].Same(m) {
			t.Errorf("%s was changed", m.ID)
		}
	}
	for name, tc := range map[string]struct {
		out  *abi.Output
		code abi.Code
	}{
		"a summary as long as all of it": {&abi.Output{Summary: strings.Repeat("word ", 6000), Covers: abi.CoversAll},
			abi.CodeOverTarget},
		"it covers something else": {&abi.Output{Summary: "All of it is known.", Covers: "most"}, abi.CodeBadOutput},
	} {
		t.Run(name, func(t *testing.T) {
			r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(compactor(answers(tc.out)))}),
				request(longWindow, long())).Report
			if !r.Compacted || r.Strategy != "drop" || len(r.Failures) == 0 || r.Failures[0].Code != tc.code {
				t.Errorf("by %s: %v", r.Strategy, r.Failures)
			}
		})
	}
}
