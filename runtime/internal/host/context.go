package host

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
	call     *Call
	deadline time.Time // of the call's own limit

	mu     sync.Mutex
	timed  context.Context // the caller's with the deadline; nil until needed
	cancel context.CancelFunc
	ended  bool
}

// Context is the context of a call that begins now. end cancels it: the call is
// over.
func (c *Call) Context(caller context.Context) (ctx context.Context, end func()) {
	limit := time.Duration(c.Plugin.Limits.TimeoutMS) * time.Millisecond
	x := &callContext{caller: caller, call: c, deadline: time.Now().Add(limit)}
	return x, x.end
}

// Deadline implements context.Context.
func (x *callContext) Deadline() (time.Time, bool) {
	if d, ok := x.caller.Deadline(); ok && d.Before(x.deadline) {
		return d, true
	}
	return x.deadline, true
}

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
		if x.ended {
			x.cancel()
		}
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
	case x.ended:
		return context.Canceled
	case !time.Now().Before(x.deadline):
		return context.DeadlineExceeded
	}
	return nil
}

// end cancels the context: the call is over.
func (x *callContext) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = true
	if x.cancel != nil {
		x.cancel()
	}
}
