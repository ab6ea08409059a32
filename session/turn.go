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

// EndOfTurn says that a turn has completed successfully, and tells plugins so. What they or the agent
// asked for, or what is due, runs when no turn is open and no call of the model is in flight. Where that
// is so EndOfTurn waits for it and returns the result, unless the policy wants it in the background. Else
// it returns at once, and the end of the last turn or call starts it: [Session.Background] has it. So it
// may be called from anywhere, within a call of the model too. The result is nil where none ran. Where a
// host never calls it, plugins are not told of turns, and a compaction that the agent asks for runs
// before the next call of its model.
func (s *Session) EndOfTurn(ctx context.Context) (*kagewasm.Turn, *kagewasm.Result, error) {
	turn, job, now, err := endOfTurn(ctx, s)
	if err != nil || !now || turn.Background {
		return turn, nil, err
	}
	select {
	case <-job.Done():
	case <-ctx.Done():
		job.Cancel()
		<-job.Done()
	}
	result, _, err := job.Poll()
	return turn, result, err
}

// TurnEnded is [Session.EndOfTurn] for hosts that do not wait for a compaction. It returns the one that runs now, or
// when the last turn or call has ended; nil where nobody asked for one and none is due.
func (s *Session) TurnEnded(ctx context.Context) (*kagewasm.Turn, *Job, error) {
	turn, job, _, err := endOfTurn(ctx, s)
	return turn, job, err
}

// endOfTurn tells plugins of the end of a turn, and returns the job that does what is wanted, and whether it runs now.
func endOfTurn(ctx context.Context, s *Session) (turn *kagewasm.Turn, job *Job, now bool, err error) {
	look := s.state.request(abi.TriggerThreshold)
	look.Search = searchOf(s)
	if turn, err = s.compactor.TurnEnd(ctx, look.Request); err != nil {
		return nil, nil, false, err
	}
	for _, w := range turn.Wishes {
		s.state.want(0, w)
	}
	background := turn.Background
	if !background && turn.Wanted == nil && len(s.state.requested()) == 0 {
		return turn, nil, false, nil
	}
	if err := s.state.paused(); err != nil {
		if background {
			err = nil // what was asked for is answered when the operator has decided
		}
		return turn, nil, false, err
	}
	job, fresh := s.state.task(ctx, background)
	var start func() func()
	if fresh {
		start = func() func() { return begin(s, job, background) }
	}
	return turn, job, s.gate.whenIdle(start), nil
}

// begin begins a job with the gate entered, and returns what does it. In the background others go on beside it.
func begin(s *Session, job *Job, background bool) (run func()) {
	if !job.begin() {
		return s.gate.leave
	}
	if background {
		return func() {
			look := s.state.wished(abi.TriggerIdle, 0, job)
			s.gate.leave()
			job.end(s.lookOnce(job.ctx, look))
		}
	}
	return func() {
		var result *kagewasm.Result
		err := s.state.paused()
		if err == nil {
			result, err = s.look(job.ctx, s.state.wished(abi.TriggerThreshold, 0, job))
		}
		s.gate.leave() // before who waits for the job goes on
		job.end(result, err)
	}
}

// Background returns the session's last compaction in the background or behind a turn, and starts none.
// Before the first it is nil, which can be polled as well.
func (s *Session) Background() *Job { return s.state.lastJob() }
