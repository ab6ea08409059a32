package session

import (
	"context"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// Call calls the agent's model with the messages and returns its answer, which is added to the session.
// It returns when the answer is complete, also where that is streamed. [Session.Dispatch] returns its
// errors as they are.
type Call func(ctx context.Context, messages []abi.Message) ([]abi.Message, error)

// Dispatched is one call of the agent's model, and what was done for it.
type Dispatched struct {
	// Messages is what the model answered.
	Messages []abi.Message
	// Results are the results of the looks at the session: before the call, and before each retry.
	Results []*kagewasm.Result
	// Calls is how often the model was called: once, and again for each refusal as too long that was
	// recovered from. Together they count as one step of the agent.
	Calls int

	session  *Session
	to       answers // of the list that was sent
	unstored bool
}

// Unstored reports whether the model answered and the session does not have the answer: the journal
// failed, or does not take such a message. [Dispatched.Store] can still add it.
func (d *Dispatched) Unstored() bool { return d.unstored }

// Store adds an answer that is [Dispatched.Unstored], as it came or corrected. Messages that others
// wrote to the session since stand before it. Its errors are those of [Session.Append], and conflict
// where the session was rolled back.
func (d *Dispatched) Store(ctx context.Context, answer []abi.Message) error {
	if !d.unstored {
		return usage("dispatch", "no answer of this call waits to be stored")
	}
	d.Messages = answer
	gone, err := d.session.state.take(context.WithoutCancel(ctx), d.to, answer) // it is paid for
	d.unstored = err != nil && !gone
	return err
}

// Used tells the session what the provider counted as the input of the call, in tokens, cached or not.
// Where a model's tokenizer is not public, its [kagewasm.Scale] is corrected by that from the next call
// on.
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

// dispatch is a call of [Session.Dispatch] that runs.
type dispatch struct {
	Dispatched
	s     *Session
	model Call
}

func (d *dispatch) run(ctx context.Context) error {
	if err := d.fit(ctx, d.s.state.wished(abi.TriggerThreshold, d.s.gate.turn(), nil)); err != nil {
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

// fit compacts before a call. Where the window is only assumed it lets a session that is too large
// pass: the provider may take it.
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

// tokens returns what the session had after the last look.
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
