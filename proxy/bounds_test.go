package proxy_test

import (
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestBoundsHoldInSmallSteps: max_tokens and max_bytes hold whatever it costs: a conversation that grows in small steps
// is compacted by the request that passes them, however large the window is.
func TestBoundsHoldInSmallSteps(t *testing.T) {
	features.Proves(t, "N4")
	const tokens, bytes = 5000, 30_000
	for name, when := range map[string]kagewasm.When{"tokens": {MaxTokens: tokens}, "bytes": {MaxBytes: bytes}} {
		for _, d := range dialects {
			t.Run(name+"/"+d.name, func(t *testing.T) {
				u := newUpstream(t)
				s := within(t, u, 1_000_000, kagewasm.Policy{When: when})
				els := d.conversation(0)
				compactions := 0
				for k := range 130 {
					els = append(els, d.step(k, output(k)[:300])...)
					_, _, says := s.post(t, d.path, d.body(els), "Session-Id", "s1")
					got := u.last(t).body
					if n := d.tokens(t, got); when.MaxTokens > 0 && n > tokens {
						t.Fatalf("step %d: %d tokens are sent, and %d are the most: %s", k, n, tokens, says)
					}
					if n := len(got); when.MaxBytes > 0 && n > bytes*11/10 {
						t.Fatalf("step %d: %d bytes are sent, and %d are the most: %s", k, n, bytes, says)
					}
					if strings.HasPrefix(says, "compacted") {
						compactions++
					}
				}
				if compactions < 2 || compactions > 20 {
					t.Errorf("%d compactions; %s", compactions, s.logs)
				}
			})
		}
	}
}

// TestShortenedForABound: where one giant result takes a conversation past max_tokens, and nothing has to go once it is
// shortened, it is sent shortened.
func TestShortenedForABound(t *testing.T) {
	features.Proves(t, "N4")
	const most = 30_000
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u := newUpstream(t)
			s := within(t, u, 1_000_000, kagewasm.Policy{When: kagewasm.When{MaxTokens: most}})
			els := append(d.conversation(2), d.step(2, lines(60_000))...)
			_, _, says := s.post(t, d.path, d.body(append(els, d.user("What does it say?"))), "Session-Id", "s1")
			if n := d.tokens(t, u.last(t).body); n > most || !strings.HasPrefix(says, "compacted; reason=shortened") {
				t.Errorf("%d tokens are sent: %s; %s", n, says, s.logs)
			}
		})
	}
}

// tokens is how many tokens the messages of a body have.
func (d *dialect) tokens(t *testing.T, body []byte) (n int) {
	t.Helper()
	s, err := transcript.Read("sent", body, d.format)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Messages {
		of, err := counts().MessageContext(t.Context(), &s.Messages[i])
		if err != nil {
			t.Fatal(err)
		}
		n += of
	}
	return n
}
