package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// billed is a provider with a prompt cache: what a request begins with as the one before is
// read from it, the rest is written.
type billed struct {
	t      testing.TB
	prices *tokens.Prices
	before []string
	sizes  map[string]int

	bill  float64
	calls []call
}

// call is a request as it was billed, in tokens.
type call struct {
	input, missed int
	// apart is one that no cache could serve: the first, and one before which the session was compacted or went back.
	apart bool
}

func (b *billed) size(el string) int {
	n, known := b.sizes[el]
	if !known {
		n = counts().Text(el)
		b.sizes[el] = n
	}
	return n
}

// RoundTrip implements http.RoundTripper.
func (b *billed) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	d := dialects[0]
	els, around := d.elements(b.t, body)
	d.whole(b.t, body)
	read, total := 0, b.size(string(around["system"])+string(around["tools"]))
	if len(b.calls) > 0 {
		read = total
	}
	same := true
	for i, el := range els {
		n := b.size(el)
		if same = same && i < len(b.before) && b.before[i] == el; same {
			read += n
		}
		total += n
	}
	b.bill += b.prices.Cost(tokens.Usage{CacheRead: read, CacheWrite: total - read, Output: 100})
	b.before, b.calls = els, append(b.calls, call{total, total - read, len(b.calls) == 0})
	answer := fmt.Sprintf(`{"usage":{"input_tokens":0,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":100}}`,
		read, total-read)
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func common(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// between sums up the requests between compactions, the one that each was made for left out: what they are, what of
// them does not come from the cache, and what of the same requests does not without the proxy.
func between(through, direct *billed) (input, missed, without int) {
	for i, c := range through.calls {
		if d := direct.calls[i]; !c.apart && !d.apart {
			input, missed, without = input+c.input, missed+c.missed, without+d.missed
		}
	}
	return input, missed, without
}

// TestBill: no recorded session costs more through the proxy than without it, and between two compactions the
// provider's cache serves as much of it. A window of 40,000 stands for sessions that are longer than those that were
// recorded; without the proxy the provider takes any. There a request is a fifth as long, and what is new in it, which
// no cache can serve, is a larger share of it: so what is not served is compared over requests of the same length.
func TestBill(t *testing.T) {
	soak.Only(t, "replays every recorded session call by call")
	files := shared.Sessions(t)
	for _, window := range []int{200_000, 40_000} {
		compacted, worst, below := 0, 0.0, 0.0
		var ours, theirs float64
		for _, file := range files {
			name := filepath.Base(file)
			data, err := os.ReadFile(file)
			if err != nil || len(data) > soak.Count(1<<20, 1<<20, 1<<30) {
				continue // half of the time would go to one
			}
			s, err := transcript.Read(name, data, transcript.Auto)
			if err != nil {
				t.Fatal(err)
			}
			through, direct, compactions := replayBill(t, s, window)
			if compactions > 0 {
				compacted++
			}
			ours, theirs = ours+through.bill, theirs+direct.bill
			worst = max(worst, through.bill/direct.bill)
			if through.bill > direct.bill*1.0001 {
				t.Errorf("window %d: %s: $%.4f, and $%.4f without, with %d compactions in %d calls", window, name, through.bill,
					direct.bill, compactions, len(through.calls))
			}
			input, missed, without := between(through, direct)
			share := float64(missed-without) / float64(max(1, input))
			if below = max(below, share); share > 0.01 {
				t.Errorf("window %d: %s: between compactions %d tokens of %d are not in the cache, and %d without the proxy",
					window, name, missed, input, without)
			}
		}
		t.Logf("window %d: %d sessions, %d of them compacted: $%.2f, and $%.2f without; at worst %.3f of that, and between "+
			"compactions a share from the cache that is %.4f below", window, len(files), compacted, ours, theirs, worst, below)
		if compacted == 0 {
			t.Errorf("window %d: no session was compacted", window)
		}
	}
}

// replayBill sends each request of a session, as it was when the model was called.
func replayBill(t *testing.T, s *transcript.Session, window int) (through, direct *billed, compactions int) {
	t.Helper()
	sizes := make(map[string]int)
	model := tokens.Default().Resolve("claude-sonnet-4-5")
	model.ContextWindow, model.TokenScale = &window, 1
	through = &billed{t: t, prices: model.Prices, sizes: sizes}
	direct = &billed{t: t, prices: model.Prices, sizes: sizes}
	lookup := func(string) tokens.Model { return model }
	compactor, err := kagewasm.New(kagewasm.Options{Counter: counts(), Policy: proxy.Policy(kagewasm.Policy{}),
		Lookup: lookup})
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.New(proxy.Options{Upstream: &url.URL{Scheme: "http", Host: "x"}, Transport: through,
		Log: func(l string) { t.Log(l) },
		Engine: func(string) (proxy.Engine, error) {
			return proxy.Engine{Compactor: compactor, Counter: counts(), Model: model}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	live := s.Live()
	for i := range live {
		if live[i].Role != abi.RoleAssistant || i == 0 {
			continue
		}
		neutral := &transcript.Session{Format: transcript.Neutral, Tools: s.Tools, Model: "claude-sonnet-4-5"}
		body, err := neutral.Encode(answered(live[:i]), "anthropic")
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "http://x/v1/messages", bytes.NewReader(body))
		p.ServeHTTP(w, r)
		if says := w.Header().Get(proxy.Header); strings.HasPrefix(says, "compacted") {
			compactions++
			through.calls[len(through.calls)-1].apart = true
		} else if strings.HasPrefix(says, "failed") {
			t.Errorf("call %d: %s", i, says)
		}
		before := direct.before
		r = httptest.NewRequest(http.MethodPost, "http://x/v1/messages", bytes.NewReader(body))
		if _, err := direct.RoundTrip(r); err != nil {
			t.Fatal(err)
		}
		if common(before, direct.before) < len(before) {
			direct.calls[len(direct.calls)-1].apart = true
		}
	}
	return through, direct, compactions
}

// answered are messages without the calls that have no result, and the other way round, which
// a recording may break off in and a provider refuses.
func answered(msgs []abi.Message) (list []abi.Message) {
	calls, results := make(map[string]bool), make(map[string]bool)
	for i := range msgs {
		for _, c := range msgs[i].ToolCalls {
			calls[c.ID] = true
		}
		if msgs[i].Role == abi.RoleTool && calls[msgs[i].ToolCallID] {
			results[msgs[i].ToolCallID] = true
		}
	}
	for _, m := range msgs {
		var kept []abi.ToolCall
		for _, c := range m.ToolCalls {
			if results[c.ID] {
				kept = append(kept, c)
			}
		}
		whole := len(kept) == len(m.ToolCalls)
		m.ToolCalls = kept
		if m.Role == abi.RoleTool && !results[m.ToolCallID] || !whole && len(kept) == 0 && m.Text() == "" {
			continue
		}
		list = append(list, m)
	}
	return list
}
