package strategies

import (
	"context"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Drop removes the oldest. It is the floor: it calls nothing and cannot fail. Where what has to stay
// does not fit, all that may go goes.
type Drop struct {
	Keep KeepConfig
	// ProtectedTools are the tools whose output Keep.ToolTokens does not cut. Nil is read and skill.
	ProtectedTools []string
	// PreserveRecent is how many of the newest messages a giant among them must not displace: see
	// [SummarizeConfig.PreserveRecent].
	PreserveRecent int
}

var _ Strategy = Drop{}

// DropSource is the source of the plans of [Drop].
var DropSource = abi.Source{Type: abi.SourceStrategy, Name: "drop"}

// Plan implements [Strategy].
func (d Drop) Plan(_ context.Context, v *View, b Budget) (abi.Plan, error) {
	return d.plan(v, b, 0), nil
}

// plan returns the plan that removes the oldest, to make room for the note and more tokens beside it.
func (d Drop) plan(v *View, b Budget, more int) abi.Plan {
	c, budget := b.settle(v, func(budget int) choice {
		budget += more
		return d.choose(v, budget, func(v *View) choice { return choice{gone: Cut(v, budget, d.Keep)} })
	})
	return abi.Plan{Source: DropSource, Supersede: c.gone, Edit: c.edits, Note: budget}
}

// choice is what a plan removes, what it shortens in the messages that stay, and what was prepared
// where a model is to write a summary.
type choice struct {
	gone  []string
	edits []abi.Edit
	ready *preparation
	err   error // why there is no preparation
}

// choose returns a choice that leaves budget tokens for what is inserted. Tool output and arguments are
// cut down where the configuration says how large they may be. Otherwise giants are cut to the room
// that is left: those among the newest messages that would go, and those that stand right before all
// that stays.
func (d Drop) choose(v *View, budget int, what func(*View) choice) choice {
	edits := shortenRecent(v, d.Keep.ToolTokens, d.ProtectedTools)
	v, _ = v.Edited(edits)
	c := what(v)
	if caps := d.caps(v, budget, c.gone); len(caps) > 0 {
		capped, _ := v.Edited(caps)
		if fewer := what(capped); len(fewer.gone) > 0 && (d.Keep.MessageTokens > 0 || len(fewer.gone) < len(c.gone)) {
			edits, c = replaced(edits, caps), fewer
		}
	}
	gone := set.Of(c.gone...)
	c.edits = slices.DeleteFunc(edits, func(e abi.Edit) bool { return gone[e.ID] })
	return c
}

// minCap is the least number of tokens that a message is cut to where nothing is configured: less says
// too little.
const minCap = 256

// caps returns edits of v that make giants small enough for more messages to stay. gone are the ids
// that would go without them.
func (d Drop) caps(v *View, budget int, gone []string) []abi.Edit {
	if n := d.Keep.MessageTokens; n != 0 {
		return capped(v, n, nil)
	}
	if len(gone) == 0 || v.All {
		return nil
	}
	goes := set.Of(gone...)
	// As many of the last messages as a summary leaves word for word must not be displaced by a giant
	// among them.
	recent := len(v.Messages)
	if n := preserved(d.PreserveRecent); n > 0 {
		recent = (&KeepConfig{Messages: n}).start(v)
	}
	edits := capped(v, max(minCap, v.Target/4), func(i int) bool { return i >= recent && goes[v.Messages[i].ID] })
	left := v.Target - budget - v.Total
	var last abi.Unit // the newest that goes
	for _, u := range v.Units {
		if !goes[v.Messages[u[0]].ID] {
			continue
		}
		left += v.UnitTokens(u)
		if last == nil || u[len(u)-1] > last[len(last)-1] {
			last = u
		}
	}
	if left >= 2*minCap {
		edits = replaced(edits, capped(v, left*2/3, func(i int) bool { return slices.Contains(last, i) }))
	}
	return edits
}

// replaced returns edits in which later ones take the place of earlier ones of the same text.
func replaced(edits, later []abi.Edit) []abi.Edit {
	place := func(e abi.Edit) abi.Edit { return abi.Edit{ID: e.ID, Call: e.Call} }
	at := make(map[abi.Edit]int, len(edits))
	for i, e := range edits {
		at[place(e)] = i
	}
	for _, e := range later {
		if i, ok := at[place(e)]; ok {
			edits[i] = e
		} else {
			edits = append(edits, e)
		}
	}
	return edits
}
