package models_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/models"
)

// clock is a time that passes only where somebody waits.
type clock struct {
	now   time.Time
	waits []time.Duration
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	c.waits = append(c.waits, d)
	return ctx.Err()
}

func (c *clock) config(s *modeltest.Server, w modeltest.Wire) models.Config {
	cfg := config(s, w)
	cfg.Sleep, cfg.Now = c.sleep, func() time.Time { return c.now }
	return cfg
}

func newClock() *clock { return &clock{now: time.Now().Truncate(time.Second)} }

func header(name, value string) http.Header { return http.Header{name: {value}} }

// backoff is the longest first wait where the provider does not say.
const backoff = 500 * time.Millisecond

func TestRetries(t *testing.T) {
	start := newClock().now
	date := func(later time.Duration) string { return start.Add(later).UTC().Format(http.TimeFormat) }
	for _, tc := range []struct {
		why   string
		first modeltest.Answer // an answer follows
		// least and most are bounds of the first wait. 0: there is none.
		least, most time.Duration
		code        abi.Code // empty: there is an answer
	}{
		{"seconds", modeltest.Answer{Status: 429, Header: header("Retry-After", "7")},
			7 * time.Second, 7 * time.Second, ""},
		{"a fraction", modeltest.Answer{Status: 429, Header: header("Retry-After", "1.5")},
			1500 * time.Millisecond, 1500 * time.Millisecond, ""},
		{"milliseconds win",
			modeltest.Answer{Status: 429, Header: http.Header{"Retry-After-Ms": {"2500"}, "Retry-After": {"9"}}},
			2500 * time.Millisecond, 2500 * time.Millisecond, ""},
		{"a date", modeltest.Answer{Status: 503, Header: header("Retry-After", date(9*time.Second))},
			8 * time.Second, 9 * time.Second, ""},
		{"a date that has passed", modeltest.Answer{Status: 503, Header: header("Retry-After", date(-time.Hour))},
			backoff / 2, backoff, ""},
		{"at once is not at once", modeltest.Answer{Status: 529, Header: header("Retry-After", "0")},
			backoff / 2, backoff, ""},
		{"nonsense is nothing", modeltest.Answer{Status: 429, Header: header("Retry-After", "NaN")},
			backoff / 2, backoff, ""},
		{"less than nothing is nothing", modeltest.Answer{Status: 429, Header: header("Retry-After", "-5")},
			backoff / 2, backoff, ""},
		{"nothing said", modeltest.Answer{Status: 500}, backoff / 2, backoff, ""},
		{"a connection that broke", modeltest.Answer{Reset: true}, backoff / 2, backoff, ""},
		{"an answer that broke off", modeltest.Answer{Cut: true}, backoff / 2, backoff, ""},
		{"longer than we would wait", modeltest.Answer{Status: 429, Header: header("Retry-After", "120")},
			0, 0, abi.CodeRateLimited},
		{"longer than there is time", modeltest.Answer{Status: 429, Header: header("Retry-After", "1e300")},
			0, 0, abi.CodeRateLimited},
		{"the provider says no", modeltest.Answer{Status: 500, Header: header("X-Should-Retry", "false")},
			0, 0, abi.CodeModel},
		{"no money comes from waiting", modeltest.Answer{Status: 429,
			Body: `{"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}}`},
			0, 0, abi.CodeModel},
		{"it will not fit a second time", modeltest.TooLong(9, 8), 0, 0, abi.CodeContextLength},
	} {
		t.Run(tc.why, func(t *testing.T) {
			eachWire(t, tc.why, func(t *testing.T, w modeltest.Wire) {
				s, at := modeltest.New(t, tc.first, modeltest.Answer{}), newClock()
				_, err := ask(t, at.config(s, w))
				if abi.CodeOf(err) != tc.code {
					t.Errorf("%v, want code %q", err, tc.code)
				}
				if tc.most == 0 {
					if len(at.waits) > 0 {
						t.Errorf("waited %v", at.waits)
					}
					return
				}
				if len(at.waits) != 1 || at.waits[0] < tc.least || at.waits[0] > tc.most {
					t.Errorf("waited %v, want once, %v to %v", at.waits, tc.least, tc.most)
				}
				if got := s.Requests(); len(got) != 2 || string(got[0].Body) != string(got[1].Body) || len(got[1].Body) == 0 {
					t.Errorf("the second try is not the first again: %d requests", len(got))
				}
			})
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	for _, tc := range []struct {
		why             string
		retries         int
		wait            time.Duration
		after           string
		requests, waits int
	}{
		{"twice by default", 0, 0, "1", 3, 2},
		{"never", -1, 0, "1", 1, 0},
		{"as configured", 5, 0, "1", 6, 5},
		{"all waits together within the default minute", 9, 0, "25", 3, 2},
		{"all waits together as configured", 9, 5 * time.Second, "2", 3, 2},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s, at := modeltest.New(t, modeltest.Answer{Status: 429, Header: header("Retry-After", tc.after)}), newClock()
			c := at.config(s, modeltest.OpenAI)
			c.Retries, c.MaxWait = tc.retries, tc.wait
			_, err := ask(t, c)
			if abi.CodeOf(err) != abi.CodeRateLimited || len(s.Requests()) != tc.requests || len(at.waits) != tc.waits {
				t.Errorf("%v after %d requests and %v", err, len(s.Requests()), at.waits)
			}
			if hint := abi.AsError(err).Hint; !strings.Contains(hint, tc.after+"s") {
				t.Errorf("the hint %q does not say how long", hint)
			}
		})
	}
}

func TestBackoffGrows(t *testing.T) {
	at := newClock()
	c := at.config(modeltest.New(t, modeltest.Answer{Status: 500}), modeltest.Ollama)
	c.Retries = 7
	if _, err := ask(t, c); err == nil {
		t.Fatal("no error")
	}
	for i, limit := range []time.Duration{500e6, 1e9, 2e9, 4e9, 8e9, 8e9, 8e9} {
		t.Run(fmt.Sprintf("wait %d up to %v", i, limit), func(t *testing.T) {
			if w := at.waits[i]; w < limit/2 || w > limit {
				t.Errorf("wait %d is %v, want %v to %v", i, w, limit/2, limit)
			}
		})
	}
}

// A wait that would outlast the caller is not begun.
func TestNoWaitBeyondTheDeadline(t *testing.T) {
	s, at := modeltest.New(t, modeltest.Answer{Status: 429, Header: header("Retry-After", "30")}), newClock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := newModel(t, at.config(s, modeltest.Anthropic)).Complete(ctx, abi.ModelRequest{Prompt: "x"})
	if abi.CodeOf(err) != abi.CodeRateLimited || len(at.waits) != 0 {
		t.Errorf("%v after %v", err, at.waits)
	}
}

// Waiting ends with the caller, and the error says what it was waiting for.
func TestCallerLeavesWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := config(modeltest.New(t, modeltest.Answer{Status: 503}), modeltest.OpenAI)
	c.Sleep = func(ctx context.Context, _ time.Duration) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	_, err := newModel(t, c).Complete(ctx, abi.ModelRequest{Prompt: "x"})
	if abi.CodeOf(err) != abi.CodeCanceled || !strings.Contains(err.Error(), "before that status 503") {
		t.Errorf("%v", err)
	}
}

// A hang after a refusal does not hide the refusal.
func TestTimeoutAfterARefusal(t *testing.T) {
	eachWire(t, "", func(t *testing.T, w modeltest.Wire) {
		c := config(modeltest.New(t, modeltest.Answer{Status: 503, Error: "warming up"}, modeltest.Answer{Hang: true}), w)
		c.Timeout = 50 * time.Millisecond
		c.Now = func() time.Time { return time.Now().Add(-time.Hour) } // as if there were time to wait
		_, err := ask(t, c)
		if abi.CodeOf(err) != abi.CodeDeadline || !strings.Contains(err.Error(), "before that status 503: warming up") {
			t.Error(err)
		}
	})
}

func TestRealSleep(t *testing.T) {
	s := modeltest.New(t, modeltest.Answer{Status: 503, Header: header("Retry-After-Ms", "1")}, modeltest.Answer{})
	c := config(s, modeltest.Ollama)
	c.Sleep = nil
	if got, err := ask(t, c); err != nil || got.Text != "ok" {
		t.Errorf("%+v, %v", got, err)
	}
}
