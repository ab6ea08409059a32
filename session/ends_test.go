package session_test

import (
	"context"
	"slices"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

// asksAtTheEnd is a plugin that asks for a compaction at the end of each turn.
func asksAtTheEnd() *fakePlugin {
	return &fakePlugin{Name: "obs", Grants: []abi.Capability{abi.CapCompactionRequest},
		Turn: answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the store"}})}
}

// soon fails the test where something does not happen.
func soon(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s: not within a minute", what)
	}
}

// TestEndOfTurnInACall: a host that says within a call of the model that the turn has ended does not wait for itself.
// What plugins asked for runs when the call has ended, before any other call.
func TestEndOfTurnInACall(t *testing.T) {
	features.Proves(t, "O4", "K8")
	for name, background := range map[string]bool{"in line": false, "in the background": true} {
		t.Run(name, func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{Plugins: plugins(asksAtTheEnd()),
				Policy: kagewasm.Policy{When: kagewasm.When{Background: background}}})
			s := open(t, c, 100_000, chat(60))
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, err := s.Dispatch(t.Context(), func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
					turn, r, err := s.EndOfTurn(ctx)
					if err != nil || r != nil || len(turn.Wishes) != 1 || !s.Background().Waiting() {
						t.Errorf("%+v, %+v, %v", turn, r, err)
					}
					_, job, err := s.TurnEnded(ctx)
					if err != nil || job != s.Background() {
						t.Errorf("another one, and the first waits: %v", err)
					}
					if len(s.Compactions()) != 0 {
						t.Error("it ran in the call")
					}
					return said("x", nil)(ctx, msgs)
				})
				if err != nil {
					t.Error(err)
				}
			}()
			soon(t, "the call", ended)
			job := s.Background()
			soon(t, "the compaction", job.Done())
			r, _, err := job.Poll()
			if err != nil || !r.Report.Compacted || r.Record.Trigger != abi.TriggerPlugin || len(s.Requested()) != 0 ||
				job.Waiting() {
				t.Fatalf("%+v, %v", r, err)
			}
			if !has(s.Messages(), "x") {
				t.Error("the answer of the call is lost")
			}
		})
	}
}

// TestTheNextCallWaits: a compaction that waited for a call comes before the next call, which sees what it left.
func TestTheNextCallWaits(t *testing.T) {
	features.Proves(t, "O4")
	s := open(t, newCompactor(t, kagewasm.Options{Plugins: plugins(asksAtTheEnd())}), 100_000, chat(60))
	_, err := s.Dispatch(t.Context(), func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
		_, _, err := s.EndOfTurn(ctx)
		return nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	var given [][]abi.Message
	d, err := s.Dispatch(t.Context(), said("x", &given))
	if err != nil || d.Results[0].Report.Compacted || !slices.Equal(triggers(s), []abi.TriggerReason{abi.TriggerPlugin}) ||
		len(given[0]) >= 60 {
		t.Errorf("%v, %v, %d messages", err, triggers(s), len(given[0]))
	}
}

// TestTurnsThatOverlap: what a plugin or the agent asked for, in the middle of a turn or at its end, waits until none
// is open, and then runs once. A turn that is begun in the meantime holds it up too.
func TestTurnsThatOverlap(t *testing.T) {
	features.Proves(t, "T2", "O4")
	inCompaction := asksIn(abi.HookPreCompact)
	for name, c := range map[string]struct {
		plugin *fakePlugin
		window int
		agent  bool
		want   []abi.TriggerReason
	}{
		"a plugin in the middle": {inCompaction, 600, false, []abi.TriggerReason{abi.TriggerThreshold, abi.TriggerPlugin}},
		"a plugin at the end":    {asksAtTheEnd(), 100_000, false, []abi.TriggerReason{abi.TriggerPlugin}},
		"the agent":              {&fakePlugin{Name: "silent"}, 100_000, true, []abi.TriggerReason{abi.TriggerAgent}},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, newCompactor(t, kagewasm.Options{Plugins: plugins(c.plugin)}), c.window, chat(60))
			first, second := s.BeginTurn(), s.BeginTurn()
			look(t, s)
			if c.agent {
				s.Request(hooks.Wish{Instructions: "the store"})
			}
			mid := len(triggers(s))
			ends := func(end func()) *kagewasm.Result {
				t.Helper()
				end()
				_, r, err := s.EndOfTurn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			if r := ends(first); r != nil {
				t.Error("the second turn is open")
			}
			third := s.BeginTurn()
			look(t, s)
			if r := ends(second); r != nil {
				t.Error("the third turn is open")
			}
			look(t, s)
			if got := triggers(s); len(got) != mid {
				t.Fatalf("a turn is open: %v", got)
			}
			if r := ends(third); r == nil {
				t.Error("no turn is open, and nothing ran")
			}
			if got := triggers(s); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// TestJobsThatWaitAreCanceled: a compaction that waits for a call may be given up. What was asked for stays asked for.
func TestJobsThatWaitAreCanceled(t *testing.T) {
	features.Proves(t, "O4")
	s := open(t, newCompactor(t, kagewasm.Options{Plugins: plugins(asksAtTheEnd())}), 100_000, chat(60))
	var job *session.Job
	_, err := s.Dispatch(t.Context(), func(ctx context.Context, _ []abi.Message) (_ []abi.Message, err error) {
		_, job, err = s.TurnEnded(ctx)
		job.Cancel()
		return nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, done, err := job.Poll(); !done || abi.CodeOf(err) != abi.CodeCanceled || len(s.Requested()) != 1 {
		t.Errorf("%v, %v, %v", done, err, s.Requested())
	}
	look(t, s)
	if got := triggers(s); !slices.Equal(got, []abi.TriggerReason{abi.TriggerPlugin}) {
		t.Errorf("%v", got)
	}
}
