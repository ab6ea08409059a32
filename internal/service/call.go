package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	refusals "github.com/kagewasm/kagewasm/internal/refusal"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/internal/wire"
	"github.com/kagewasm/kagewasm/models"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/tokens"
)

// Look is what the model of a session should see now.
type Look struct {
	Session string `json:"session"`
	Version int    `json:"version"`
	// Call is the id of the call that was marked in flight, empty for none.
	Call     string           `json:"call,omitempty"`
	Messages []abi.Message    `json:"messages"`
	Report   *kagewasm.Report `json:"report"`
}

// AppendJSON appends the look as JSON: messages are most of it, and are written at several
// times the speed of encoding/json.
func (l *Look) AppendJSON(dst []byte) ([]byte, error) {
	rest, err := json.Marshal(struct {
		Session string           `json:"session"`
		Version int              `json:"version"`
		Call    string           `json:"call,omitempty"`
		Report  *kagewasm.Report `json:"report"`
	}{l.Session, l.Version, l.Call, l.Report})
	if err != nil {
		return nil, err
	}
	dst = append(append(dst, rest[:len(rest)-1]...), `,"messages":`...)
	if written, err := wire.AppendMessages(dst, l.Messages); err == nil {
		return append(written, '}'), nil
	}
	msgs, err := json.Marshal(l.Messages) // which takes more than others write
	return append(append(dst, msgs...), '}'), err
}

// Context is what the model should see now. It compacts where that is due, and waits
// while a call of the model is in flight, so long at most.
func (s *loop) Context(ctx context.Context, key string, wait time.Duration) (look *Look, err error) {
	err = s.with(ctx, key, func(l *live, open *session.Session) error {
		if err := l.wait(ctx, wait); err != nil {
			return err
		}
		look = &Look{Session: key}
		d, err := open.Dispatch(ctx, func(_ context.Context, msgs []abi.Message) ([]abi.Message, error) {
			look.Messages = msgs
			return nil, nil
		})
		l.looked(look, d)
		return err
	})
	if err != nil {
		return nil, err
	}
	return look, nil
}

// looked takes over what a look at a session came to.
func (l *live) looked(look *Look, d *session.Dispatched) {
	look.Version = l.stored()
	if d == nil || len(d.Results) == 0 {
		return
	}
	look.Report = &d.Results[len(d.Results)-1].Report
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tokens = look.Report.TokensAfter
}

// wait waits until no call is in flight.
func (l *live) wait(ctx context.Context, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		l.mu.Lock()
		c := l.call
		l.mu.Unlock()
		if c == nil {
			return nil
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return &abi.Error{Code: abi.CodeBusy, Op: "context", Message: "a call of the model is in flight: " + c.id,
				Hint: "ask again when it has ended, or wait longer", Err: ctx.Err()}
		}
	}
}

// call is a call of the model that a client makes: a [session.Session.Dispatch] whose
// model is whoever speaks to the service.
type call struct {
	id     string
	cancel context.CancelFunc
	offers chan []abi.Message // what to send to the model
	words  chan word          // what came of it
	failed chan error         // why an answer is not stored, which may come again
	done   chan struct{}      // closed when the dispatch has ended

	dispatched *session.Dispatched // once done
	err        error
}

// word is what a client says of its call.
type word struct {
	answer []abi.Message
	err    error
}

// refusal is a provider's word that a request does not fit.
type refusal struct{ said string }

func (r *refusal) Error() string { return r.said }

// tooLong reports whether a client's call was refused as too long.
func tooLong(err error) (abi.Exceeded, bool) {
	var r *refusal
	if !errors.As(err, &r) {
		return abi.Exceeded{}, false
	}
	x, _ := models.TooLong(errors.New(r.said)) // which finds the figures, where there are some
	return x, true
}

// BeginCall marks a call of the model in flight and returns what the model should see. It
// waits while another one is in flight, so long at most. The call ends with [Service.EndCall], with
// [Service.Abandon], or when Options.CallTime is over.
func (s *loop) BeginCall(ctx context.Context, key string, wait time.Duration) (look *Look, err error) {
	err = s.with(ctx, key, func(l *live, open *session.Session) error {
		c, err := s.begin(ctx, l, open, wait)
		if err != nil {
			return err
		}
		look, err = c.offer(ctx, l)
		return err
	})
	if err != nil {
		return nil, err
	}
	return look, nil
}

// begin starts the dispatch of a call.
func (s *loop) begin(ctx context.Context, l *live, open *session.Session, wait time.Duration) (*call, error) {
	c := &call{id: turns.NewCall(), offers: make(chan []abi.Message), words: make(chan word), failed: make(chan error),
		done: make(chan struct{})}
	for {
		if err := l.wait(ctx, wait); err != nil {
			return nil, err
		}
		l.mu.Lock()
		if l.call == nil {
			l.call = c
			l.mu.Unlock()
			break
		}
		l.mu.Unlock()
	}
	var run context.Context
	run, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	lease := time.AfterFunc(s.opts.CallTime, c.cancel)
	s.runs.Go(func() {
		defer c.cancel()
		defer lease.Stop()
		c.err = turns.BeginCall(run, s.store, l.key, c.id, s.opts.CallTime)
		if c.err == nil {
			c.dispatched, c.err = open.Dispatch(run, c.ask)
			for c.again(run) {
			}
			s.markTask(run, l) // it may have waited for this
			s.unmark(run, l.key, c.id)
		}
		l.mu.Lock()
		l.call = nil
		if l.session != open {
			l.session = nil // it was opened beside the one that has the answer
		}
		l.mu.Unlock()
		close(c.done)
	})
	return c, nil
}

// unmark tells other processes that a call or a compaction has ended. Where that fails they believe that it goes on
// until CallTime is over.
func (s *loop) unmark(ctx context.Context, key, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer cancel()
	if err := turns.EndCall(ctx, s.store, key, id); err != nil {
		s.opts.Log.Error("the end of a call is not stored", "session", key, "call", id, "error", err)
	}
}

// ask hands the messages to the client, and waits for what it says.
func (c *call) ask(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
	select {
	case c.offers <- msgs:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case w := <-c.words:
		return w.answer, w.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// again tells the client that its answer is not stored, and takes the one that it sends then. It reports whether that
// was one.
func (c *call) again(ctx context.Context) bool {
	if c.dispatched == nil || !c.dispatched.Unstored() {
		return false
	}
	select {
	case c.failed <- c.err:
	case <-ctx.Done():
		return false
	}
	select {
	case w := <-c.words:
		if c.err = w.err; w.err == nil {
			c.err = c.dispatched.Store(ctx, w.answer)
		}
		return w.err == nil
	case <-ctx.Done():
		c.err = ctx.Err()
		return false
	}
}

// offer is what the model should see, or the error with which the call ended.
func (c *call) offer(ctx context.Context, l *live) (*Look, error) {
	select {
	case msgs := <-c.offers:
		look := &Look{Session: l.key, Call: c.id, Messages: msgs}
		l.looked(look, nil)
		return look, nil
	case <-c.done:
		return nil, c.err
	case <-ctx.Done():
		c.cancel() // nobody is there who could end it
		<-c.done
		return nil, gaveUp(ctx)
	}
}

func gaveUp(ctx context.Context) error {
	return &abi.Error{Code: abi.CodeCanceled, Op: "call", Message: ctx.Err().Error(), Err: ctx.Err()}
}

// inFlight is the call of that id.
func (l *live) inFlight(id string) (*call, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.call == nil || l.call.id != id {
		return nil, unknown("call " + id + ": it is not in flight: it has ended, or was abandoned")
	}
	return l.call, nil
}

// Usage is what a call of the agent's own model took, as its host reports it.
type Usage struct {
	Model        string `json:"model,omitempty" doc:"the model's name or alias; default the session's"`
	InputTokens  int    `json:"input_tokens" minimum:"0" doc:"read without a cache"`
	CacheRead    int    `json:"cache_read_tokens,omitempty" minimum:"0"`
	CacheWrite   int    `json:"cache_write_tokens,omitempty" minimum:"0"`
	OutputTokens int    `json:"output_tokens" minimum:"0"`
	// Cost in US dollars. Default what the tokens cost by the catalog.
	Cost *float64 `json:"cost,omitempty" minimum:"0" doc:"US dollars; default what the catalog says that the tokens cost"`
}

// EndCall takes the answer of a call, adds it to the session, and what it took to its
// costs. While the answer cannot be stored the call stays in flight, for it to be sent again.
func (s *loop) EndCall(ctx context.Context, key, id string, answer []abi.Message, u *Usage) (*Look, error) {
	l, c, release, err := s.callOf(key, id)
	if err != nil {
		return nil, err
	}
	defer release()
	select {
	case c.words <- word{answer: answer}:
		select {
		case <-c.done:
		case err := <-c.failed:
			return nil, err
		}
	case <-c.done:
	case <-ctx.Done():
		return nil, gaveUp(ctx)
	}
	if c.err != nil {
		return nil, c.err
	}
	look := &Look{Session: key, Messages: c.dispatched.Messages}
	l.looked(look, c.dispatched)
	if u != nil {
		c.dispatched.Used(u.input())
		err = s.Spend(ctx, key, *u)
	}
	return look, err
}

// Refused hears that the provider found the request of a call too long. The session is
// compacted, and what to send instead is returned; once, or with fewer messages each time,
// as the policy wants. Where nothing more can go the call has ended, with an error. Words that are about something
// else, such as a rate limit, are a usage error: nothing is compacted, and the call stays in flight.
func (s *loop) Refused(ctx context.Context, key, id, said string) (*Look, error) {
	l, c, release, err := s.callOf(key, id)
	if err != nil {
		return nil, err
	}
	defer release()
	if _, length := models.TooLong(errors.New(said)); !length {
		if about := refusals.Other(said); about != "" {
			return nil, &abi.Error{Code: abi.CodeUsage, Op: "refused", Message: "the provider's words are about " + about +
				", which a compaction does not change: nothing was compacted",
				Hint: "make the call again when that is over; it is still marked in flight, until its answer or a DELETE"}
		}
	}
	select {
	case c.words <- word{err: &refusal{said}}:
	case <-c.done:
	case <-ctx.Done():
		return nil, gaveUp(ctx)
	}
	look, err := c.offer(ctx, l)
	return look, s.final(ctx, key, err)
}

// final is the error with which a call ends that the provider refused. Of a session that went down to nothing in vain
// it says how that stands, and so does the log; else it is the provider's.
func (s *loop) final(ctx context.Context, key string, err error) error {
	r, refused := errors.AsType[*refusal](err)
	switch {
	case !refused:
		return err
	case abi.CodeOf(err) == abi.CodeExceedsWindow:
		s.opts.Log.WarnContext(ctx, "a session is stuck", "session", key, "error", err, "hint", abi.AsError(err).Hint)
		return err
	}
	return &abi.Error{Code: abi.CodeContextLength, Op: "call", Message: r.said, Err: err,
		Hint: "nothing more of the session can go; look at what is pinned"}
}

// Abandon ends a call without an answer: it failed, or was given up.
func (s *loop) Abandon(_ context.Context, key, id string) error {
	_, c, release, err := s.callOf(key, id)
	if err != nil {
		return err
	}
	defer release()
	c.cancel()
	<-c.done
	return nil
}

func (s *loop) callOf(key, id string) (*live, *call, func(), error) {
	l, release := s.take(key)
	c, err := l.inFlight(id)
	if err != nil {
		release()
		return nil, nil, nil, err
	}
	return l, c, release, nil
}

// Spend adds what the agent's own model took to the costs of a session.
func (s *loop) Spend(ctx context.Context, key string, u Usage) error {
	row, err := s.store.Session(ctx, key)
	if err != nil {
		return err
	}
	agent, err := s.host.Agent(ctx, row.Agent, cmp.Or(u.Model, row.Model))
	if err != nil {
		return err
	}
	cost, known := u.price(agent)
	spent := store.Cost{Spender: store.Primary, Model: agent.Model.Name(), PriceUnknown: !known,
		ModelUsage: abi.ModelUsage{Calls: 1, InputTokens: u.input(),
			OutputTokens: u.OutputTokens, Cost: cost}}
	return s.store.Update(ctx, func(tx *store.Tx) error { return tx.Spend(ctx, key, spent) })
}

// input is all that the model read.
func (u *Usage) input() int { return u.InputTokens + u.CacheRead + u.CacheWrite }

// price is what a call cost, and whether anybody knows.
func (u *Usage) price(a *Agent) (usd float64, known bool) {
	if u.Cost != nil {
		return *u.Cost, true
	}
	p := a.Model.Prices
	return p.Cost(tokens.Usage{Input: u.InputTokens, Output: u.OutputTokens, CacheRead: u.CacheRead,
		CacheWrite: u.CacheWrite}), p != nil
}
