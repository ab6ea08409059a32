package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
)

// TestAskedInACompaction: what a plugin asks for in a compaction waits until a person says something again, and then is
// compacted once.
func TestAskedInACompaction(t *testing.T) {
	features.Proves(t, "T2")
	const window = 4000
	for _, d := range dialects {
		if d.name == "ollama" { // whose window is what it loaded
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			p := &hosttest.Plugin{Name: "asks", Grants: []abi.Capability{abi.CapCompactionRequest},
				Pre: hosttest.Answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the ports"}})}
			u := newUpstream(t)
			u.answer = func(http.ResponseWriter, *http.Request, []byte) bool { return false }
			var made []string
			s := start(t, u, window, listened(t, p, window, func(e kagewasm.Event) {
				made = append(made, strings.TrimSpace(string(e.Trigger)+" "+e.Given.Instructions))
			}))
			els := d.conversation(12)
			for k := 12; len(made) == 0 && k < 200; k++ {
				els = append(els, d.step(k, strings.Repeat("all is well here and there ", 20))...)
				s.post(t, d.path, d.body(els), "Kagewasm-Session", "talk")
			}
			els = append(els, d.step(300, "ok")...)
			s.post(t, d.path, d.body(els), "Kagewasm-Session", "talk")
			if !slices.Equal(made, []string{"threshold"}) {
				t.Fatalf("in the turn: %q", made)
			}
			for _, text := range []string{"Go on.", "And on."} {
				els = append(els, d.user(text))
				s.post(t, d.path, d.body(els), "Kagewasm-Session", "talk")
			}
			if !slices.Equal(made, []string{"threshold", "plugin asks: the ports"}) {
				t.Errorf("when the turn is over: %q", made)
			}
		})
	}
}
