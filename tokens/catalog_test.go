package tokens_test

import (
	"fmt"
	"math"
	"regexp"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/tokens"
)

func TestCatalogIsSane(t *testing.T) {
	features.Proves(t, "K18")
	n, windows, prices := 0, 0, 0
	for m := range tokens.Default().Models() {
		n++
		if m.Provider == "" || m.ID == "" {
			t.Errorf("%q: a model without a name", m.Name())
		}
		if m.Encoding != tokens.O200k && m.Encoding != tokens.CL100k {
			t.Errorf("%s: encoding %q", m.Name(), m.Encoding)
		}
		if w := m.ContextWindow; w != nil {
			windows++
			if *w < 512 || *w > 20_000_000 {
				t.Errorf("%s: a window of %d", m.Name(), *w)
			}
		}
		if m.MaxOutput != nil && *m.MaxOutput <= 0 {
			t.Errorf("%s: answers of %d", m.Name(), *m.MaxOutput)
		}
		if m.Prices == nil {
			continue
		}
		prices++
		checkRates(t, m.Name(), m.Prices.Rates)
		for _, tier := range m.Prices.Tiers {
			checkRates(t, m.Name(), tier.Rates)
			if tier.Above <= 0 {
				t.Errorf("%s: a tier above %d", m.Name(), tier.Above)
			}
		}
	}
	if n < 1000 || windows < n/2 || prices < n/2 {
		t.Errorf("%d models, %d with a window, %d with prices: the catalog is thin", n, windows, prices)
	}
}

func checkRates(t *testing.T, name string, r tokens.Rates) {
	t.Helper()
	for _, v := range []float64{r.Input, r.Output, r.CacheRead, r.CacheWrite} {
		if v < 0 || v > 2000 || math.IsNaN(v) {
			t.Errorf("%s: a price of %v per million tokens", name, v)
		}
	}
}

func TestCatalogSaysWhereItIsFrom(t *testing.T) {
	c := tokens.Default()
	date, sum := regexp.MustCompile(`^20\d\d-\d\d-\d\d$`), regexp.MustCompile(`^[0-9a-f]{64}$`)
	if !date.MatchString(c.AsOf()) || len(c.Sources()) == 0 {
		t.Errorf("as of %q, from %v", c.AsOf(), c.Sources())
	}
	for _, s := range c.Sources() {
		if s.Name == "" || s.Version == "" || s.License != "MIT" || !date.MatchString(s.Date) || !sum.MatchString(s.SHA256) {
			t.Errorf("source %+v", s)
		}
	}
}

// Figures read by hand in the sources.
func TestWellKnownModels(t *testing.T) {
	features.Proves(t, "K18")
	for _, tc := range []struct {
		provider, model string
		window          int
		rates           tokens.Rates
		encoding        tokens.Encoding
		exact           bool
	}{
		{"openai", "gpt-4o", 128_000, tokens.Rates{Input: 2.5, Output: 10, CacheRead: 1.25, CacheWrite: 2.5},
			tokens.O200k, true},
		{"openai", "gpt-4o-2024-05-13", 128_000, tokens.Rates{Input: 5, Output: 15, CacheRead: 5, CacheWrite: 5},
			tokens.O200k, true},
		{"openai", "gpt-4.1", 1_047_576, tokens.Rates{Input: 2, Output: 8, CacheRead: 0.5, CacheWrite: 2}, tokens.O200k,
			true},
		{"openai", "gpt-5", 400_000, tokens.Rates{Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25},
			tokens.O200k, true},
		{"openai", "o3-mini", 200_000, tokens.Rates{Input: 1.1, Output: 4.4, CacheRead: 0.55, CacheWrite: 1.1},
			tokens.O200k, true},
		{"openai", "gpt-4", 8192, tokens.Rates{Input: 30, Output: 60, CacheRead: 30, CacheWrite: 30}, tokens.CL100k, true},
		{"openai", "gpt-3.5-turbo", 16_385, tokens.Rates{Input: 0.5, Output: 1.5, CacheRead: 0.5, CacheWrite: 0.5},
			tokens.CL100k, true},
		{"anthropic", "claude-sonnet-4-5", 200_000,
			tokens.Rates{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}, tokens.O200k, false},
		{"anthropic", "claude-3-5-haiku-latest", 200_000,
			tokens.Rates{Input: 0.8, Output: 4, CacheRead: 0.08, CacheWrite: 1}, tokens.O200k, false},
		// dated prices: the tier of long requests ended on 2026-03-13
		{"anthropic", "claude-sonnet-4-6", 1_000_000,
			tokens.Rates{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}, tokens.O200k, false},
		// dated prices: twice this from 2027-01-01 on
		{"google", "gemini-3.6-flash", 1_048_576,
			tokens.Rates{Input: 0.75, Output: 3.75, CacheRead: 0.075, CacheWrite: 0.75}, tokens.O200k, false},
		// prices by the time of day: the dearest
		{"deepseek", "deepseek-chat", 64_000, tokens.Rates{Input: 0.27, Output: 1.1, CacheRead: 0.07, CacheWrite: 0.27},
			tokens.O200k, false},
	} {
		t.Run(tc.model, func(t *testing.T) {
			m, ok := tokens.Default().Lookup(tc.provider, tc.model)
			if !ok || m.ContextWindow == nil || m.Prices == nil {
				t.Errorf("%s/%s: %+v, %v", tc.provider, tc.model, m, ok)
				return
			}
			if *m.ContextWindow != tc.window || m.Prices.Rates != tc.rates || m.Encoding != tc.encoding ||
				m.ExactCounts != tc.exact {
				t.Errorf("%s/%s: window %d, %+v, %s, exact %v; want %+v", tc.provider, tc.model, *m.ContextWindow,
					m.Prices.Rates, m.Encoding, m.ExactCounts, tc)
			}
		})
	}
}

func TestLookupUnknown(t *testing.T) {
	for _, tc := range [][2]string{{"openai", "nope"}, {"nope", "gpt-4o"}, {"", "gpt-4o"}, {"", ""}, {"openai", ""}} {
		t.Run(fmt.Sprintf("%q", tc), func(t *testing.T) {
			if m, ok := tokens.Default().Lookup(tc[0], tc[1]); ok {
				t.Errorf("%q: %+v", tc, m)
			}
		})
	}
}

func TestUnknownWindow(t *testing.T) {
	features.Proves(t, "K21")
	for _, name := range []string{"my-own-model", "nobody/knows-it", "ollama/llama3", "openai/nope", "", "/", ":",
		"openai/"} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			m := tokens.Default().Resolve(name)
			if m.ContextWindow != nil || m.Prices != nil {
				t.Errorf("%q: %+v, want no window and no prices", name, m)
			}
			if m.Window() != abi.FallbackWindow || m.Window() != 128_000 {
				t.Errorf("%q: works with a window of %d", name, m.Window())
			}
			if m.Encoding != tokens.O200k || m.ExactCounts {
				t.Errorf("%q: encoding %s, exact %v", name, m.Encoding, m.ExactCounts)
			}
		})
	}
}

func TestCost(t *testing.T) {
	p := &tokens.Prices{Rates: tokens.Rates{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75},
		Tiers: []tokens.Tier{{Above: 200_000, Rates: tokens.Rates{Input: 6, Output: 22.5, CacheRead: 0.6, CacheWrite: 7.5}}}}
	for _, tc := range []struct {
		why  string
		p    *tokens.Prices
		u    tokens.Usage
		want float64
	}{
		{"nothing is free", p, tokens.Usage{}, 0},
		{"each at its own price", p, tokens.Usage{Input: 1000, Output: 1000, CacheRead: 1000, CacheWrite: 1000},
			0.003 + 0.015 + 0.0003 + 0.00375},
		{"at the edge of the tier", p, tokens.Usage{Input: 200_000}, 0.6},
		{"beyond it the whole request costs more", p, tokens.Usage{Input: 1, CacheRead: 200_000}, 0.000006 + 0.12},
		{"output does not count for the tier", p, tokens.Usage{Output: 1_000_000}, 15},
		{"unknown prices", nil, tokens.Usage{Input: 1000}, 0},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := tc.p.Cost(tc.u); math.Abs(got-tc.want) > 1e-9 {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}
