package kagewasm

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// worthTrying reports whether anything could go that is more than the small
// note an earlier compaction left, which another one would only write again.
func (p *pass) worthTrying() bool {
	v := p.view()
	for _, u := range v.Units {
		if !v.Candidate(u) {
			continue
		}
		m := &p.messages[u[0]]
		if _, ours := abi.Unfence(m.Text()); !ours || m.Kind != abi.KindSummary || v.UnitTokens(u) > int(tightShare*float64(p.limits.window))+noteSlack {
			return true
		}
	}
	return false
}

// noteSlack is how far a note can be over its share of the window: its frame
// costs what it costs.
const noteSlack = 128

// leastShare is what has to be there to go for a compaction, as a share of the
// threshold at which it starts.
const leastShare = 0.05

// freesTooLittle reports whether what stays takes nearly all there is by
// itself: tool definitions and pinned messages do not shrink. A compaction would
// then free one message at every call, and cost a model call and the provider's
// cache each time (complaint 1). It waits until there is something to gain,
// unless somebody asked for it or the request does not fit.
func (p *pass) freesTooLittle() bool {
	l := &p.limits
	switch {
	case p.req.Force, p.req.Target != nil, p.req.Reason == abi.TriggerOverflow, p.total > l.window,
		l.upperBytes > 0 && p.bytes() > l.upperBytes:
		return false
	}
	v, free := p.view(), 0
	for _, u := range v.Units {
		if v.Candidate(u) {
			free += v.UnitTokens(u)
		}
	}
	if float64(free) >= leastShare*float64(l.upper) {
		return false
	}
	p.report.Warning = fmt.Sprintf("%d of %d tokens cannot go, %d of them for tool definitions and the like: offer fewer tools, pin less, or use a model with a larger window",
		p.total-free, p.total, p.req.Overhead)
	return true
}
