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
	// retries.
	Results []*kagewasm.Result
	// Calls is how often the model was called: once, and more often where requests were
	// refused as too long. They count as one step of the agent.
	Calls int

	session  *Session
	to       answers // of the list that was sent
	unstored bool
}

// Unstored reports whether the model answered and the session does not have the answer, which [Dispatched.Store] can
// still add: the journal failed, or took no message like that.
func (d *Dispatched) Unstored() bool { return d.unstored }

// Store adds an answer that is [Dispatched.Unstored], as it came or put right. What others wrote to the session since
// stands before it. Its errors are those of [Session.Append], and conflict where the session was rolled back.
func (d *Dispatched) Store(ctx context.Context, answer []abi.Message) error {
	if !d.unstored {
		return usage("dispatch", "no answer of this call waits to be stored")
	}
	d.Messages = answer
	gone, err := d.session.state.take(context.WithoutCancel(ctx), d.to, answer) // it is paid for
	d.unstored = err != nil && !gone
	return err
}

// Used tells what the provider counted as the input of the call, cached or not. Where a
// model's tokenizer is not public, its windows are estimated by that from the next call on.
func (d *Dispatched) Used(tokens int) { d.session.state.tookLast(tokens) }

// Dispatch makes the session fit, calls the model, and adds its answer to the
// session. Where another call is in flight it waits for that to end.
//
// Where the provider refuses the request as too long (Options.TooLong says which
// errors mean that) the session is compacted and the call made once more, not
// twice. Where that compaction changed nothing the provider's error is returned.
// With the recovery descend fewer and fewer messages stay, and the call is made again
// each time, until the provider takes it. Refusals are never stored.
//
// Errors of its own have the codes
//   - usage: there is no call;
//   - busy: a compaction waits for the operator;
//   - exceeds_window: the session cannot be made to fit a window that is known, and the model
//     is not called; or the provider refuses it with nothing left that could go;
//   - conflict: the session was rolled back meanwhile; the answer is returned and not added.
//
// Where the journal does not take an answer its error is returned: see [Dispatched.Unstored].
func (s *Session) Dispatch(ctx context.Context, call Call) (*Dispatched, error) {
	if call == nil {
		return nil, usage("dispatch", "no call of the agent's model: give Dispatch one")
	}
	if err := s.gate.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	d := &dispatch{Dispatched: Dispatched{session: s}, s: s, model: call}
	err := d.run(ctx)
	return &d.Dispatched, err
}

// dispatch is a Dispatch on its way.
type dispatch struct {
	Dispatched
	s     *Session
	model Call
}

func (d *dispatch) run(ctx context.Context) error {
	if err := d.fit(ctx, d.s.state.wished(abi.TriggerThreshold, d.s.gate.turn())); err != nil {
		return err
	}
	answer, err := d.call(ctx)
	if err != nil {
		answer, err = d.recover(ctx, err)
	}
	if err != nil {
		return err
	}
	d.unstored = true
	return d.Store(ctx, answer)
}

// fit compacts before a call. A session that is too large for a window that is
// only assumed is the provider's to judge.
func (d *dispatch) fit(ctx context.Context, req asked) error {
	if err := d.s.state.paused(); err != nil {
		return err
	}
	result, err := d.s.look(ctx, req)
	if result != nil {
		d.Results = append(d.Results, result)
	}
	if abi.CodeOf(err) == abi.CodeExceedsWindow && req.Session.ContextWindow == nil {
		err = nil
	}
	if err == nil {
		err = d.s.state.paused()
	}
	return err
}

// tokens is what the session had after the last look.
func (d *dispatch) tokens() int { return d.Results[len(d.Results)-1].Report.TokensAfter }

func (d *dispatch) call(ctx context.Context) (answer []abi.Message, err error) {
	var msgs []abi.Message
	d.Calls++
	msgs, d.to = d.s.state.list()
	if answer, err = d.model(ctx, msgs); err == nil {
		d.s.state.wasSent(msgs, d.tokens())
	}
	return answer, err
}
