package strategies

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Spare returns what goes without the newest of it: units among the last n messages that
// count, as many as fit so many tokens. Where output is all that makes the next one too
// long, it is cut to what is left, by the edits.
//
// What a summary may take is reserved before it is written. Where it took less, these
// messages need not have gone.
func Spare(v *View, gone []string, n, room int) (fewer []string, edits []abi.Edit) {
	if n <= 0 {
		return gone, nil
	}
	goes, from := set.Of(gone...), (&KeepConfig{Messages: n}).start(v)
	for k := len(v.Units) - 1; k >= 0; k-- {
		u := v.Units[k]
		if !goes[v.Messages[u[0]].ID] || u[len(u)-1] < from {
			continue
		}
		cost := v.UnitTokens(u)
		if cost > room && room >= 2*minCap {
			cut := capped(v, room*2/3, func(i int) bool { return slices.Contains(u, i) })
			after, _ := v.Edited(cut)
			cost, edits = after.UnitTokens(u), append(edits, cut...)
		}
		if cost > room {
			break
		}
		room -= cost
		for _, i := range u {
			delete(goes, v.Messages[i].ID)
		}
	}
	kept := func(id string) bool { return !goes[id] }
	return slices.DeleteFunc(slices.Clone(gone), kept),
		slices.DeleteFunc(edits, func(e abi.Edit) bool { return goes[e.ID] })
}
