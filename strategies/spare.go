package strategies

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Spare says which messages need not go. [Spare.Shorten] is for a session that only its newest output
// makes too long: that is cut and nothing goes. [Spare.Of] is for after a summary is written: more of
// the newest messages stay where it took less than was reserved for it.
type Spare struct {
	// Keep says what the recent end is, of which as much stays as fits. All that is older goes.
	Keep KeepConfig
	// Config says how many messages at the end a summary leaves where Keep does not: see
	// [SummarizeConfig.PreserveRecent]. Where somebody named the target, more of them may stay, as long
	// as at least WindowMessages go.
	Config SummarizeConfig
}

// Of returns the messages that still go when the newest of gone stay: as many units as fit room tokens.
// Where output is all that makes the next unit too long, edits cut it to what is left.
func (s *Spare) Of(v *View, gone []string, room int) (fewer []string, edits []abi.Edit) {
	goes, from, recent, spared := set.Of(gone...), s.Keep.start(v), 0, 0
	if !s.Keep.Recent() {
		n := s.Config.Recent()
		if n <= 0 {
			return gone, nil
		}
		recent = (&KeepConfig{Messages: n}).start(v)
		if from = recent; v.Asked {
			from = 0
		}
	}
	for k := len(v.Units) - 1; k >= 0; k-- {
		u := v.Units[k]
		if !goes[v.Messages[u[0]].ID] || u[len(u)-1] < from {
			continue
		}
		older := u[len(u)-1] < recent
		if spared += len(u); older && len(gone)-spared < s.Config.window() {
			break
		}
		cost := v.UnitTokens(u)
		if cost > room && !older {
			var cut []abi.Edit
			if cut, cost = unitWithin(v, u, room, v.Asked || s.Keep.Recent()); cost <= room {
				edits = append(edits, cut...)
			}
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
	return slices.DeleteFunc(slices.Clone(gone), kept), edits
}

// recentParts is the part of the target, one of so many, that output among the newest messages is
// shortened to where nothing goes then. It is well below what a giant is: a session that is just under
// its target is soon over the threshold again.
const recentParts = 12

// Shorten returns the view with the output among the newest messages cut to its beginning and end,
// where that alone brings the session under its targets: then nothing has to go, and what stands before
// is as it was. It also returns the ids of the messages that are cut. Where something has to go all the
// same it returns v itself and no ids. What the model is busy with stays whole.
func (s *Spare) Shorten(v *View) (*View, []string) {
	n := s.Config.Recent()
	if s.Keep.MessageTokens < 0 || s.Keep.Recent() || n == 0 || v.All {
		return v, nil
	}
	recent := (&KeepConfig{Messages: n}).start(v)
	limit := cmp.Or(s.Keep.MessageTokens, max(minCap, v.Target/recentParts))
	short, ids := v.Edited(capped(v, limit, func(i int) bool { return i >= recent && !v.stays(i) }))
	if len(ids) == 0 || !short.Fits() {
		return v, nil
	}
	return short, ids
}

// unitWithin returns edits that cut the output of a unit so that it has at most room tokens, and how
// many it has with them. Each output is cut to two thirds of room, and to less where somebody named the
// target or what is to stay. Otherwise a unit that has more goes: kept, it would bring the next
// compaction nearer.
func unitWithin(v *View, u abi.Unit, room int, named bool) (edits []abi.Edit, tokens int) {
	least := room * 2 / 3
	if named {
		least = minCap
	}
	tokens = v.UnitTokens(u)
	for limit := room * 2 / 3; limit >= max(least, minCap) && tokens > room; limit = limit * 4 / 5 {
		edits = capped(v, limit, func(i int) bool { return slices.Contains(u, i) })
		after, _ := v.Edited(edits)
		tokens = after.UnitTokens(u)
	}
	return edits, tokens
}
