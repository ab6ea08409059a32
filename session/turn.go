package session

import (
	"context"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// BeginTurn says that a turn of the agent begins: from the request of a person to the answer, with all
// tool calls between. Call end when the turn is over: until then [Session.Compact] returns an error.
// Hosts that never call BeginTurn have turns of one call each.
func (s *Session) BeginTurn() (end func()) { return s.gate.beginTurn() }

// EndOfTurn says that a turn has completed successfully, and tells plugins so. It then runs the
// compaction that they or the agent asked for, or that is due: in the background where the policy says
// so, else before EndOfTurn returns. The result is nil where none ran. Where a host never calls it,
// plugins are not told of turns, and a compaction that the agent asks for runs before the next call of
// its model.
func (s *Session) EndOfTurn(ctx context.Context) (*kagewasm.Turn, *kagewasm.Result, error) {
	look := s.state.request(abi.TriggerThreshold)
	look.Search = searchOf(s)
	turn, err := s.compactor.TurnEnd(ctx, look.Request)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range turn.Wishes {
		s.state.want(0, w)
	}
	if turn.Background {
		req := s.state.wished(abi.TriggerIdle, 0)
		s.state.background(ctx, req.wished,
			func(ctx context.Context) (*kagewasm.Result, error) { return s.lookOnce(ctx, req) })
		return turn, nil, nil
	}
	req := s.state.wished(abi.TriggerThreshold, 0)
	if req.wished == 0 && turn.Wanted == nil {
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
	return turn, result, err
}

// Background returns the session's last compaction in the background, and starts none. Before the first it
// is nil, which can be polled as well.
func (s *Session) Background() *Job { return s.state.lastJob() }
