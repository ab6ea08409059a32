package session

import (
	"context"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

// gate lets one caller at a time call the model, or compact instead.
type gate struct {
	busy  chan struct{} // of capacity one; full while a caller is in
	mu    sync.Mutex
	turns int                 // begun and not ended
	begun int                 // ever, those that overlap as one
	next  func() (run func()) // to start when nothing goes on, with the gate entered; run leaves. Nil for nothing
}

// enter waits until no other caller is in.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return canceled(ctx)
	}
}

// canceled is the error of a compaction that was given up.
func canceled(ctx context.Context) error {
	return &abi.Error{Code: abi.CodeCanceled, Op: "compact", Message: ctx.Err().Error(), Err: ctx.Err(),
		Hint: "give it more time; the session is as it was"}
}

// tryEnter returns an error at once where a caller is in, or a turn has begun.
func (g *gate) tryEnter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turns == 0 {
		select {
		case g.busy <- struct{}{}:
			return nil
		default:
		}
	}
	return &abi.Error{Code: abi.CodeBusy, Op: "compact", Message: "a turn is running",
		Hint: "compact when it has ended, or ask for it with Session.Request"}
}

// leave lets the next caller in. What waits for the end of turns and calls comes before any other.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil || g.turns > 0 {
		<-g.busy
		return
	}
	g.startLocked()
}

// whenIdle has start called as soon as no turn is open and nobody is in, and what it returns run in a goroutine of its
// own. It reports whether that is now. Nil stands for what waits already.
func (g *gate) whenIdle(start func() (run func())) (now bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if start != nil {
		g.next = start
	}
	if g.next == nil || g.turns > 0 {
		return false
	}
	select {
	case g.busy <- struct{}{}:
		g.startLocked()
		return true
	default:
		return false
	}
}

// startLocked starts what waits. The gate is entered for it.
func (g *gate) startLocked() {
	run := g.next()
	go run()
	g.next = nil
}

// beginTurn counts a turn until the function it returns is called.
func (g *gate) beginTurn() (end func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turns++; g.turns == 1 {
		g.begun++
	}
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.turns--
	})
}

// turn returns the number of the turn that is open, 0 where none is. Turns that overlap are one turn.
func (g *gate) turn() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turns == 0 {
		return 0
	}
	return g.begun
}
