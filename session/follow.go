package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Follow takes in a list that is kept elsewhere, such as the log of an agent's own
// program. The history goes back to the latest state that the list begins with, and
// what the list has beyond it arrives. Messages are known by what they say, since
// logs without ids renumber them: Follow returns the list under the history's
// ids. Results of tools that say something else where the list is kept were edited there,
// as pi shortens them: that is pruning, and nothing goes back.
func (h *History) Follow(ctx context.Context, list []abi.Message) ([]abi.Message, error) {
	at, n := h.longest(list)
	if edited := h.last().edited(list, n); edited != nil {
		if err := h.Rewrite(ctx, edited, nil); err != nil {
			return nil, err
		}
		at, n = h.longest(list)
	}
	was := h.points[at].messages
	known := slices.Clone(was[:n])
	var err error
	switch {
	case n == 0 && len(h.last().messages) > 0:
		err = h.RollbackTo(ctx, 0)
	case n == len(was) && h.points[at].state != h.last().state:
		err = h.RollbackTo(ctx, at)
	case 0 < n && n < len(was):
		err = h.write(ctx, Entry{Rollback: &at, Through: was[n-1].ID})
	}
	if err != nil {
		return nil, err
	}
	arrived := slices.Clone(list[n:])
	taken := make(map[string]bool, len(arrived))
	for i := range arrived {
		id := arrived[i].ID
		for k := 2; id == "" || taken[id] || h.archive.get(id) != nil; k++ {
			id = fmt.Sprintf("%s.%d", arrived[i].ID, k)
		}
		arrived[i].ID, taken[id] = id, true
	}
	if err := h.Append(ctx, arrived...); err != nil {
		return nil, err
	}
	return append(known, arrived...), nil
}

// edited are the messages of a state, the last one, with the results that a list has in their
// places: nil where more is different than that, or where another state has at least as
// much in common with the list, which is n messages.
func (p *point) edited(list []abi.Message, n int) []abi.Message {
	was := p.messages
	if n >= len(was) || len(list) < len(was) {
		return nil
	}
	is := slices.Clone(was)
	for i := range is {
		if is[i].Role == abi.RoleTool && is[i].ToolCallID != "" {
			is[i].Content = list[i].Content
		}
		if !saysTheSame(&is[i], &list[i]) {
			return nil
		}
	}
	return is
}

// Shared is how many messages the list has in common with the beginning of any
// list of the history.
func (h *History) Shared(list []abi.Message) int {
	_, n := h.longest(list)
	return n
}

// longest is the state that has most in common with the beginning of a list, and how
// many messages that are. Among equals it is the one with the fewest compactions, and
// the latest of those.
func (h *History) longest(list []abi.Message) (at, n int) {
	common := make([]int, len(h.points))
	for k := range h.points {
		p, c := &h.points[k], 0
		switch {
		case p.state != k:
			c = common[p.state]
		case p.grown && common[p.from] < len(h.points[p.from].messages):
			c = common[p.from]
		default:
			if p.grown {
				c = common[p.from]
			}
			for c < len(p.messages) && c < len(list) && saysTheSame(&p.messages[c], &list[c]) {
				c++
			}
		}
		common[k] = c
		if c > n || c == n && len(p.records) <= len(h.points[at].records) {
			at, n = k, c
		}
	}
	return at, n
}

// saysTheSame reports whether two messages differ in nothing but what programs add:
// ids, times and metadata. Of an inserted one formats keep the text alone.
func saysTheSame(a, b *abi.Message) bool {
	if a.Kind == abi.KindSummary || b.Kind == abi.KindSummary || a.Kind == abi.KindInjected {
		return a.Role == b.Role && strings.TrimSpace(a.Text()) == strings.TrimSpace(b.Text())
	}
	return a.Role == b.Role && a.Kind == b.Kind && a.ToolCallID == b.ToolCallID && a.Name == b.Name &&
		a.IsError == b.IsError && slices.Equal(a.ToolCalls, b.ToolCalls) && a.Content.Equal(b.Content)
}
