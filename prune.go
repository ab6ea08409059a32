package kagewasm

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies"
)

// pruned is a session with old tool output shortened, and what that took out.
type pruned struct {
	list
	Pruned
}

// prune is what happens before anything is decided: duplicate synthetic messages
// are left out, old tool output and arguments shortened. It is no compaction: no
// record, no hooks, nothing superseded.
func prune(l *look) pruned {
	p, cfg := pruned{list: l.came}, l.policy.Prune
	if cfg.Trim.Due(p.total, l.limits.Window) {
		p = p.without(strategies.Trim(l.view(p.list)))
	}
	p = shortened(l, p, strategies.Prune(p.messages, p.tokens, p.pinned, cfg, l.counter))
	if cfg.Arguments != strategies.ArgumentsOff {
		p = shortened(l, p, strategies.PruneArguments(l.view(p.list), due(l, p.list), cfg))
	}
	return p
}

// without leaves messages, named in session order, out of what the model sees.
func (p pruned) without(ids []string) pruned {
	if len(ids) == 0 {
		return p
	}
	left, next := pruned{list: list{total: p.total}, Pruned: p.Pruned}, 0
	for i := range p.messages {
		if next < len(ids) && p.messages[i].ID == ids[next] {
			left.total -= p.tokens[i]
			next++
			continue
		}
		left.messages = append(left.messages, p.messages[i])
		left.tokens = append(left.tokens, p.tokens[i])
		left.pinned = append(left.pinned, p.pinned[i])
	}
	left.Removed = ids
	left.took(ids, p.total-left.total)
	return left
}

// shortened puts edits of tool output and arguments into what the model sees.
func shortened(l *look, p pruned, edits []abi.Edit) pruned {
	after, ids := p, []string(nil)
	if after.messages, after.tokens, ids = firewall.Edit(p.messages, p.tokens, edits, l.counter); len(ids) == 0 {
		return p
	}
	after.total = l.req.Overhead
	for _, n := range after.tokens {
		after.total += n
	}
	after.took(ids, p.total-after.total)
	return after
}

// took names messages as pruned, each once.
func (p *Pruned) took(ids []string, saved int) {
	all, listed := slices.Clip(p.IDs), set.Of(p.IDs...)
	for _, id := range ids {
		if !listed[id] {
			all = append(all, id)
		}
		listed[id] = true
	}
	p.IDs, p.Count, p.TokensSaved = all, len(all), p.TokensSaved+saved
}

// shortenFixed makes the view that strategies get. It cuts down oversized
// messages that have to stay, where they alone would start the next compaction or
// miss a target that was asked for. That is a kind of pruning, and may be all that
// is needed; cut says whether there were any.
func shortenFixed(l *look, p pruned) (v *strategies.View, after pruned, cut bool) {
	v = l.view(p.list)
	if l.req.Ongoing {
		holdOpenCalls(v)
	}
	target := v.Target
	if l.req.Target == nil {
		v.Target = l.limits.quiet
	}
	v, ids := strategies.ShortenFixed(v, l.policy.Keep, l.policy.Note)
	v.Target = target
	after = pruned{list: listOf(v), Pruned: p.Pruned}
	after.took(ids, p.total-v.Total)
	return v, after, len(ids) > 0
}

// holdOpenCalls keeps the last calls of the model that are not answered yet,
// with the answers there are: a result that is on its way in a session that goes
// on would else stand there without its call, which providers refuse for good.
func holdOpenCalls(v *strategies.View) {
	last := len(v.Messages) - 1
	for last >= 0 && v.Messages[last].Role != abi.RoleAssistant {
		last--
	}
	if last < 0 || len(v.Messages[last].ToolCalls) == 0 {
		return
	}
	unit := v.Units[v.UnitOf[last]]
	if len(unit) > len(v.Messages[last].ToolCalls) { // the message and a result for each call
		return
	}
	for _, i := range unit {
		v.Turn[i] = true
	}
}
