package proxy_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestStrictWindow: where the policy wants the window to be known, and nothing says it, nothing is compacted by a
// guess: the request goes on as it came, and the log tells why. What starts a compaction by a number of tokens needs no
// window.
func TestStrictWindow(t *testing.T) {
	features.Proves(t, "A7")
	for _, d := range dialects {
		if d.name == "ollama" {
			continue // it says the window itself
		}
		for _, tc := range []struct {
			why     string
			when    kagewasm.When
			want    string
			touched bool
		}{
			{"strict", kagewasm.When{StrictWindow: true}, "failed; reason=usage", false},
			{"strict, with a number of tokens", kagewasm.When{StrictWindow: true, MaxTokens: 20_000}, "compacted", true},
			{"not strict", kagewasm.When{}, "compacted", true},
		} {
			t.Run(d.name+"/"+tc.why, func(t *testing.T) {
				u := newUpstream(t)
				var compactor *kagewasm.Compactor
				s := start(t, u, window, func(o *proxy.Options) {
					o.Engine = func(string) (proxy.Engine, error) {
						m := tokens.Default().Resolve("mystery")
						return proxy.Engine{Compactor: compactor, Counter: counts(), Model: m}, nil
					}
				})
				var err error
				compactor, err = kagewasm.New(kagewasm.Options{Counter: counts(),
					Policy: proxy.Policy(kagewasm.Policy{When: tc.when})})
				if err != nil {
					t.Fatal(err)
				}
				body := d.body(d.conversation(300))
				_, status, says := s.post(t, d.path, body, "Session-Id", "s1")
				if status != http.StatusOK || !strings.HasPrefix(says, tc.want) || bytes.Equal(u.last(t).body, body) == tc.touched {
					t.Fatalf("status %d, %s; %s", status, says, s.logs)
				}
				if !tc.touched && !strings.Contains(s.logs.String(), "context window") {
					t.Errorf("the log: %s", s.logs)
				}
			})
		}
	}
}
