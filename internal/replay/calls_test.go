package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/replay"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/tokens"
)

var counter = sessiongen.Counter{}

// options replay a log with a policy, in a window.
func options(t testing.TB, msgs []abi.Message, window int, p kagewasm.Policy) replay.Options {
	t.Helper()
	c, err := kagewasm.New(kagewasm.Options{Counter: counter, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return replay.Options{Compactor: c, Counter: counter, Messages: msgs,
		Session: abi.Session{ID: "s", Model: "test", ContextWindow: &window}}
}

func run(t testing.TB, o replay.Options) replay.Result {
	t.Helper()
	s, err := replay.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCallByCall: each assistant message is one call, sent all that stands
// before it; what was sent before is cached, to the token.
func TestCallByCall(t *testing.T) {
	features.Proves(t, "N3")
	msgs := sessiongen.Long(5, 10)
	msgs = append(msgs, abi.Message{ID: "end", Role: abi.RoleAssistant, Content: abi.Text("Done.")})
	o := options(t, msgs, 100_000, kagewasm.Policy{})
	o.Overhead = 100
	o.Prices = &tokens.Prices{Rates: tokens.Rates{Input: 1e6, Output: 1e12, CacheRead: 1, CacheWrite: 1e6}}
	var want replay.Stats
	before, sent, last := 0, 0, -1
	for i := range msgs {
		if msgs[i].Role == abi.RoleAssistant {
			want.Calls++
			want.InputTokens += 100 + before
			want.OutputTokens += counter.Message(&msgs[i])
			if last >= 0 {
				want.CachedTokens += 100 + sent
			}
			sent, last = before, i
		}
		before += counter.Message(&msgs[i])
	}
	var seen []int
	o.Observe = func(s replay.Step) {
		if s.Sent {
			seen = append(seen, s.At)
			if !reflect.DeepEqual(s.After, msgs[:s.At]) || len(s.Results) != 1 || s.Call != len(seen) {
				t.Errorf("call %d was sent %d messages of %d, after %d looks", s.Call, len(s.After), s.At, len(s.Results))
			}
		}
	}
	got := run(t, o)
	if got.Calls != want.Calls || got.InputTokens != want.InputTokens || got.OutputTokens != want.OutputTokens ||
		got.CachedTokens != want.CachedTokens {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if got.ReportedTokens != got.CachedTokens || got.CachedShare != float64(got.CachedTokens)/float64(got.InputTokens) {
		t.Errorf("reported %d, share %v of %+v", got.ReportedTokens, got.CachedShare, want)
	}
	if fmt.Sprint(seen) != "[2 4 6 8 10 13]" {
		t.Errorf("calls at %v", seen)
	}
	cost := float64(want.CachedTokens)/1e6 + float64(want.InputTokens-want.CachedTokens) + float64(want.OutputTokens)*1e6
	if diff := got.Cost.Primary - cost; got.Cost.Unknown || diff > 1e-3 || diff < -1e-3 {
		t.Errorf("cost %+v, want %v", got.Cost, cost)
	}
	o.TokenScale, o.Observe = 2, nil
	if twice := run(t, o); math.Abs(twice.Cost.Primary-2*cost) > 1e-3 || twice.InputTokens != got.InputTokens {
		t.Errorf("where a counted token is two of the model's: %+v, want a cost of %v", twice, 2*cost)
	}
}

// TestCompactions: what compactions came to is counted, also in sum.
func TestCompactions(t *testing.T) {
	features.Proves(t, "N3")
	o := options(t, sessiongen.Long(60, 60), 2_000, kagewasm.Policy{})
	o.Missing = func(summary string) []string {
		if strings.Contains(summary, "## Exact names") {
			return nil
		}
		return []string{"names"}
	}
	compacted, superseded := 0, 0
	o.Observe = func(s replay.Step) {
		for _, r := range s.Results {
			if r.Report.Compacted {
				compacted++
				superseded += len(r.Report.Superseded)
			}
		}
	}
	s := run(t, o)
	if s.Calls != 60 || s.Compactions != compacted || compacted < 3 || s.Superseded != superseded ||
		s.Per100Calls != 100*(float64(compacted)/60) {
		t.Errorf("%+v of %d compactions", s, compacted)
	}
	if s.Ratio < 1.2 || s.TokensBefore <= s.TokensAfter ||
		s.Summaries != (replay.Share{Of: compacted, Whole: compacted}) || !s.Cost.Unknown {
		t.Errorf("%+v", s)
	}
	if s.CachedShare < 0.5 || s.CachedShare > 0.95 || s.ReportedTokens != s.CachedTokens {
		t.Errorf("cached %v, %d of them reported", s.CachedShare, s.ReportedTokens)
	}
	if s.LargestRequest == 0 || s.LargestRequest > 2_000 || s.OverWindow != 0 || s.WordsKept <= 0 {
		t.Errorf("%+v", s)
	}
	sum := s.Stats
	sum.Failures, sum.Reasons, sum.Strategies = nil, nil, nil
	sum.Add(s.Stats)
	if sum.Compactions != 2*compacted || sum.CachedShare != s.CachedShare || sum.Per100Calls != s.Per100Calls ||
		sum.WordsKept != s.WordsKept || sum.LargestRequest != s.LargestRequest || sum.Summaries.Of != 2*compacted ||
		sum.Reasons[abi.ReasonCompacted] != s.Reasons[abi.ReasonCompacted] ||
		sum.Continuation.Compactions != 2*s.Continuation.Compactions {
		t.Errorf("twice %+v\nis %+v", s, sum)
	}
	doc, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(doc), `"compactions_per_100_calls":`) ||
		!strings.Contains(string(doc), `"task_continuation":{"compactions":`) {
		t.Errorf("%s, %v", doc, err)
	}
}

// TestCacheAfterACompaction: of the request behind a compaction the cache serves what stands before the note, and no
// more: here the system prompt and the task. The largest request is the one before it.
func TestCacheAfterACompaction(t *testing.T) {
	features.Proves(t, "N3")
	msgs := work(nil, nil)
	o := options(t, msgs, oneCompaction(msgs, 1), bare)
	o.Overhead = 7
	cached, input, largest, compacted, last := 0, 0, 0, false, 0
	o.Observe = func(s replay.Step) {
		if !s.Sent {
			return
		}
		n := o.Overhead
		for i := range s.After {
			n += counter.Message(&s.After[i])
		}
		switch {
		case s.Results[0].Report.Compacted:
			compacted, cached = true, cached+o.Overhead+counter.Message(&msgs[0])+counter.Message(&msgs[1])
		case last > 0:
			cached += last
		}
		last, input, largest = n, input+n, max(largest, n)
	}
	s := run(t, o)
	if !compacted || s.CachedTokens != cached || s.InputTokens != input || s.LargestRequest != largest ||
		s.OverWindow != 0 {
		t.Errorf("compacted %v: %+v\nwant %d of %d cached, %d at most", compacted, s, cached, input, largest)
	}
	if s.WordsKept != 1 {
		t.Errorf("nobody's words went, and %v are kept", s.WordsKept)
	}
}

// TestCheckpoints: compactions that wait are approved; where the operator
// rejects them all, the calls are not made, and the log goes on.
func TestCheckpoints(t *testing.T) {
	features.Proves(t, "K29")
	msgs := sessiongen.Long(60, 60)
	o := options(t, msgs, 2_000, kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint})
	dropped := run(t, options(t, msgs, 2_000, kagewasm.Policy{}))
	if s := run(t, o); s.Compactions != dropped.Compactions || s.Unsent != 0 || s.CachedTokens != dropped.CachedTokens ||
		s.ReportedTokens != s.CachedTokens {
		t.Errorf("approved: %+v\ndropped: %+v", s, dropped)
	}
	o = options(t, msgs, 2_000, kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint})
	o.Reject = true
	var last *session.Session
	o.Observe = func(s replay.Step) {
		if last = s.Session; s.Err != nil && abi.CodeOf(s.Err) != abi.CodeBusy {
			t.Errorf("call %d: %v", s.Call, s.Err)
		}
	}
	if s := run(t, o); s.Compactions != 0 || s.Unsent == 0 || s.Calls != 60 || len(last.Messages()) != len(msgs) {
		t.Errorf("left undecided: %+v", s)
	}
}

// TestUnsent: a call that cannot be made to fit is counted, and the log goes
// on with its answer.
func TestUnsent(t *testing.T) {
	features.Proves(t, "A11")
	msgs := sessiongen.Long(3, 5)
	msgs[1].Content = abi.Text(strings.Repeat("a long request ", 500))
	var codes []abi.Code
	o := options(t, msgs, 200, kagewasm.Policy{})
	o.Observe = func(s replay.Step) { codes = append(codes, abi.CodeOf(s.Err)) }
	if s := run(t, o); s.Calls != 3 || s.Unsent != 3 || s.InputTokens != 0 || s.CachedShare != 0 {
		t.Errorf("%+v", s)
	}
	if len(codes) < 3 || codes[0] != abi.CodeExceedsWindow {
		t.Errorf("codes %v", codes)
	}
}

func TestErrors(t *testing.T) {
	msgs := sessiongen.Long(2, 5)
	twice := append(sessiongen.Long(2, 5), msgs[1])
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		why string
		ctx context.Context
		o   replay.Options
		is  abi.Code
	}{
		{"no compactor", t.Context(), replay.Options{Counter: counter}, abi.CodeUsage},
		{"no counter", t.Context(), func() replay.Options {
			o := options(t, msgs, 500, kagewasm.Policy{})
			o.Counter = nil
			return o
		}(), abi.CodeUsage},
		{"no id", t.Context(), func() replay.Options {
			o := options(t, msgs, 500, kagewasm.Policy{})
			o.Session.ID = ""
			return o
		}(), abi.CodeUsage},
		{"no window", t.Context(), options(t, msgs, -1, kagewasm.Policy{}), abi.CodeUsage},
		{"an id twice", t.Context(), options(t, twice, 500, kagewasm.Policy{}), abi.CodeUsage},
		{"a caller that gave up", canceled, options(t, msgs, 500, kagewasm.Policy{}), abi.CodeCanceled},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if _, err := replay.Run(tc.ctx, tc.o); abi.CodeOf(err) != tc.is {
				t.Error(err)
			}
		})
	}
}
