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
	turns int // begun and not ended
	begun int // ever
}

// enter waits until no other caller is in.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return &abi.Error{Code: abi.CodeCanceled, Op: "compact", Message: ctx.Err().Error(), Err: ctx.Err(),
			Hint: "give it more time; the session is as it was"}
	}
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

func (g *gate) leave() { <-g.busy }

// beginTurn counts a turn until the function it returns is called.
func (g *gate) beginTurn() (end func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turns++
	g.begun++
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.turns--
	})
}

// turn returns the number of the turn that is open, 0 where none is.
func (g *gate) turn() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turns == 0 {
		return 0
	}
	return g.begun
}
