package kagewasm_test

import (
	"math"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
)

// private is a model whose tokenizer is not public, and that makes half as many tokens again.
func private(string) tokens.Model { return tokens.Model{TokenScale: 1.5} }

// TestWindowsAreInTheModelsTokens: a window, an absolute threshold and a reserve are said of
// the model, so that what is counted in another encoding reaches them sooner.
func TestWindowsAreInTheModelsTokens(t *testing.T) {
	for name, tc := range map[string]struct {
		when          kagewasm.When
		lookup        func(string) tokens.Model
		window, start int
	}{
		"a public tokenizer": {lookup: func(string) tokens.Model { return tokens.Model{ExactCounts: true, TokenScale: 9} },
			window: 30_000, start: 25_500},
		"nothing is known": {lookup: func(string) tokens.Model { return tokens.Model{} },
			window: 30_000, start: 25_500},
		"fractions of the window": {lookup: private, window: 20_000, start: 17_000},
		"an absolute number":      {when: kagewasm.When{MaxTokens: 15_000}, lookup: private, window: 20_000, start: 10_000},
		"a reserve":               {when: kagewasm.When{ReserveTokens: 3000}, lookup: private, window: 20_000, start: 18_000},
		"room for the answer":     {when: kagewasm.When{OutputReserve: 6000}, lookup: private, window: 16_000, start: 13_600},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{Lookup: tc.lookup, Policy: kagewasm.Policy{When: tc.when}})
			s := abi.Session{ID: "s", ContextWindow: new(30_000)}
			r := compact(t, c, kagewasm.Request{Session: s, Messages: chat(4)}).Report
			if start := int(math.Round(r.Upper * float64(r.Window))); r.Window != tc.window || start != tc.start {
				t.Errorf("a window of %d that is compacted at %d, want %d and %d", r.Window, start, tc.window, tc.start)
			}
			if *r.ContextWindow != 30_000 {
				t.Errorf("the model's window is told as %d", *r.ContextWindow)
			}
		})
	}
}

// TestProvidersCorrectEstimates: what a provider counted corrects the estimate for the whole
// model, at once where it was too small, step by step where it was too large, and within
// bounds, so that one odd figure does no harm.
func TestProvidersCorrectEstimates(t *testing.T) {
	type call struct{ counted, used int }
	for name, tc := range map[string]struct {
		calls []call
		want  float64
		n     int
	}{
		"none":                              {nil, 1.5, 0},
		"more than estimated":               {[]call{{100_000, 180_000}}, 1.8, 1},
		"less than estimated":               {[]call{{100_000, 130_000}}, 1.46, 1},
		"less again and again":              {[]call{{100_000, 130_000}, {100_000, 130_000}, {100_000, 130_000}}, 1.4024, 3},
		"more, then what was estimated":     {[]call{{100_000, 180_000}, {100_000, 150_000}}, 1.74, 2},
		"ten times as many":                 {[]call{{100_000, 1_500_000}}, 2.25, 1},
		"half as many":                      {[]call{{100_000, 80_000}}, 1.425, 1},
		"next to none":                      {[]call{{100_000, 1000}}, 1.5, 0},
		"a request too small to tell by it": {[]call{{5000, 40_000}}, 1.5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{Lookup: private})
			msgs := chat(2)
			look := func(session string, used *kagewasm.Used, overhead int) *kagewasm.Scale {
				req := kagewasm.Request{Session: abi.Session{ID: session, Model: "m", ContextWindow: new(10_000_000)},
					Messages: msgs, Used: used, Overhead: overhead}
				return compact(t, c, req).Report.Scale
			}
			sum := compact(t, c, kagewasm.Request{Session: abi.Session{ID: "count"}, Messages: msgs}).Report.TokensAfter
			for _, of := range tc.calls {
				look("one", &kagewasm.Used{Messages: len(msgs), Tokens: of.used}, of.counted-sum)
			}
			got := look("another", nil, 0)
			if got == nil || math.Abs(got.Factor-tc.want) > 1e-9 || got.Calls != tc.n {
				t.Errorf("the other session has %+v, want %v of %d calls", got, tc.want, tc.n)
			}
		})
	}
	// What a compaction saves is priced in the model's tokens.
	saves := func(scale float64) float64 {
		prices := &tokens.Prices{Rates: tokens.Rates{Input: 3, CacheRead: 0.3, CacheWrite: 3.75}}
		c := newCompactor(t, kagewasm.Options{Lookup: func(string) tokens.Model {
			return tokens.Model{TokenScale: scale, Prices: prices}
		}})
		req := request(longWindow, long())
		req.Target = new(4000)
		r := compact(t, c, req).Report.Receipt
		return r.SavedPerCall / float64(r.FreedTokens)
	}
	if one, more := saves(1), saves(1.05); !(math.Abs(more/one-1.05) < 1e-9) {
		t.Errorf("a token saves %v a call, and where there are a twentieth more of them %v", one, more)
	}
	c := newCompactor(t, kagewasm.Options{})
	_, err := c.Compact(t.Context(), kagewasm.Request{Session: abi.Session{ID: "s"}, Messages: chat(2),
		Used: &kagewasm.Used{Messages: 9}})
	if abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("usage of nine messages where there are fewer: %v", err)
	}
}

// TestLimits: what a host shows of a session's window is what the next look goes by.
func TestLimits(t *testing.T) {
	for name, when := range map[string]kagewasm.When{"fractions": {}, "an absolute number": {MaxTokens: 9000},
		"a reserve": {ReserveTokens: 3000, OutputReserve: 600}} {
		t.Run(name, func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{Lookup: private, Policy: kagewasm.Policy{When: when}})
			s := abi.Session{ID: "s", Model: "m", ContextWindow: new(30_000)}
			r := compact(t, c, kagewasm.Request{Session: s, Messages: chat(4)}).Report
			l, err := c.Limits(s)
			if err != nil || l.Window != r.Window || l.Target != r.Target ||
				math.Abs(float64(l.Upper)-r.Upper*float64(r.Window)) > 1 {
				t.Errorf("%+v, %v: the report has a window of %d, %.4f of it and a target of %d", l, err, r.Window, r.Upper,
					r.Target)
			}
		})
	}
}
