package proxy_test

import (
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestUnknownWindow: a model of which nobody knows the window has a fallback of 128,000 tokens, and context_window
// remains null to signal that; of a model that is known it is the model's own, whatever room an answer is left.
func TestUnknownWindow(t *testing.T) {
	features.Proves(t, "K21", "N4")
	for _, d := range dialects {
		for _, tc := range []struct {
			why   string
			known *int
			most  int // the largest window of the request
		}{{"unknown", nil, 128_000}, {"known", new(100_000), 98_000}} {
			t.Run(d.name+"/"+tc.why, func(t *testing.T) {
				u, st := newUpstream(t), memory(t)
				var reports []*kagewasm.Report
				policy := proxy.Policy(kagewasm.Policy{Prune: strategies.PruneConfig{Off: true}})
				compactor, err := kagewasm.New(kagewasm.Options{Counter: counts(), Policy: policy,
					Audit: func(e kagewasm.Event) {
						if e.Report != nil {
							reports = append(reports, e.Report)
						}
					}})
				if err != nil {
					t.Fatal(err)
				}
				s := start(t, u, window, func(o *proxy.Options) {
					o.Store = st
					o.Engine = func(string) (proxy.Engine, error) {
						m := tokens.Default().Resolve("mystery")
						m.ContextWindow = tc.known
						return proxy.Engine{Compactor: compactor, Counter: counts(), Model: m}, nil
					}
				})
				_, _, says := s.post(t, d.path, d.body(d.conversation(300)), "Session-Id", "s1")
				if !strings.HasPrefix(says, "compacted; ") || len(reports) == 0 {
					t.Fatalf("%s; %s", says, s.logs)
				}
				for _, r := range reports {
					if got := r.ContextWindow; (got == nil) != (tc.known == nil) || got != nil && *got != *tc.known {
						t.Errorf("context_window is %v", got)
					}
					if r.Window > tc.most || r.Window < tc.most*99/100 {
						t.Errorf("the window is %d, want %d", r.Window, tc.most)
					}
				}
				s.proxy.Close()
				one, err := st.Session(t.Context(), "s1")
				if err != nil {
					t.Fatal(err)
				}
				if known := tc.known; known == nil && one.Window != 0 || known != nil && one.Window != *known {
					t.Errorf("the session has %d", one.Window)
				}
			})
		}
	}
}
