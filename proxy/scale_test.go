package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestALearnedScaleHoldsForAllConversations: a provider makes nearly half again as many tokens of a text as are counted
// here. One conversation says so by its usage. Another one of that model, whose streams report none, is kept in the
// window as the provider counts it.
func TestALearnedScaleHoldsForAllConversations(t *testing.T) {
	features.Proves(t, "K18", "N4")
	const factor, room = 1.45, 80_000
	took := func(body []byte) int { return int(factor * float64(counts().Text(string(body)))) }
	d := dialects[1]
	u := newUpstream(t)
	u.answer = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if r.Header.Get("Session-Id") == "silent" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`+
				"\n\ndata: [DONE]\n\n")
			return true
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, took(body))
		return true
	}
	s := within(t, u, room, kagewasm.Policy{When: kagewasm.When{Upper: 0.9, Lower: 0.4}})
	grows := func(session string) {
		compactions := 0
		for steps := 4; compactions < 2; steps += 2 {
			if steps > 600 {
				t.Fatalf("%s: %d compactions; %s", session, compactions, s.logs)
			}
			_, _, says := s.post(t, d.path, d.body(d.conversation(steps)), "Session-Id", session)
			if n := took(u.last(t).body); n > room {
				t.Errorf("%s: step %d: %d tokens in a window of %d: %s", session, steps, n, room, says)
			}
			if strings.HasPrefix(says, "compacted") {
				compactions++
			}
		}
	}
	grows("telling")
	grows("silent")
}
