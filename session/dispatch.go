package session

import (
	"context"
	kagewasm "github.com/kagewasm/kagewasm"

	"github.com/kagewasm/kagewasm/abi"
)

// Call calls the agent's model with the messages and returns what it answered,
// to be added to the session. It returns when the answer is complete, also
// where that is streamed. Its errors come back from Dispatch as they are.
type Call func(ctx context.Context, messages []abi.Message) ([]abi.Message, error)

// Dispatched is one call of the agent's model, and what was done for it.
type Dispatched struct {
	// Messages is what the model answered.
	Messages []abi.Message
	// Results are the looks at the session before the call, and before its
	// retry.
	Results []*kagewasm.Result
	// Calls is how often the model was called: once, or twice where the first
	// one was refused as too long. It counts as one step of the agent.
	Calls int
}

// Dispatch makes the session fit, calls the model, and adds its answer to the
// session. Where another call is in flight it waits for it to end (FEATURES
// K8).
//
// Where the provider refuses the request as too long (Options.TooLong says
// which errors mean that) the session is compacted and the call made once more,
// not twice; where that compaction changed nothing the provider's error is
// returned. It is never stored.
//
// Errors of its own: busy, where a compaction waits for the operator;
// exceeds_window, where the session cannot be made to fit a window that is
// known: then the model is not called (A11); conflict, where the session was
// rolled back meanwhile: the answer is returned and not added.
func (s *Session) Dispatch(ctx context.Context, call Call) (*Dispatched, error) {
	if err := s.acquire(ctx); err != nil {
		return nil, err
	}
	defer s.release()
	d := &Dispatched{}
	result, err := d.look(ctx, s, s.request(abi.TriggerThreshold))
	if err != nil {
		return d, err
	}
	epoch := s.epoch()
	answer, err := d.call(ctx, s, call)
	if e, tooLong := s.tooLong(err); err != nil && tooLong {
		shorter, cerr := d.recover(ctx, s, result, &e)
		if cerr != nil {
			return d, cerr
		}
		if shorter {
			epoch = s.epoch()
			answer, err = d.call(ctx, s, call)
		}
	}
	if err != nil {
		return d, err
	}
	d.Messages = answer
	return d, s.answered(context.WithoutCancel(ctx), epoch, answer) // it is paid for
}

func (s *Session) epoch() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.epoch
}

// answered adds what a model answered, unless the session was rolled back while
// it was asked: then it answers to what was taken back.
func (s *Session) answered(ctx context.Context, epoch int, answer []abi.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.history.epoch != epoch {
		return &abi.Error{Code: abi.CodeConflict, Op: "dispatch", Message: "the session was rolled back while the model was asked: its answer was not added",
			Hint: "it stands in Dispatched.Messages; call again"}
	}
	return s.append(ctx, answer)
}

func (d *Dispatched) call(ctx context.Context, s *Session, call Call) ([]abi.Message, error) {
	d.Calls++
	msgs := s.Messages()
	answer, err := call(ctx, msgs)
	if err == nil {
		s.noteSent(msgs, d.Results[len(d.Results)-1])
	}
	return answer, err
}

// noteSent keeps in mind what a provider's cache can serve from now on.
func (s *Session) noteSent(msgs []abi.Message, look *kagewasm.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = kagewasm.Sent{Messages: msgs, Tokens: look.Report.TokensAfter - s.tools}
}

// look compacts before a call. A session that is too large for a window that is
// only assumed is the provider's to judge.
func (d *Dispatched) look(ctx context.Context, s *Session, req kagewasm.Request) (*kagewasm.Result, error) {
	if err := s.awaited(); err != nil {
		return nil, err
	}
	result, err := s.look(ctx, req)
	if result != nil {
		d.Results = append(d.Results, result)
	}
	if abi.CodeOf(err) == abi.CodeExceedsWindow && req.Session.ContextWindow == nil {
		err = nil
	}
	if err == nil {
		err = s.awaited()
	}
	return result, err
}

// recover compacts a session that the provider refused as too long, and reports
// whether that made it shorter than it was.
func (d *Dispatched) recover(ctx context.Context, s *Session, before *kagewasm.Result, e *abi.Exceeded) (shorter bool, err error) {
	req := s.request(abi.TriggerOverflow)
	req.Exceeded = e
	result, err := d.look(ctx, s, req)
	switch abi.CodeOf(err) {
	case "":
	case abi.CodeExceedsWindow: // by an estimate that was wrong already: let the provider judge once more
	default:
		return false, err
	}
	s.learn(before.Report.TokensAfter, e)
	return result.Report.TokensAfter < before.Report.TokensAfter, nil
}

// learn keeps in mind what a provider said its window is, in tokens as they are
// counted here, so that the next request fits.
func (s *Session) learn(estimate int, e *abi.Exceeded) {
	window, ok := e.Window(estimate)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok && (s.id.ContextWindow == nil || *s.id.ContextWindow > window) {
		s.id.ContextWindow = &window
	}
}

// acquire waits until nobody calls the model.
func (s *Session) acquire(ctx context.Context) error {
	select {
	case s.calling <- struct{}{}:
		return nil
	case <-ctx.Done():
		err := ctx.Err()
		return &abi.Error{Code: abi.CodeCanceled, Op: "compact", Message: err.Error(), Err: err,
			Hint: "give it more time; the session is as it was"}
	}
}

func (s *Session) release() { <-s.calling }

// awaited is the error where the operator has to decide first.
func (s *Session) awaited() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == nil {
		return nil
	}
	return &abi.Error{Code: abi.CodeBusy, Op: "dispatch", Message: "the session is paused: compaction " + s.pending.ID + " waits for a decision",
		Hint: "approve or reject it"}
}
