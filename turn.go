package kagewasm

import (
	"context"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

// Turn is what plugins said at the end of a turn, and whether a compaction is
// due.
type Turn struct {
	// Wanted is the request to hand to Compact once the turn is over; nil where
	// no compaction is wanted. Where the threshold is crossed it is the request
	// that was given. Where plugins ask for a compaction it has the reason
	// "plugin", Force, and their instructions below those of the request. Set
	// its Messages again where messages have arrived since.
	Wanted *Request `json:"-"`
	// Background says that the policy wants compactions between turns to run in the background.
	Background bool `json:"-"`
	// Wishes says which plugins asked for a compaction, and for what.
	Wishes []hooks.Wish `json:"wishes,omitempty"`
	// Hooks, Retained and Failures are as in a Report.
	Hooks    []hooks.Outcome `json:"hooks"`
	Retained []hooks.Fact    `json:"retained,omitempty"`
	Failures []*abi.Error    `json:"failures"`
}

// TurnEnd tells plugins that a turn of the agent has completed, and returns whether they ask for a
// compaction or one is due anyway. It compacts nothing, so plugins cannot delay a turn. Their requests
// are merged into one, Wanted, which the host runs when it likes. A plugin may ask three times in a
// row. The errors are those of [Compactor.Compact].
func (c *Compactor) TurnEnd(ctx context.Context, req Request) (*Turn, error) {
	turn := &Turn{Hooks: []hooks.Outcome{}, Failures: []*abi.Error{}}
	l, err := c.look(ctx, req)
	if l != nil {
		defer c.close(l, nil)
	}
	if err != nil {
		return nil, err
	}
	turn.Background = l.policy.When.Background
	p := prune(l)
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	if due(l, p.List) {
		turn.Wanted = &req
	}
	if c.hooks.Empty(abi.HookTurnEnd) {
		return turn, nil
	}
	answers := c.hooks.TurnEnd(ctx, hookInput(l, abi.HookTurnEnd, l.view(p.List), p.List))
	retained, unstored := retain(ctx, l, abi.HookTurnEnd, answers.Retained)
	turn.Hooks, turn.Retained, turn.Wishes = l.bareOutcomes(answers.Outcomes), retained, bareWishes(l, answers.Wishes)
	turn.Failures = append(turn.Failures, l.withoutSecrets(slices.Concat(answers.Failures, unstored))...)
	if slices.ContainsFunc(turn.Hooks, func(o hooks.Outcome) bool { return o.Model != nil }) {
		said := &Result{Report: Report{Hooks: turn.Hooks, Retained: retained, Failures: turn.Failures}}
		said.Report.normalize()
		audit(l, EventObserved, said, nil) // what it cost is of the session
	}
	if len(turn.Wishes) > 0 {
		req.Reason, req.Force = abi.TriggerPlugin, true
		req.Instructions = joined(req.Instructions, hooks.Instructed(turn.Wishes))
		turn.Wanted = &req
	}
	return turn, canceled(ctx)
}

// joined returns both texts, with a line break between them where neither is empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
