package runtime

import (
	"context"
	"sync"
	"time"
)

// callContext is the context of a call: the caller's, with the call in it,
// until the time of the call is up. There is a timer only once somebody waits
// for that: who asks now and then compares the time.
type callContext struct {
	caller   context.Context
	call     *call
	deadline time.Time

	mu     sync.Mutex
	timed  context.Context // the caller's with the deadline; nil until needed
	cancel context.CancelFunc
}

// newCallContext is the context of a call that begins now.
func newCallContext(caller context.Context, c *call, limit time.Duration) *callContext {
	deadline := time.Now().Add(limit)
	if d, ok := caller.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	return &callContext{caller: caller, call: c, deadline: deadline}
}

// Deadline implements context.Context.
func (x *callContext) Deadline() (time.Time, bool) { return x.deadline, true }

// Value implements context.Context.
func (x *callContext) Value(key any) any {
	if key == (callKey{}) {
		return x.call
	}
	return x.caller.Value(key)
}

// Done implements context.Context.
func (x *callContext) Done() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.timed == nil {
		x.timed, x.cancel = context.WithDeadline(x.caller, x.deadline)
	}
	return x.timed.Done()
}

// Err implements context.Context.
func (x *callContext) Err() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.timed != nil:
		return x.timed.Err()
	case x.caller.Err() != nil:
		return x.caller.Err()
	case !time.Now().Before(x.deadline):
		return context.DeadlineExceeded
	}
	return nil
}

// end gives back what the context holds. Nobody asks it any more.
func (x *callContext) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cancel != nil {
		x.cancel()
	}
}
