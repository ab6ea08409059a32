package session

import (
	"context"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// BeginTurn says that a turn of the agent begins: from the request of a person
// to the answer, with all tool calls between. [Session.Compact] fails until the
// function it returns is called. Hosts that never call BeginTurn have turns of
// one call each.
func (s *Session) BeginTurn() (end func()) { return s.gate.beginTurn() }

// EndOfTurn says that a turn has completed successfully. Plugins hear of it.
// Then runs the compaction that they, a tool or the host asked for, or that is
// due: in the background where the policy says so, else before EndOfTurn
// returns. The result is nil where none ran.
func (s *Session) EndOfTurn(ctx context.Context) (*kagewasm.Turn, *kagewasm.Result, error) {
	turn, err := s.compactor.TurnEnd(ctx, s.state.request(abi.TriggerThreshold))
	if err != nil {
		return nil, nil, err
	}
	if w := turn.Wanted; w != nil && w.Reason == abi.TriggerPlugin {
		s.Request(w.Instructions)
	}
	if turn.Background {
		req, asked := s.state.wish(abi.TriggerIdle)
		s.state.background(ctx, func(ctx context.Context) (*kagewasm.Result, error) {
			result, err := s.lookOnce(ctx, req)
			s.granted(asked, err)
			return result, err
		})
		return turn, nil, nil
	}
	req, asked := s.state.wish(abi.TriggerThreshold)
	if asked == 0 && turn.Wanted == nil {
		return turn, nil, nil
	}
	if err := s.gate.enter(ctx); err != nil {
		return turn, nil, err
	}
	defer s.gate.leave()
	if err := s.state.paused(); err != nil {
		return turn, nil, err
	}
	result, err := s.look(ctx, req)
	s.granted(asked, err)
	return turn, result, err
}

// granted forgets the requests if the look that answered them succeeded.
func (s *Session) granted(asked int, err error) {
	if code := abi.CodeOf(err); code == "" || code == abi.CodeExceedsWindow {
		s.state.granted(asked)
	}
}

// Background is the session's last compaction in the background, nil before the
// first.
func (s *Session) Background() *Job { return s.state.lastJob() }
