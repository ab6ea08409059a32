package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/transcript"
)

// descends is a proxy whose policy is to step down, in a window that says nothing of what the provider takes.
func descends(t *testing.T, u *upstream) *setup {
	return within(t, u, 1_000_000, kagewasm.Policy{Recovery: kagewasm.RecoverDescend})
}

// within is a proxy of a policy, for models with a window of so many tokens.
func within(t *testing.T, u *upstream, window int, policy kagewasm.Policy) *setup {
	t.Helper()
	compactor, err := kagewasm.New(kagewasm.Options{Counter: counts(), Policy: proxy.Policy(policy), Lookup: estimated})
	if err != nil {
		t.Fatal(err)
	}
	st := memory(t)
	s := start(t, u, window, func(o *proxy.Options) {
		o.Store = st
		o.Engine = func(model string) (proxy.Engine, error) {
			m := estimated(model)
			m.ContextWindow = &window
			return proxy.Engine{Compactor: compactor, Counter: counts(), Model: m}, nil
		}
	})
	s.store = st
	return s
}

// messages is how many messages a body has behind those of the system.
func (d *dialect) messages(t *testing.T, body []byte) (n int) {
	t.Helper()
	s, err := transcript.Read("sent", body, d.format)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Messages {
		if m.Role != "system" {
			n++
		}
	}
	return n
}

// takes makes an upstream refuse what has more than so many messages, each time in words of their own.
func (u *upstream) takes(t *testing.T, d *dialect, most int) (last *string) {
	last = new(string)
	u.answer = func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
		if d.messages(t, body) <= most {
			return false
		}
		*last = strings.Replace(refusals[d.name], "30000", fmt.Sprint(30_000-d.messages(t, body)), 1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, *last)
		return true
	}
	return last
}

// TestDescend: with the recovery descend the last 10 messages stay at first, then one less at each refusal, until the
// provider takes it, in every wire.
func TestDescend(t *testing.T) {
	features.Proves(t, "A11")
	const fixed = 2 // task, note
	for _, d := range dialects {
		for _, most := range []int{fixed + 10, fixed + 5, fixed + 2, fixed} {
			t.Run(fmt.Sprint(d.name, " ", most), func(t *testing.T) {
				u := newUpstream(t)
				u.takes(t, &d, most)
				s := descends(t, u)
				body := d.body(d.conversation(60))
				_, status, says := s.post(t, d.path, body, "Session-Id", "s1")
				given := u.requests()
				if status != 200 || !strings.HasPrefix(says, "retried; reason=") {
					t.Fatalf("status %d after %d requests, %s; %s", status, len(given), says, s.logs)
				}
				if !bytes.Equal(given[0].body, body) || len(given) > 2+kagewasm.RecoverFrom {
					t.Errorf("%d requests", len(given))
				}
				if got := d.messages(t, u.last(t).body); got > most || got < most-1 { // a call and its result go together
					t.Errorf("%d messages were sent at last, %d are taken", got, most)
				}
				for i := 1; i < len(given); i++ {
					d.whole(t, given[i].body)
					n, before := d.messages(t, given[i].body), d.messages(t, given[i-1].body)
					if n >= before || i > 1 && before-n > 2 {
						t.Errorf("request %d: from %d messages to %d", i, before, n)
					}
				}
				records, err := s.store.Records(t.Context(), "s1")
				if err != nil || len(records) != len(given)-1 {
					t.Errorf("%d records of %d compactions, %v", len(records), len(given)-1, err)
				}
				n := len(given)
				_, status, says = s.post(t, d.path, body, "Session-Id", "s1")
				if status != 200 || len(u.requests()) != n+1 || !strings.HasPrefix(says, "applied") {
					t.Errorf("the next request: status %d, %s, %d requests", status, says, len(u.requests())-n)
				}
			})
		}
	}
}

// TestDescendToNothing: with nothing left, and still refused, the client has what the provider said last, and the log
// tells how it stands.
func TestDescendToNothing(t *testing.T) {
	features.Proves(t, "A11")
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u := newUpstream(t)
			last := u.takes(t, &d, 0)
			s := descends(t, u)
			answer, status, says := s.post(t, d.path, d.body(d.conversation(60)), "Session-Id", "s1")
			given := u.requests()
			if status != http.StatusBadRequest || string(answer) != *last || len(given) > 2+kagewasm.RecoverFrom {
				t.Errorf("status %d after %d requests, %s: %s", status, len(given), says, answer)
			}
			if n := d.messages(t, given[len(given)-1].body); n != 2 {
				t.Errorf("%d messages were sent at last", n)
			}
			for _, state := range []string{" messages, and ", "nothing left that could go", "start a new session"} {
				if !strings.Contains(s.logs.String(), state) {
					t.Errorf("the log does not tell %q: %s", state, s.logs)
				}
			}
		})
	}
}

// TestDescendEndsWithAnotherAnswer: what the provider says that is no refusal is the client's as it is, and ends it.
func TestDescendEndsWithAnotherAnswer(t *testing.T) {
	features.Proves(t, "A11")
	d := dialects[0]
	u := newUpstream(t)
	n := 0
	u.answer = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.WriteHeader([]int{400, 400, 529}[n])
		_, _ = io.WriteString(w, []string{refusals[d.name], refusals[d.name], "overloaded"}[n])
		n++
		return true
	}
	answer, status, says := descends(t, u).post(t, d.path, d.body(d.conversation(60)))
	if status != 529 || string(answer) != "overloaded" || n != 3 {
		t.Errorf("status %d after %d requests, %s: %s", status, n, says, answer)
	}
}

// TestDescendInStreams: a provider that refuses each time in a stream that has begun is asked with less each time.
func TestDescendInStreams(t *testing.T) {
	features.Proves(t, "A11")
	d := dialects[1]
	u := newUpstream(t)
	const well = "data: {\"said\":\"well\"}\n\ndata: [DONE]\n\n"
	u.answer = func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		if d.messages(t, body) > 2+5 {
			_, _ = io.WriteString(w, ": PROCESSING\n\ndata: "+refusals[d.name]+"\n\n")
		} else {
			_, _ = io.WriteString(w, well)
		}
		return true
	}
	s := within(t, u, 100_000, kagewasm.Policy{Recovery: kagewasm.RecoverDescend}) // it has more than half of it
	answer, _, says := s.post(t, d.path, d.body(d.conversation(120)))
	if string(answer) != well || len(u.requests()) < 3 {
		t.Errorf("%q after %d requests, %s", answer, len(u.requests()), says)
	}
}

// TestDescendNeedsACompactor: without anybody to compact it is not attempted, and that is said at once.
func TestDescendNeedsACompactor(t *testing.T) {
	features.Proves(t, "A11")
	d := dialects[0]
	u := newUpstream(t)
	last := u.takes(t, &d, 0)
	s := within(t, u, 1_000_000, kagewasm.Policy{Recovery: kagewasm.RecoverDescend, NoFloor: true})
	answer, status, says := s.post(t, d.path, d.body(d.conversation(60)))
	if status != http.StatusBadRequest || string(answer) != *last || len(u.requests()) != 1 ||
		says != "failed; reason=no_compactor" {
		t.Errorf("status %d after %d requests, %s: %s", status, len(u.requests()), says, answer)
	}
}
