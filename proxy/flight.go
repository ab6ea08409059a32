package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// A conversation is compacted between its calls: a request that has to be compacted waits until no other one of the
// same branch is being answered.

// patience is how long it waits at most: a client may hold a stream open that it does not read.
const patience = 30 * time.Second

// flights are the requests of a branch that are being answered. The lock of the family guards them.
type flights struct {
	under map[*exchange]bool
	ended chan struct{} // closed when the next one ends; nil where nobody waits for that
}

// errInFlight puts a compaction off.
var errInFlight = errors.New("another request of the conversation is being answered")

// flight is what an exchange has to do with the others of its branch. But for land it holds the lock of the family.
type flight struct{ *exchange }

// fit finds the conversation that the request goes on with, and makes it fit.
func (e flight) fit(ctx context.Context) error {
	archive(e).recognize(ctx)
	e.says = says{what: "none", reason: "below_threshold"}
	e.cold = !e.branch.last.IsZero() && e.began.Sub(e.branch.last) > e.wire.kept(e.doc)
	return e.compact(ctx)
}

// between looks at the conversation, and again each time that a compaction had to wait.
func (e flight) between(ctx context.Context, look func() error) error {
	for {
		err := look()
		if !errors.Is(err, errInFlight) {
			return err
		}
		if err := e.wait(ctx); err != nil {
			return err
		}
	}
}

// free puts a compaction off while others are being answered, as long as there is patience.
func (e flight) free(context.Context) error {
	if e.others() == 0 {
		return nil
	}
	if e.until.IsZero() {
		e.until = time.Now().Add(e.p.patience)
	}
	if time.Now().Before(e.until) {
		return errInFlight
	}
	e.p.opts.Log(fmt.Sprintf("proxy: a request of %s waited %s for another one, and is compacted beside it", e.family.id,
		e.p.patience))
	return nil
}

// others is how many requests of the branch are being answered. One that waits itself is not.
func (e flight) others() (n int) {
	for other := range e.branch.flights.under {
		if other != e.exchange && !other.waits {
			n++
		}
	}
	return n
}

// wait returns when no other request of the branch is being answered, or patience has ended. It gives the lock up
// meanwhile. The error is that the client has left.
func (e flight) wait(ctx context.Context) error {
	e.waits = true
	defer func() { e.waits = false }()
	late := time.NewTimer(time.Until(e.until))
	defer late.Stop()
	for on := &e.branch.flights; e.others() > 0; {
		if on.ended == nil {
			on.ended = make(chan struct{})
		}
		ended, over := on.ended, false
		e.family.mu.Unlock()
		select {
		case <-ended:
		case <-late.C:
			over = true
		case <-ctx.Done():
		}
		e.family.mu.Lock()
		if err := ctx.Err(); err != nil {
			return &abi.Error{Code: abi.CodeCanceled, Op: "proxy", Message: "the client left while its request waited",
				Err: err}
		}
		if over {
			return nil
		}
	}
	return nil
}

// begin notes that the request is sent now.
func (e flight) begin() {
	if e.branch == nil {
		return
	}
	on := &e.branch.flights
	if on.under == nil {
		on.under = make(map[*exchange]bool)
	}
	on.under[e.exchange] = true
}

// land notes that the client has its answer, or has left.
func (e flight) land() {
	if e.branch == nil {
		return
	}
	e.family.mu.Lock()
	defer e.family.mu.Unlock()
	on := &e.branch.flights
	if delete(on.under, e.exchange); on.ended != nil {
		close(on.ended)
		on.ended = nil
	}
}
