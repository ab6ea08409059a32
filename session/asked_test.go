package session_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/session"
)

// asksIn is a plugin that asks for a compaction each time it hears of one, before it or after it.
func asksIn(hook abi.Hook) *fakePlugin {
	p := &fakePlugin{Name: "obs", Grants: []abi.Capability{abi.CapCompactionRequest}}
	asks := answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the store"}})
	if hook == abi.HookPreCompact {
		p.Pre = asks
	} else {
		p.Post = asks
	}
	return p
}

func triggers(s *session.Session) []abi.TriggerReason {
	return lists.Map(s.Compactions(), func(r abi.Record) abi.TriggerReason { return r.Trigger })
}

// look makes a call of the model.
func look(t *testing.T, s *session.Session) {
	t.Helper()
	silent := func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, nil }
	if _, err := s.Dispatch(t.Context(), silent); err != nil {
		t.Fatal(err)
	}
}

// TestAskedInTheMiddleOfATurn: what a plugin asks for in a compaction of an open turn runs when the turn is over, once:
// at its end, and where nobody tells of that before the first call behind it.
func TestAskedInTheMiddleOfATurn(t *testing.T) {
	features.Proves(t, "T2")
	for _, hook := range []abi.Hook{abi.HookPreCompact, abi.HookPostCompact} {
		for _, told := range []bool{true, false} {
			t.Run(string(hook), func(t *testing.T) {
				p := asksIn(hook)
				s := open(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), 600, chat(60))
				end := s.BeginTurn()
				for range 3 {
					look(t, s)
				}
				if got := triggers(s); !slices.Equal(got, []abi.TriggerReason{abi.TriggerThreshold}) {
					t.Fatalf("in the turn: %v", got)
				}
				end()
				if told {
					if _, r, err := s.EndOfTurn(t.Context()); err != nil || r == nil {
						t.Fatalf("nothing runs at the end of the turn: %v", err)
					}
				}
				for range 3 {
					look(t, s)
				}
				asked := p.Calls(hook)
				if len(asked) != 2 || asked[1].Trigger.Reason != abi.TriggerPlugin ||
					asked[1].Trigger.Instructions != "obs: the store" {
					t.Errorf("it was called %d times: %+v", len(asked), asked[len(asked)-1].Trigger)
				}
				if left := s.Requested(); len(left) != 0 {
					t.Errorf("still asked for: %v", left)
				}
			})
		}
	}
}

// TestAskingForEver: a plugin that asks in each compaction, by hand or not, has one more each time, and no other.
func TestAskingForEver(t *testing.T) {
	features.Proves(t, "T2")
	p := asksIn(abi.HookPostCompact)
	s := open(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), 100_000, chat(60))
	if _, err := s.Compact(t.Context(), kagewasm.Request{}); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		look(t, s)
		if _, _, err := s.EndOfTurn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(p.Calls(abi.HookPostCompact)); n > 2 {
		t.Errorf("%d compactions for one by hand: %v", n, triggers(s))
	}
}

// TestCompactionsAnswerWhatWasAskedInOne: one that comes before the end of the turn answers what a plugin asked for,
// and a dry run neither answers it nor asks.
func TestCompactionsAnswerWhatWasAskedInOne(t *testing.T) {
	features.Proves(t, "T2")
	asks := true
	p := asksIn(abi.HookPostCompact)
	post := p.Post
	p.Post = func(in *abi.Input) (*abi.Output, error) {
		if !asks {
			return nil, nil
		}
		return post(in)
	}
	s := open(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), 100_000, chat(60))
	compact := func(dry bool) *kagewasm.Result {
		t.Helper()
		r, err := s.Compact(t.Context(), kagewasm.Request{DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := compact(true); len(s.Requested()) != 0 || len(r.Report.Wishes) != 1 {
		t.Errorf("a dry run asks: %v, %v", s.Requested(), r.Report.Wishes)
	}
	if r := compact(false); len(s.Requested()) != 1 || len(r.Report.Wishes) != 1 || s.Requested()[0].Plugin != "obs" {
		t.Errorf("held: %v, reported %v", s.Requested(), r.Report.Wishes)
	}
	asks = false
	if compact(true); len(s.Requested()) != 1 {
		t.Error("a dry run answers it")
	}
	if err := s.Append(t.Context(), renamed(chat(60), "more-")...); err != nil {
		t.Fatal(err)
	}
	if r := compact(false); !r.Report.Compacted || len(s.Requested()) != 0 {
		t.Errorf("a compaction does not answer it: %v", s.Requested())
	}
}

// TestWaitingObserversAsk: a plugin that is not waited for asks all the same, whenever it ends.
func TestWaitingObserversAsk(t *testing.T) {
	features.Proves(t, "T2")
	goes := make(chan struct{})
	p := asksIn(abi.HookPostCompact)
	post := p.Post
	p.Post = func(in *abi.Input) (*abi.Output, error) { <-goes; return post(in) }
	c := newCompactor(t, kagewasm.Options{Plugins: plugins(p), Policy: kagewasm.Policy{ObserverWaitMS: 1}})
	s := open(t, c, 100_000, chat(60))
	if _, err := s.Compact(t.Context(), kagewasm.Request{}); err != nil || len(s.Requested()) != 0 {
		t.Fatalf("%v, %v", err, s.Requested())
	}
	close(goes)
	if err := c.Wait(context.Background()); err != nil || len(s.Requested()) != 1 {
		t.Errorf("%v, %v", err, s.Requested())
	}
}

// TestHeldRequests: a host that keeps what was asked for may hold it again in another process.
func TestHeldRequests(t *testing.T) {
	features.Proves(t, "T2")
	p := asksIn(abi.HookPreCompact)
	first := open(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), 100_000, chat(60))
	if _, err := first.Compact(t.Context(), kagewasm.Request{}); err != nil {
		t.Fatal(err)
	}
	second := open(t, newCompactor(t, kagewasm.Options{}), 100_000, chat(60))
	for _, w := range first.Requested() {
		second.Request(w)
	}
	look(t, second)
	if got := second.Compactions(); len(got) != 1 || got[0].Trigger != abi.TriggerPlugin ||
		!strings.HasPrefix(string(got[0].ID), "cmp-") {
		t.Errorf("%+v", got)
	}
}
