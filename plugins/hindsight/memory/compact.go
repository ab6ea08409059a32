package memory

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies"
)

// frameTokens is what the host's frame around the memories costs, at most, or its
// note where it has nothing to say.
const frameTokens = 96

// compact fills in the new list: what is pinned, the current turn and the
// newest messages stay. It says nothing where the session would not become
// smaller; the host's strategy follows.
//
// It writes no summary of its own. The budget of a compactor has the host's
// note taken off already: the structured summary and the exact names of what
// goes, read off the messages by package note. The same again
// from here would cost its tokens twice, and was measured to keep less. What
// the host cannot know is what was remembered, and that is injected.
func (p *pass) compact(out *abi.Output) {
	injected := 0
	if out.Inject != "" {
		injected = p.count(out.Inject)[0] + frameTokens
	}
	gone := p.cut(injected)
	goes := set.Of(gone...)
	freed := 0
	out.Messages = []abi.OutputMessage{} // all of it may go
	for _, m := range p.in.Messages {
		if goes[m.ID] {
			freed += m.Tokens
		} else {
			out.Messages = append(out.Messages, abi.OutputMessage{Ref: m.ID})
		}
	}
	if freed <= injected+frameTokens {
		out.Messages = nil
		return
	}
	out.Superseded = gone
}

// cut is the ids of what goes, in order, for extra tokens to fit in under the
// target.
func (p *pass) cut(extra int) []string {
	return strategies.Cut(p.view(), extra, strategies.KeepConfig{Messages: p.in.Trigger.KeepLast})
}

// view is the session as strategies see it. A target of nothing asks for the
// current turn as well.
func (p *pass) view() *strategies.View {
	tokens, pinned := make([]int, len(p.msgs)), make([]bool, len(p.msgs))
	for i, m := range p.in.Messages {
		tokens[i], pinned[i] = m.Tokens, m.Pinned
	}
	target := p.in.Budget.TargetTokens
	return strategies.NewView(strategies.NewList(p.msgs, tokens, pinned, 0),
		strategies.Limits{Target: target, All: target == 0}, nil)
}

// room is what may be injected beside what must stay, in tokens: as much as
// an injection may where the session fits the target as it is, and where what
// must stay is over it by itself, which nothing meets then.
func (p *pass) room() int {
	v := p.view()
	if left := v.Target - v.Fixed(); left > 0 && !v.Fits() {
		return max(0, left-frameTokens)
	}
	return p.in.Budget.SummaryTokens
}
