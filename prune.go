package kagewasm

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/results"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies"
)

// pruned is a session with old tool output shortened, and what that took out.
type pruned struct {
	strategies.List
	Pruned
}

// prune runs before anything is decided: it leaves out duplicate synthetic messages, and shortens old
// tool output and arguments. It is no compaction: no record, no hooks, nothing superseded.
func prune(l *look) pruned {
	p, cfg := pruned{List: l.came}, l.policy.Prune
	if cfg.Trim.Due(p.Total, l.limits.Window) {
		p.Removed = strategies.Trim(l.view(p.List))
		p = p.instead(p.Without(p.Removed), p.Removed)
	}
	p = p.instead(p.Edited(strategies.Prune(p.List, cfg, l.counter), l.counter))
	if cfg.Arguments != strategies.ArgumentsOff {
		p = p.instead(p.Edited(strategies.PruneArguments(l.view(p.List), due(l, p.List), cfg), l.counter))
	}
	if l.policy.Keep.DropThinking {
		after, ids := p.Bare(l.came, l.counter)
		p = p.instead(after, ids)
		p.Thinking = ids
	}
	return p
}

// instead returns p after another step, which left the list after, and changed or removed the messages
// with the ids.
func (p pruned) instead(after strategies.List, ids []string) pruned {
	if len(ids) > 0 {
		p.took(ids, p.Total-after.Total)
		p.List = after
	}
	return p
}

// took adds messages to those that are named as pruned, each once.
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

// named lists, among what was pruned, the messages whose calls were shortened.
func (p *Pruned) named(came []abi.Message) {
	pruned := set.Of(p.IDs...)
	for i := range came {
		if m := &came[i]; pruned[m.ID] && m.Role == abi.RoleAssistant && !slices.Contains(p.Removed, m.ID) &&
			!slices.Contains(p.Words, m.ID) {
			p.Calls = append(p.Calls, m.ID)
		}
	}
}

// shortenFixed returns the view that strategies get, in which oversized messages are cut down:
//
//   - messages that have to stay, where they alone would start the next compaction, or
//     miss a target that was asked for;
//   - what persons wrote, only where the window does not hold what has to stay;
//   - the newest output, where nothing has to go then;
//   - giants that would take all that is older along.
//
// That is a kind of pruning. cut reports whether anything was cut, and whether that may be all that is needed.
func shortenFixed(l *look, p pruned) (v *strategies.View, after pruned, cut bool) {
	v = l.view(p.List)
	if l.req.Ongoing {
		holdOpenCalls(v)
	}
	target, pressure := v.Target, l.limits.quiet
	if l.refused() {
		pressure = target
	}
	if l.req.Target == nil {
		v.Target = pressure
	}
	v, ids := strategies.ShortenFixed(v, l.policy.Keep, l.policy.Note, l.req.Recall)
	p = p.instead(v.List, ids)
	if l.overfull(v, target) {
		v.Target = pressure
		v, p.Words = strategies.ShortenWords(v, l.policy.Keep, l.policy.Note, l.held, l.req.Recall)
		p = p.instead(v.List, p.Words)
	}
	v.Target = target
	spare := strategies.Spare{Keep: l.policy.Keep, Config: l.policy.Summarize}
	if onlyAsNeeded(l) {
		short, recent := spare.Shorten(v)
		v, ids = short, append(ids, recent...)
		p = p.instead(v.List, recent)
	}
	cut = len(ids)+len(p.Words) > 0
	if l.req.Force && l.req.Target == nil && v.Total <= pressure {
		return v, p, cut // nothing is too large for the window
	}
	v, giants, words := spare.ShortenGiants(v, l.policy.Note, l.req.Recall)
	p = p.instead(v.List, giants)
	p.Words = append(p.Words, words...)
	if len(giants) > 0 && v.Fits() && l.req.Force && l.req.Target == nil {
		// The target is a share of the session, and that is smaller now.
		v.Target = min(v.Target, int(l.limits.lowerShare*float64(v.Total)))
	}
	return v, p, cut || len(giants) > 0 && !l.policy.Keep.Recent()
}

// overfull reports whether no compaction makes the request fit unless what persons wrote is cut: what has to
// stay, with the least note beside it, is more than the window holds. Where the provider refused the request
// without a word on its window, the target is all that may be counted on.
func (l *look) overfull(v *strategies.View, target int) bool {
	room := v.Window
	if l.refused() {
		room = min(room, target)
	}
	note := firewall.FrameTokens(abi.KindSummary, strategies.DropSource, l.counter) + max(noteSlack, room/leastNoteParts)
	return v.Total > room && v.Fixed()+note > room
}

// leastNoteParts is the part of the window, one of so many, that a note beside what fills it may have.
const leastNoteParts = 50

// onlyAsNeeded reports whether a compaction is due for the length of the session alone, and the
// host makes it: nobody asked for one, no plugin or strategy of the host's own has a say, and
// pruning is not switched off.
func onlyAsNeeded(l *look) bool {
	return l.req.Reason == abi.TriggerThreshold && !l.req.Force && l.req.Target == nil && !l.policy.Prune.Off &&
		!l.hooks.HasCompactor() && l.opts.Strategies[l.policy.Strategy] == nil
}

// refused reports whether the provider refused the request as too long, and nothing says
// what would fit.
func (l *look) refused() bool {
	_, known := l.req.Exceeded.Window(l.came.Total)
	return l.req.Reason == abi.TriggerOverflow && !known
}

// holdOpenCalls keeps the last calls of the model that are not answered yet, with the answers there
// are. In a session that goes on, a result that arrives later would otherwise stand there without its
// call, which providers refuse for good.
func holdOpenCalls(v *strategies.View) {
	last := len(v.Messages) - 1
	for last >= 0 && v.Messages[last].Role != abi.RoleAssistant {
		last--
	}
	if last < 0 {
		return
	}
	unit := v.Units[v.UnitOf[last]]
	if !results.Open(v.Messages, unit) {
		return
	}
	for _, i := range unit {
		v.Turn[i] = true
	}
}
