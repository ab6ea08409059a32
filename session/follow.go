package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Follow brings the history up to a list that is kept elsewhere, such as the log of an agent's own
// program. The history goes back to the latest state that the list begins with, and the rest of the
// list arrives. Messages are recognized by what they say, since logs without ids renumber them: Follow
// returns the list with the history's ids. Where only results of tools differ, the program that keeps
// the list has edited them, as pi shortens them: that is stored as a pruning, and the history does not
// go back. The errors are those of the journal.
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

// edited returns the messages of p, the last state, with the results that a list has in their places.
// It returns nil where more is different than that, or where another state has at least as much in
// common with the list. n is how many messages the closest state has in common with it.
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

// Shared returns how many messages the list has in common with the beginning of any list that the
// history ever had.
func (h *History) Shared(list []abi.Message) int {
	_, n := h.longest(list)
	return n
}

// longest returns the state that has most in common with the beginning of a list, and how many messages
// that are. Among equals it is the state with the fewest compactions, and the latest of those.
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

// saysTheSame reports whether two messages differ in nothing except what programs add: ids, times and
// metadata. Of an inserted message formats keep only the text, so only that is compared.
func saysTheSame(a, b *abi.Message) bool {
	if a.Kind == abi.KindSummary || b.Kind == abi.KindSummary || a.Kind == abi.KindInjected {
		return a.Role == b.Role && strings.TrimSpace(a.Text()) == strings.TrimSpace(b.Text())
	}
	return a.Role == b.Role && a.Kind == b.Kind && a.ToolCallID == b.ToolCallID && a.Name == b.Name &&
		a.IsError == b.IsError && slices.Equal(a.ToolCalls, b.ToolCalls) && a.Content.Equal(b.Content)
}
