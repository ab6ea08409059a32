package kagewasm

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/summarize"
)

// chooser says what goes of a view.
type chooser func(v *strategies.View) choice

// choice is what goes, and what was prepared for it where a model is to write a
// summary.
type choice struct {
	gone    []string
	summary *summarize.Preparation
	why     error // where there is none
}

// oldest lets the oldest go, for a note of room tokens, down to the recent end
// that the policy keeps.
func (p *pass) oldest(room int) chooser {
	return func(v *strategies.View) choice { return choice{gone: strategies.CutKeeping(v, room, p.recent())} }
}

func (p *pass) recent() strategies.Recent {
	r := p.policy.Recent
	return strategies.Recent{Messages: r.Messages, Tokens: r.Tokens, Exchanges: r.Exchanges}
}

// keepsLast is how many messages at the end the policy wants to stay.
func (p *pass) keepsLast() int {
	switch {
	case p.policy.Recent.Messages > 0:
		return p.policy.Recent.Messages
	case p.canSummarize():
		return summarize.Config{PreserveRecent: p.policy.Summarize.PreserveRecent}.Recent()
	}
	return 0
}

// cut makes the plan of a chooser, which leaves room tokens for a note. Tool
// output and arguments are cut down where the policy says how large they may be;
// else the giants among the newest messages that would go, and what stands right
// before all that stays, to the room that is left.
func (p *pass) cut(source abi.Source, room int, choose chooser) (abi.Plan, choice) {
	v, edits := p.view(), []abi.Edit(nil)
	if n := p.policy.Recent.ToolTokens; n > 0 {
		edits = strategies.ShortenRecent(v, nil, n, p.policy.Prune.ProtectedTools, p.opts.Counter)
		v = p.edited(v, edits)
	}
	made := choose(v)
	if caps := p.capsFor(v, room, made.gone); len(caps) > 0 {
		if fewer := choose(p.edited(v, caps)); len(fewer.gone) > 0 && (p.policy.MessageTokens > 0 || len(fewer.gone) < len(made.gone)) {
			edits, made = merged(edits, caps), fewer
		}
	}
	return abi.Plan{Source: source, Supersede: made.gone, Edit: staying(edits, made.gone)}, made
}

// capsFor are the edits to v, of which gone would go, that make giant results
// small enough for more to stay.
func (p *pass) capsFor(v *strategies.View, room int, gone []string) []abi.Edit {
	all := func(tokens int) []abi.Edit {
		return strategies.Cap(v, nil, strategies.Limits{Tokens: tokens}, p.opts.Counter)
	}
	if n := p.policy.MessageTokens; n != 0 {
		return all(max(0, n)) // 0 is no limit
	}
	if len(gone) == 0 || p.limits.all {
		return nil
	}
	var caps []abi.Edit
	if lost := p.lostRecent(gone); len(lost) > 0 {
		caps = among(all(max(minCap, v.Target/4)), lost)
	}
	out, left := idSet(gone), v.Target-room-v.Total
	var last abi.Unit // the newest that goes
	for _, u := range v.Units {
		if !out[v.Messages[u[0]].ID] {
			continue
		}
		left += v.UnitTokens(u)
		if last == nil || u[len(u)-1] > last[len(last)-1] {
			last = u
		}
	}
	if left >= 2*minCap {
		ids := make(map[string]bool, len(last))
		for _, i := range last {
			ids[v.Messages[i].ID] = true
		}
		caps = merged(caps, among(all(left*2/3), ids))
	}
	return caps
}

// makeRoom cuts down giants in what has to stay, where it would start the next
// compaction at once, or keep a target that was asked for from being met: to
// half of that first, and to less where it does not do. What fits is left alone:
// the model may not have seen it yet. It is a kind of pruning, and may be all
// that is needed. It reports whether there were any.
func (p *pass) makeRoom() (did bool) {
	source := abi.Source{Type: abi.SourceStrategy, Name: StrategyDrop}
	bounds := p.limits
	if p.req.Target == nil {
		bounds.target = bounds.upper
	}
	for share := 2; share <= 8 && p.policy.MessageTokens >= 0 && !bounds.all; share *= 2 {
		v := p.view()
		if v.Target = bounds.target; !p.room(v, bounds, source).tight {
			break
		}
		stays := make(map[string]bool)
		for _, u := range v.Units {
			if !v.Candidate(u) {
				for _, i := range u {
					stays[v.Messages[i].ID] = true
				}
			}
		}
		limits := strategies.Limits{Tokens: cmp.Or(p.policy.MessageTokens, max(minCap, v.Target/share))}
		edits := among(strategies.Cap(v, nil, limits, p.opts.Counter), stays)
		p.shorten(edits)
		did = did || len(edits) > 0
	}
	return did
}

// minCap is the least that a message is capped to where nothing is configured,
// in tokens: less says too little.
const minCap = 256

// lostRecent are those of the last messages that go: as many as a summary leaves
// word for word are not to be lost to a giant among them (FEATURES A3).
func (p *pass) lostRecent(gone []string) map[string]bool {
	out, lost := idSet(gone), make(map[string]bool)
	for i := max(0, len(p.messages)-summarize.DefaultPreserveRecent); i < len(p.messages); i++ {
		if id := p.messages[i].ID; out[id] {
			lost[id] = true
		}
	}
	return lost
}

// edited is the view with edits in it.
func (p *pass) edited(v *strategies.View, edits []abi.Edit) *strategies.View {
	if len(edits) == 0 {
		return v
	}
	out := *v
	out.Messages, out.Tokens = slices.Clone(v.Messages), slices.Clone(v.Tokens)
	_, more := apply(edits, out.Messages, out.Tokens, p.opts.Counter)
	out.Total += more
	p.weigh(&out)
	return &out
}

// weigh fills in what a view's messages take in bytes, where that is bounded.
func (p *pass) weigh(v *strategies.View) {
	if p.limits.targetBytes == 0 {
		return
	}
	v.TargetBytes, v.TotalBytes, v.Bytes = p.limits.targetBytes, 0, make([]int, len(v.Messages))
	for i := range v.Messages {
		v.Bytes[i] = strategies.Bytes(&v.Messages[i])
		v.TotalBytes += v.Bytes[i]
	}
}

func idSet(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}
