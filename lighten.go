package kagewasm

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
)

// lighten is what happens before anything is decided: duplicate synthetic
// messages are left out, old tool output and arguments shortened. It is no
// compaction: no record, no hooks, nothing superseded (FEATURES K20, A1, A13).
func (p *pass) lighten() {
	if p.trimDue() {
		p.leaveOut(strategies.Trim(p.view()))
	}
	cfg, counter := p.policy.Prune, p.opts.Counter
	p.shorten(strategies.Prune(p.messages, p.tokens, p.pinned, cfg, counter))
	if cfg.Arguments != strategies.ArgumentsOff {
		p.shorten(strategies.PruneArguments(p.view(), p.limits.window, p.due(), cfg, counter))
	}
}

// trimDue reports whether there is enough in the window to trim (A1, A2).
func (p *pass) trimDue() bool {
	t := &p.policy.Trim
	over := int(t.Threshold * float64(p.limits.window))
	if t.MaxTokens > 0 {
		over = t.MaxTokens
	}
	return !t.Off && p.total > over
}

// leaveOut takes messages out of what the model sees.
func (p *pass) leaveOut(ids []string) {
	if len(ids) == 0 {
		return
	}
	out := idSet(ids)
	var msgs []abi.Message
	var tokens []int
	var pinned []bool
	for i := range p.messages {
		if out[p.messages[i].ID] {
			p.total -= p.tokens[i]
			p.report.Pruned.TokensSaved += p.tokens[i]
			continue
		}
		msgs, tokens, pinned = append(msgs, p.messages[i]), append(tokens, p.tokens[i]), append(pinned, p.pinned[i])
	}
	p.messages, p.tokens, p.pinned = msgs, tokens, pinned
	p.report.Pruned.Removed = append(p.report.Pruned.Removed, ids...)
	p.listPruned(ids)
}

// shorten puts edits of tool output and arguments into what the model sees.
func (p *pass) shorten(edits []abi.Edit) {
	if len(edits) == 0 {
		return
	}
	p.messages = slices.Clone(p.messages)
	changed, more := apply(edits, p.messages, p.tokens, p.opts.Counter)
	p.total += more
	p.report.Pruned.TokensSaved -= more
	p.listPruned(changed)
}

// listPruned names messages as pruned, each once.
func (p *pass) listPruned(ids []string) {
	listed := idSet(p.report.Pruned.IDs)
	for _, id := range ids {
		if !listed[id] {
			p.report.Pruned.IDs = append(p.report.Pruned.IDs, id)
		}
	}
	p.report.Pruned.Count = len(p.report.Pruned.IDs)
}

// canSummarize reports whether a model may be asked for a summary.
func (p *pass) canSummarize() bool {
	return p.opts.Model != nil && !p.policy.Summarize.Off && p.policy.Strategy != StrategyDelegate
}

// pruneOnly reports whether nobody can compact: the floor is switched off, and
// there is neither a model nor a compactor plugin (A8).
func (p *pass) pruneOnly() bool {
	return p.policy.NoFloor && !p.canSummarize() && !p.hooks.HasCompactor()
}

// pruned is the result where only pruning happens: no hook is called, and it is
// no error, unless the provider has refused the request already (A11).
func (p *pass) pruned() (*Result, error) {
	result := p.unchanged(abi.ReasonPruneOnly)
	if p.req.Reason != abi.TriggerOverflow {
		return result, nil
	}
	return result, &abi.Error{Code: abi.CodeNoCompactor, Op: "compact",
		Message: "the request is too long, and nobody can compact it: no model for summaries, no compactor plugin, and the floor is switched off",
		Hint:    "give the agent a summarizing model or a compactor plugin, or switch no_floor off"}
}
