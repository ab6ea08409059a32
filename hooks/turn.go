package hooks

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// TurnEnd tells plugins that a turn has completed, and returns what they answer: the requests of those
// that are granted compaction.request. It compacts nothing: the caller does, after the turn. Requests of a plugin that
// asks more than three turns of a session in a row have no effect, until it once does not ask, or a
// compaction comes for another reason.
func (d *Dispatcher) TurnEnd(ctx context.Context, in *abi.Input) *Answers {
	turn := &Answers{}
	if d.Empty(in.Hook) {
		return turn
	}
	for _, a := range d.ask(ctx, d.all, in) {
		turn.onlyRetain(in, a, "at the end of a turn only retain and request_compaction have an effect")
	}
	return turn
}
