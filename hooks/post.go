package hooks

import (
	"context"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Post tells every plugin that handles post_compact what was done, on success and on failure, whichever
// plan was used. Plugins may retain facts, and ask for a compaction after the turn; nothing else that
// they answer has an effect any more, so a short wait will do. Post waits no longer than wait, and a
// plugin that has not answered by then goes on beside the caller. A plugin whose earlier call still runs
// is called when that ends.
func (d *Dispatcher) Post(ctx context.Context, in *abi.Input, wait time.Duration, earlier *Late) *Answers {
	post := &Answers{}
	if d.Empty(in.Hook) {
		return post
	}
	var answers []answer
	calls := d.start(ctx, d.all, in, earlier)
	calls.wait(wait)
	answers, post.Late = calls.answers()
	for _, a := range answers {
		post.onlyRetain(in, a, "after a compaction only retain and request_compaction have an effect")
	}
	post.Outcomes = append(post.Outcomes, post.Late.outcomes()...)
	inOrder(d, post.Outcomes, func(o Outcome) string { return o.Plugin })
	return post
}
