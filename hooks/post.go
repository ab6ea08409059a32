package hooks

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// Post is what came of the calls after a compaction.
type Post struct {
	Retained []Fact
	Outcomes []Outcome
	Failures []*abi.Error
}

// Post tells every plugin that wants to know what was done, on success and on
// failure, whichever path was taken (FEATURES K19, O7, A12). Plugins may retain
// facts; nothing else they say has an effect any more.
func (d *Dispatcher) Post(ctx context.Context, in *abi.Input) *Post {
	post := &Post{}
	if d.Empty(in.Hook) {
		return post
	}
	for _, a := range ask(ctx, d.timeout, d.all, in) {
		pre := Pre{}
		if a.out != nil && (a.out.Inject != "" || a.out.Compacts() || a.out.Cancel || len(a.out.AlwaysKeep) > 0) {
			a.outcome.warn("after a compaction only retain has an effect")
		}
		pre.take(in, a)
		post.Retained = append(post.Retained, pre.Retained...)
		post.Outcomes = append(post.Outcomes, pre.Outcomes...)
		post.Failures = append(post.Failures, pre.Failures...)
	}
	return post
}
