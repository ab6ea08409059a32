package hooks

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// Post tells every plugin that wants to know what was done, on success and on
// failure, whichever path was taken. Plugins may retain
// facts; nothing else they say has an effect any more.
func (d *Dispatcher) Post(ctx context.Context, in *abi.Input) *Answers {
	post := &Answers{}
	if d.Empty(in.Hook) {
		return post
	}
	for _, a := range d.ask(ctx, d.timeout, d.all, in) {
		post.onlyRetain(in, a, "after a compaction only retain has an effect")
	}
	return post
}
