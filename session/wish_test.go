package session_test

import (
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

// callCompact is the agent's call of its tool.
func callCompact(t *testing.T, s *session.Session) {
	t.Helper()
	if _, ok, err := (session.Tools{}).Answer(s, "compact", `{"focus":"the store"}`); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
}

// TestAgentAsksWithoutEndOfTurn: where the host never says that a turn has ended, what the
// agent asked for runs before the next call of its model outside of that turn.
func TestAgentAsksWithoutEndOfTurn(t *testing.T) {
	features.Proves(t, "I5")
	for _, tc := range []struct {
		name  string
		turns bool // the host says when they begin and end
	}{{"a host without turns", false}, {"a host whose turns begin and end", true}} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t, newCompactor(t, kagewasm.Options{}), 100_000, chat(60))
			begin := func() func() {
				if tc.turns {
					return s.BeginTurn()
				}
				return func() {}
			}
			end := begin()
			callCompact(t, s)
			if tc.turns {
				if d, err := s.Dispatch(t.Context(), said("x", nil)); err != nil || d.Results[0].Report.Compacted {
					t.Errorf("it ran inside the turn: %v", err)
				}
			}
			end()
			defer begin()()
			d, err := s.Dispatch(t.Context(), said("y", nil))
			if err != nil || !d.Results[0].Report.Compacted {
				t.Fatalf("it did not run: %v", err)
			}
			if rec := d.Results[0].Record; rec.Trigger != abi.TriggerAgent {
				t.Errorf("the record says %q", rec.Trigger)
			}
			if d, err := s.Dispatch(t.Context(), said("z", nil)); err != nil || d.Results[0].Report.Compacted {
				t.Errorf("it ran twice: %v", err)
			}
		})
	}
}

// TestWhoAskedIsTold: the record tells a plugin's request from the agent's.
func TestWhoAskedIsTold(t *testing.T) {
	features.Proves(t, "I5", "O4")
	p := &fakePlugin{Name: "obs", Turn: answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{}}),
		Grants: []abi.Capability{abi.CapCompactionRequest}}
	for _, tc := range []struct {
		name  string
		agent bool
		want  abi.TriggerReason
	}{{"the agent, and then a plugin", true, abi.TriggerAgent}, {"a plugin", false, abi.TriggerPlugin}} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), 100_000, chat(60))
			if tc.agent {
				callCompact(t, s)
			}
			if _, r, err := s.EndOfTurn(t.Context()); err != nil || r == nil || r.Record.Trigger != tc.want {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// TestAnyCompactionAnswersTheAgent: what was asked for is not made a second time after a
// compaction that came for another reason.
func TestAnyCompactionAnswersTheAgent(t *testing.T) {
	features.Proves(t, "I5")
	for _, tc := range []struct {
		name   string
		window int
		run    func(*testing.T, *session.Session) (*kagewasm.Result, error)
	}{
		{"by hand", 100_000, func(t *testing.T, s *session.Session) (*kagewasm.Result, error) {
			return s.Compact(t.Context(), kagewasm.Request{})
		}},
		{"for the threshold, inside the turn", 600, func(t *testing.T, s *session.Session) (*kagewasm.Result, error) {
			defer s.BeginTurn()()
			callCompact(t, s)
			d, err := s.Dispatch(t.Context(), said("x", nil))
			return d.Results[0], err
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t, newCompactor(t, kagewasm.Options{}), tc.window, chat(60))
			callCompact(t, s)
			if r, err := tc.run(t, s); err != nil || !r.Report.Compacted {
				t.Fatalf("%+v, %v", r, err)
			}
			if _, r, err := s.EndOfTurn(t.Context()); err != nil || r != nil {
				t.Errorf("it is still asked for: %v", err)
			}
		})
	}
	t.Run("not by a dry run", func(t *testing.T) {
		s := open(t, newCompactor(t, kagewasm.Options{}), 100_000, chat(60))
		callCompact(t, s)
		if _, err := s.Compact(t.Context(), kagewasm.Request{DryRun: true}); err != nil {
			t.Fatal(err)
		}
		if _, r, err := s.EndOfTurn(t.Context()); err != nil || r == nil || !r.Report.Compacted {
			t.Errorf("a dry run answered it: %v", err)
		}
	})
}
