package proxy_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/session"
)

// TestConversation: a conversation that grows is compacted when the window is reached, and
// not before. What is sent is never over the window, holds no orphan, and between two
// compactions each request begins as the one before. What is no message, and what stays of
// those, is the client's bytes.
func TestConversation(t *testing.T) {
	features.Proves(t, "N4")
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u, st := newUpstream(t), memory(t)
			s := start(t, u, window, func(o *proxy.Options) { o.Store = st })
			var before []string
			compactions := 0
			for steps := 4; steps <= 240; steps += 4 {
				els := d.conversation(steps)
				body := d.body(els)
				_, status, says := s.post(t, d.path, body, "Session-Id", "s1")
				got := u.last(t)
				if status != 200 {
					t.Fatalf("step %d: status %d", steps, status)
				}
				if n := counts().Text(string(got.body)); n > window {
					t.Fatalf("step %d: %d tokens in a window of %d", steps, n, window)
				}
				d.whole(t, got.body)
				now, around := d.elements(t, got.body)
				_, wanted := d.elements(t, body)
				if !maps.EqualFunc(around, wanted, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
					t.Fatalf("step %d: what is no message changed", steps)
				}
				compacted := strings.HasPrefix(says, "compacted")
				if compacted {
					compactions++
				} else if len(now) < len(before) || !slices.Equal(now[:len(before)], before) {
					t.Fatalf("step %d: %s: the beginning changed", steps, says)
				}
				known := make(map[string]bool)
				for _, el := range els {
					known[el] = true
				}
				foreign := 0
				for _, el := range now {
					if !known[el] {
						foreign++
					}
				}
				if most := 12 * min(compactions, 1); foreign > most {
					t.Errorf("step %d: %d elements are not the client's", steps, foreign)
				}
				before = now
			}
			if compactions < 2 {
				t.Errorf("%d compactions; log: %s", compactions, s.logs)
			}
			s.proxy.Close()
			records, err := st.Records(t.Context(), "s1")
			if err != nil || len(records) != compactions {
				t.Errorf("%d records of %d compactions, %v", len(records), compactions, err)
			}
			costs, _ := st.Costs(t.Context(), "s1")
			if len(costs) != 1 || costs[0].Calls != 60 {
				t.Errorf("costs: %+v", costs)
			}
			h, err := session.OpenHistory(t.Context(), st, "s1", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Undo(t.Context()); err != nil {
				t.Errorf("undo: %v", err)
			}
		})
	}
}

// TestUsageThatLeavesTokensOut: a provider that says a request took far less than can be, as some do that leave out
// what came from their cache, is not believed: what is counted here holds, which lacks some of what the wire adds.
func TestUsageThatLeavesTokensOut(t *testing.T) {
	features.Proves(t, "N4")
	for name, seen := range map[string]func(body []byte) []byte{
		"next to nothing":     func(body []byte) []byte { return body[:20] },
		"what is new":         func(body []byte) []byte { return body[max(0, len(body)-4000):] },
		"a third":             func(body []byte) []byte { return body[:len(body)/3] },
		"first all, then new": func(body []byte) []byte { return body[max(0, len(body)-20_000):] },
	} {
		for _, d := range dialects {
			t.Run(name+"/"+d.name, func(t *testing.T) {
				u := newUpstream(t)
				u.answer = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					answerAs(w, r.URL.Path, seen(body))
					return true
				}
				s := start(t, u, window)
				compactions := 0
				for steps := 4; steps <= 160; steps += 4 {
					_, _, says := s.post(t, d.path, d.body(d.conversation(steps)), "Session-Id", "s1")
					if n := counts().Text(string(u.last(t).body)); n > window+window/10 {
						t.Fatalf("step %d: %d tokens in a window of %d: %s", steps, n, window, says)
					}
					if strings.HasPrefix(says, "compacted") {
						compactions++
					}
				}
				if compactions < 2 || compactions > 4 {
					t.Errorf("%d compactions; log: %s", compactions, s.logs)
				}
			})
		}
	}
}
