package session_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

// TestTheHostOwnsIt: a session is compacted before the call, at the one
// place where the list is made, and the report says so; below the threshold the
// model is given every message as it came.
func TestTheHostOwnsIt(t *testing.T) {
	features.Proves(t, "K1", "K2")
	c := newCompactor(t, kagewasm.Options{})
	var given [][]abi.Message
	s := open(t, c, 10_000, chat(60))
	d, err := s.Dispatch(t.Context(), said("x1", &given))
	if err != nil || d.Calls != 1 || d.Results[0].Report.ReasonCode != abi.ReasonBelowThreshold {
		t.Fatalf("%+v, %v", d, err)
	}
	if !reflect.DeepEqual(given[0], chat(60)) {
		t.Error("the model was not given the session as it came")
	}
	s = open(t, c, 400, chat(60))
	d, err = s.Dispatch(t.Context(), said("x1", &given))
	if err != nil || !d.Results[0].Report.Compacted {
		t.Fatalf("%+v, %v", d, err)
	}
	if ids(given[1]) != ids(d.Results[0].Messages) || !has(s.Messages(), "x1") {
		t.Error("the model was given something else than the report says")
	}
}

// TestReactiveRetry: a request that is refused as too long is compacted and
// sent once more, not twice; errors are never stored.
func TestReactiveRetry(t *testing.T) {
	features.Proves(t, "K3")
	tooLong := errors.New("This model's maximum context length is 300 tokens. However, your messages resulted in " +
		"900 tokens.")
	c := newCompactor(t, kagewasm.Options{})
	t.Run("once more", func(t *testing.T) {
		s := open(t, c, 10_000, chat(60))
		n := 0
		d, err := s.Dispatch(t.Context(), func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
			if n++; n == 1 {
				return []abi.Message{{ID: "never", Role: abi.RoleAssistant, Content: abi.Text("half an answer")}}, tooLong
			}
			return said("x", nil)(ctx, msgs)
		})
		if err != nil || d.Calls != 2 || len(d.Results) != 2 {
			t.Fatalf("%+v, %v", d, err)
		}
		r := d.Results[1].Report
		if !r.Compacted || d.Results[1].Record.Trigger != abi.TriggerOverflow {
			t.Errorf("reason %s, trigger %s", r.Reason, d.Results[1].Record.Trigger)
		}
		if r.TokensAfter > 300*r.TokensBefore/900 {
			t.Errorf("%d of %d tokens, where the provider takes a third", r.TokensAfter, r.TokensBefore)
		}
		for _, m := range s.All() {
			if m.ID == "never" {
				t.Error("what came with the error was stored")
			}
		}
		// The next look knows what the provider said.
		if d, err = s.Dispatch(t.Context(), said("y", nil)); err != nil || d.Results[0].Report.Window >= 10_000 {
			t.Errorf("window %d, %v", d.Results[0].Report.Window, err)
		}
	})
	t.Run("not twice", func(t *testing.T) {
		s := open(t, c, 10_000, chat(60))
		d, err := s.Dispatch(t.Context(), func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, tooLong })
		if !errors.Is(err, tooLong) || d.Calls != 2 {
			t.Errorf("%d calls, %v", d.Calls, err)
		}
	})
	t.Run("not where nothing changed", func(t *testing.T) {
		s := open(t, c, 10_000, chat(0))
		before := s.Messages()
		d, err := s.Dispatch(t.Context(), func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, tooLong })
		if !errors.Is(err, tooLong) || d.Calls != 1 {
			t.Errorf("%d calls, %v", d.Calls, err)
		}
		if !reflect.DeepEqual(s.Messages(), before) {
			t.Error("the session changed")
		}
	})
	t.Run("figures of something else are not learned from", func(t *testing.T) {
		s := open(t, c, 10_000, chat(60))
		other := errors.New("prompt is too long: 210000 tokens > 200000 maximum")
		for range 5 {
			_, _ = s.Dispatch(t.Context(), func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, other })
		}
		if d, err := s.Dispatch(t.Context(), said("x", nil)); err != nil || d.Results[0].Report.Window != 10_000 {
			t.Errorf("window %d, %v", d.Results[0].Report.Window, err)
		}
	})
	t.Run("other errors are the caller's", func(t *testing.T) {
		s := open(t, c, 10_000, chat(60))
		other := errors.New("rate limit reached: tokens per minute")
		if d, err := s.Dispatch(t.Context(), func(context.Context, []abi.Message) ([]abi.Message, error) {
			return nil, other
		}); !errors.Is(err, other) || d.Calls != 1 {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

// TestDispatchWithoutTooLong: a host that does not say which errors mean that a
// request is too long gets them back, and the model is not called again.
func TestDispatchWithoutTooLong(t *testing.T) {
	tooLong := errors.New("prompt is too long: 900 tokens > 300 maximum")
	s, err := session.Open(t.Context(), newCompactor(t, kagewasm.Options{}),
		session.Options{Session: abi.Session{ID: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), chat(60)...); err != nil {
		t.Fatal(err)
	}
	d, err := s.Dispatch(t.Context(), func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, tooLong })
	if !errors.Is(err, tooLong) || d.Calls != 1 || len(d.Results) != 1 || len(s.Compactions()) != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestRecovery: without anybody to compact, a refused request is an error
// at once that says so; what cannot be made to fit is not sent at all.
func TestRecovery(t *testing.T) {
	features.Proves(t, "A11")
	tooLong := errors.New("prompt is too long: 210000 tokens > 200000 maximum")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{NoFloor: true}})
	s := open(t, c, 10_000, chat(60))
	d, err := s.Dispatch(t.Context(), func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, tooLong })
	if abi.CodeOf(err) != abi.CodeNoCompactor || abi.AsError(err).Hint == "" || d.Calls != 1 {
		t.Errorf("%d calls, %v", d.Calls, err)
	}
	c = newCompactor(t, kagewasm.Options{})
	s = open(t, c, 5, chat(3))
	d, err = s.Dispatch(t.Context(), said("x", nil))
	if abi.CodeOf(err) != abi.CodeExceedsWindow || d.Calls != 0 || d.Results[0].Report.Warning == "" {
		t.Errorf("%d calls, warning %q, %v", d.Calls, d.Results[0].Report.Warning, err)
	}
}

// TestOneCallAtATime: a call waits for the one in flight.
func TestOneCallAtATime(t *testing.T) {
	features.Proves(t, "K8")
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 10_000, chat(3))
	started, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	var seen []string
	wg.Go(func() {
		_, _ = s.Dispatch(t.Context(), func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
			close(started)
			<-release
			seen = append(seen, "first")
			return said("first", nil)(ctx, msgs)
		})
	})
	<-started
	wg.Go(func() {
		_, err := s.Dispatch(t.Context(), func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
			seen = append(seen, "second")
			if !has(msgs, "first") {
				t.Error("the second call was not given the answer of the first")
			}
			return said("second", nil)(ctx, msgs)
		})
		if err != nil {
			t.Error(err)
		}
	})
	gaveUp, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.Dispatch(gaveUp, said("third", nil)); abi.CodeOf(err) != abi.CodeCanceled {
		t.Errorf("whoever gives up waiting: %v", err)
	}
	close(release)
	wg.Wait()
	if !reflect.DeepEqual(seen, []string{"first", "second"}) {
		t.Errorf("called %v", seen)
	}
}

// TestCacheOfWhatWasSent: a compaction between two calls costs the provider's
// cache at the next call, and that is where the report says so: what the model
// was never sent is in no cache.
func TestCacheOfWhatWasSent(t *testing.T) {
	features.Proves(t, "I1")
	for _, strategy := range []string{kagewasm.StrategyDrop, kagewasm.StrategyCheckpoint} {
		t.Run(strategy, func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: strategy}})
			s := open(t, c, 10_000, chat(60))
			if _, err := s.Dispatch(t.Context(), said("x1", nil)); err != nil {
				t.Fatal(err)
			}
			r, err := s.Compact(t.Context(), kagewasm.Request{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Pending != nil {
				if r, err = s.Approve(t.Context(), s.Pending().ID); err != nil {
					t.Fatal(err)
				}
			}
			first := r.Report.Metrics.Cache
			d, err := s.Dispatch(t.Context(), said("x2", nil))
			if err != nil {
				t.Fatal(err)
			}
			if cache := d.Results[0].Report.Metrics.Cache; cache.PrefixTokens != first.PrefixTokens || cache.HitRate > 0.5 {
				t.Errorf("%+v after a compaction that left %+v", cache, first)
			}
			if d, err = s.Dispatch(t.Context(), said("x3", nil)); err != nil || d.Results[0].Report.Metrics.Cache.HitRate < 0.9 {
				t.Errorf("%+v where the list only grew, %v", d.Results[0].Report.Metrics.Cache, err)
			}
		})
	}
}

// TestGiantsOfTheFirstTurn: two giant results before anything could
// go are cut down where they leave no room under the target, and no session is stuck
// for that; below the threshold they stay.
func TestGiantsOfTheFirstTurn(t *testing.T) {
	features.Proves(t, "complaint 5")
	giant := abi.Text(strings.Repeat("a line of a file ", 200)) // 1,000 words
	msgs := append(chat(0)[:2], abi.Message{ID: "a", Role: abi.RoleAssistant,
		ToolCalls: []abi.ToolCall{{ID: "c", Name: "read"}, {ID: "d", Name: "read"}}},
		abi.Message{ID: "r", Role: abi.RoleTool, ToolCallID: "c", Content: giant}, abi.Message{ID: "q", Role: abi.RoleTool,
			ToolCallID: "d", Content: giant})
	for _, tc := range []struct {
		window int
		pruned int
	}{{1500, 2}, {2500, 0}} {
		t.Run(fmt.Sprintf("window of %d", tc.window), func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{})
			s := open(t, c, tc.window, msgs)
			d, err := s.Dispatch(t.Context(), said("x", nil))
			if err != nil || d.Calls != 1 {
				t.Fatalf("%d calls, %v", d.Calls, err)
			}
			r := d.Results[0].Report
			if r.Pruned.Count != tc.pruned || r.TokensAfter > tc.window || r.Compacted {
				t.Errorf("%d shortened, %d tokens, %s", r.Pruned.Count, r.TokensAfter, r.Reason)
			}
		})
	}
}

// TestGiantsBeforeCompactors: a compactor is given a giant result of the
// current turn cut down already, so that a list which keeps it fits.
func TestGiantsBeforeCompactors(t *testing.T) {
	features.Proves(t, "N2")
	msgs := append(chat(20), abi.Message{ID: "a", Role: abi.RoleAssistant,
		ToolCalls: []abi.ToolCall{{ID: "c", Name: "read"}}},
		abi.Message{ID: "r", Role: abi.RoleTool, ToolCallID: "c",
			Content: abi.Text(strings.Repeat("a line of a file ", 200))})
	keepsTheEnd := compactor(func(in *abi.Input) (*abi.Output, error) {
		out := &abi.Output{Summary: "Looked around."}
		for i, m := range in.Messages {
			if m.Pinned || i >= len(in.Messages)-3 {
				out.Messages = append(out.Messages, abi.OutputMessage{Ref: m.ID})
			}
		}
		return out, nil
	})
	c := newCompactor(t, kagewasm.Options{Plugins: plugins(keepsTheEnd),
		Policy: kagewasm.Policy{Strategy: kagewasm.StrategyDelegate}})
	s := open(t, c, 800, msgs)
	d, err := s.Dispatch(t.Context(), said("x", nil))
	if err != nil {
		t.Fatal(err)
	}
	r := d.Results[0].Report
	if r.TokensAfter > r.Target || r.Strategy != kagewasm.StrategyDelegate || r.Fallback || !has(s.Messages(), "r") {
		t.Errorf("%d tokens by %s, fallback %v: %v", r.TokensAfter, r.Strategy, r.Fallback, r.Failures)
	}
}
