package kagewasm

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/summarize"
)

// chooser says what goes of a view, and whether the rest fits the target.
type chooser func(v *strategies.View) (gone []string, fits bool)

// oldest lets the oldest go, for a note of room tokens, down to the recent end
// that the policy keeps.
func (p *pass) oldest(room int) chooser {
	return func(v *strategies.View) ([]string, bool) {
		gone := strategies.CutKeeping(v, room, p.recent())
		return gone, p.left(v, gone)+room <= v.Target
	}
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

// left is what a view costs without what goes.
func (p *pass) left(v *strategies.View, gone []string) int {
	n, out := v.Total, idSet(gone)
	for i := range v.Messages {
		if out[v.Messages[i].ID] {
			n -= v.Tokens[i]
		}
	}
	return n
}

// cut makes the plan of a chooser. Giant tool output and arguments are cut down
// where the policy says so, and where they would else cost the session its
// newest messages or the target: one giant message must not.
func (p *pass) cut(source abi.Source, choose chooser) abi.Plan {
	v, edits := p.view(), []abi.Edit(nil)
	if n := p.policy.Recent.ToolTokens; n > 0 {
		edits = strategies.ShortenRecent(v, nil, n, p.policy.Prune.ProtectedTools, p.opts.Counter)
		v = p.edited(v, edits)
	}
	gone, fits := choose(v)
	limit := p.policy.MessageTokens
	if limit > 0 || limit == 0 && (!fits || p.losesRecent(gone)) {
		limits := strategies.Limits{Tokens: cmp.Or(limit, max(minCap, v.Target/4))}
		if more := strategies.Cap(v, nil, limits, p.opts.Counter); len(more) > 0 {
			edits = merged(edits, more)
			gone, _ = choose(p.edited(v, more))
		}
	}
	return abi.Plan{Source: source, Supersede: gone, Edit: staying(edits, gone)}
}

// giantsOnly cuts giants down where that alone is enough: then nothing has to
// go, and it is a kind of pruning.
func (p *pass) giantsOnly() bool {
	source := abi.Source{Type: abi.SourceStrategy, Name: StrategyDrop}
	plan := p.cut(source, p.oldest(p.room(p.view(), p.limits, source).note))
	if len(plan.Supersede) > 0 || len(plan.Edit) == 0 {
		return false
	}
	p.shorten(plan.Edit)
	return true
}

// minCap is the least that a message is capped to where nothing is configured,
// in tokens: less says too little.
const minCap = 256

// keepLast is how many messages at the end are not to be lost to a giant among
// them (FEATURES A3).
const keepLast = 10

// losesRecent reports whether one of the last messages goes.
func (p *pass) losesRecent(gone []string) bool {
	out := idSet(gone)
	for i := max(0, len(p.messages)-keepLast); i < len(p.messages); i++ {
		if out[p.messages[i].ID] {
			return true
		}
	}
	return false
}

// edited is the view with edits in it.
func (p *pass) edited(v *strategies.View, edits []abi.Edit) *strategies.View {
	if len(edits) == 0 {
		return v
	}
	of := byMessage(edits)
	out := *v
	out.Messages, out.Tokens = slices.Clone(v.Messages), slices.Clone(v.Tokens)
	for i := range out.Messages {
		m := &out.Messages[i]
		if mine := of[m.ID]; mine != nil {
			edit(m, mine)
			out.Total -= out.Tokens[i]
			out.Tokens[i] = p.opts.Counter.Message(m)
			out.Total += out.Tokens[i]
		}
	}
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

func byMessage(edits []abi.Edit) map[string][]abi.Edit {
	of := make(map[string][]abi.Edit, len(edits))
	for _, e := range edits {
		of[e.ID] = append(of[e.ID], e)
	}
	return of
}

// staying are the edits of messages that do not go.
func staying(edits []abi.Edit, gone []string) (kept []abi.Edit) {
	out := idSet(gone)
	for _, e := range edits {
		if !out[e.ID] {
			kept = append(kept, e)
		}
	}
	return kept
}

// merged puts later edits in the place of earlier ones of the same text.
func merged(edits, later []abi.Edit) []abi.Edit {
	type place struct {
		id   string
		call int
	}
	at := make(map[place]int, len(edits))
	for i, e := range edits {
		at[place{e.ID, e.Call}] = i
	}
	for _, e := range later {
		if i, ok := at[place{e.ID, e.Call}]; ok {
			edits[i] = e
			continue
		}
		edits = append(edits, e)
	}
	return edits
}
