package proxy_test

import (
	"strings"
	"sync/atomic"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/proxy"
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

// TestBoundOutOfReach: a bound below what has to stay costs a compaction now and then, and none with each request.
func TestBoundOutOfReach(t *testing.T) {
	features.Proves(t, "N4")
	for name, when := range map[string]kagewasm.When{"tokens": {MaxTokens: 150}, "bytes": {MaxBytes: 1200}} {
		for _, d := range dialects {
			t.Run(name+"/"+d.name, func(t *testing.T) {
				const steps = 60
				u := newUpstream(t)
				s := within(t, u, 200_000, kagewasm.Policy{When: when})
				els := d.conversation(0)
				compactions := 0
				for k := range steps {
					els = append(els, d.step(k, output(k)[:60])...)
					_, _, says := s.post(t, d.path, d.body(els), "Session-Id", "s1")
					if strings.HasPrefix(says, "compacted") {
						compactions++
					}
				}
				if compactions < 1 || compactions > steps/6 {
					t.Errorf("%d of %d requests are compacted: %s", compactions, steps, s.logs)
				}
				if !strings.Contains(s.logs.String(), "have to stay") {
					t.Errorf("nothing says that the bound is out of reach: %s", s.logs)
				}
			})
		}
	}
}

// TestToolsAreNoMessages: definitions of tools longer than max_bytes leave a shorter conversation alone, and its
// requests uncounted.
func TestToolsAreNoMessages(t *testing.T) {
	features.Proves(t, "N4")
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u := newUpstream(t)
			counted, window := &counting{Counter: counts()}, 200_000
			compactor, err := kagewasm.New(kagewasm.Options{Counter: counted, Lookup: estimated,
				Policy: proxy.Policy(kagewasm.Policy{When: kagewasm.When{MaxBytes: 30_000}})})
			if err != nil {
				t.Fatal(err)
			}
			s := start(t, u, window, func(o *proxy.Options) {
				o.Engine = func(model string) (proxy.Engine, error) {
					m := estimated(model)
					m.ContextWindow = &window
					return proxy.Engine{Compactor: compactor, Counter: counts(), Model: m}, nil
				}
			})
			d.head = `{"tools":[{"name":"bash","description":` + quoted(lines(20_000)) + `}],` + d.head[1:]
			d.tail = strings.Replace(d.tail, `"tools"`, `"others"`, 1)
			_, _, says := s.post(t, d.path, d.body(d.conversation(3)), "Session-Id", "s1")
			if n := counted.messages.Load(); n > 0 || says != "none; reason=below_threshold" {
				t.Errorf("%d messages are counted: %s", n, says)
			}
		})
	}
}

// counting counts the messages that are counted.
type counting struct {
	abi.Counter
	messages atomic.Int64
}

func (c *counting) Message(m *abi.Message) int {
	c.messages.Add(1)
	return c.Counter.Message(m)
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
