package kagewasm_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestReceiptOfWhatIsNotDone: a receipt says what the provider's cache lost where a compaction was put in place, and in
// a dry run. Where none was it says nothing of that, not even that it was nothing, and plugins hear of no receipt.
func TestReceiptOfWhatIsNotDone(t *testing.T) {
	features.Proves(t, "N10")
	refused := kagewasm.Policy{When: kagewasm.When{PaybackCalls: 3, Upper: 0.8, Lower: 0.79}}
	waits := kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint}
	fails := func(context.Context, *kagewasm.Result) error { return errors.New("disk full") }
	total := 0
	for _, m := range chat(60) {
		total += wordCounter{}.Message(&m)
	}
	for _, tc := range []struct {
		name   string
		policy kagewasm.Policy
		req    func(*kagewasm.Request)
		code   abi.ReasonCode
		lost   bool
	}{
		{"done", kagewasm.Policy{}, nil, abi.ReasonCompacted, true},
		{"a dry run", kagewasm.Policy{}, func(r *kagewasm.Request) { r.DryRun = true }, abi.ReasonCompacted, true},
		{"too dear", refused, func(r *kagewasm.Request) { r.Session.ContextWindow = new(total * 10 / 9) },
			abi.ReasonNotWorthIt, false},
		{"it waits", waits, nil, abi.ReasonPending, false},
		{"it cannot be stored", kagewasm.Policy{}, func(r *kagewasm.Request) { r.Commit = fails }, abi.ReasonCommitFailed,
			false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := request(400, chat(60))
			if tc.req != nil {
				tc.req(&req)
			}
			p := &fakePlugin{Name: "obs", Pre: answers(nil), Post: answers(nil)}
			var events []kagewasm.Event
			c := newCompactor(t, kagewasm.Options{Policy: tc.policy, Plugins: plugins(p),
				Audit: func(e kagewasm.Event) { events = append(events, e) }})
			r, err := c.Compact(t.Context(), req)
			if r == nil || r.Report.ReasonCode != tc.code || r.Report.Receipt == nil {
				t.Fatalf("%+v, %v", r, err)
			}
			tellsLoss(t, "the report", r.Report.Receipt, tc.lost)
			for _, in := range p.Calls(abi.HookPostCompact) {
				if r := in.Record.Receipt; (r != nil) != tc.lost {
					t.Errorf("plugins hear %+v", r)
				} else if r != nil {
					tellsLoss(t, "what plugins hear", r, true)
				}
			}
			if r.Pending != nil {
				tellsLoss(t, "what waits", r.Pending.Report.Receipt, true)
				c.Reject(t.Context(), req, r.Pending, "no")
				tellsLoss(t, "what was rejected", events[len(events)-1].Report.Receipt, false)
			}
		})
	}
}

// tellsLoss checks whether a receipt tells what was lost.
func tellsLoss(t *testing.T, what string, r *abi.Receipt, lost bool) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil || strings.Contains(string(text), "lost_prefix_tokens") != lost || lost && *r.LostPrefixTokens == 0 {
		t.Errorf("%s: %s, %v", what, text, err)
	}
}
