package strategies

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Spare says which messages need not go. [Spare.Shorten] is for a session that only its newest output
// makes too long: that is cut and nothing goes. [Spare.ShortenGiants] lets what is older stay. [Spare.Of]
// is for after a summary or a note is written: more of the newest messages stay where it took less than
// was reserved for it.
type Spare struct {
	// Keep says what the recent end is, of which as much stays as fits. All that is older goes.
	Keep KeepConfig
	// Config says how many messages at the end a summary leaves where Keep does not: see
	// [SummarizeConfig.PreserveRecent]. Where somebody named the target, more of them may stay, as long
	// as at least WindowMessages go.
	Config SummarizeConfig
}

// Of returns the messages that still go when the newest of gone stay: as many units as fit room tokens, and the bytes
// that the target leaves. Where output is all that makes the next unit too long, edits cut it to what is left: an older
// one than Config leaves word for word where somebody named the target.
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
	left := leftBeside(v, goes, room)
	for k := len(v.Units) - 1; k >= 0; k-- {
		u := v.Units[k]
		if !goes[v.Messages[u[0]].ID] || u[len(u)-1] < from {
			continue
		}
		older := u[len(u)-1] < recent
		if spared += len(u); older && len(gone)-spared < s.Config.window() {
			break
		}
		cost := v.size(u)
		if !cost.within(left) && (!older || v.Asked) {
			var cut []abi.Edit
			if cut, cost = unitWithin(v, u, left, v.Asked || s.Keep.Recent()); cost.within(left) {
				edits = append(edits, cut...)
			}
		}
		if !cost.within(left) {
			break
		}
		left = left.less(cost)
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

// leftBeside returns what the targets leave where the messages gone go and room tokens are left beside what
// is inserted.
func leftBeside(v *View, gone map[string]bool, room int) size {
	stays := v.all()
	for _, u := range v.Units {
		if gone[v.Messages[u[0]].ID] {
			stays = stays.less(v.size(u))
		}
	}
	inserted := max(0, v.Target-room-stays.tokens)
	return size{room, v.beside(inserted).less(stays).bytes}
}

// unitWithin returns edits that cut the output of a unit so that it has at most the room that is left, and
// what it takes with them. Each output is cut to two thirds of the room in tokens, and to less where
// somebody named the target or what is to stay. Otherwise a unit that has more goes: kept, it would bring
// the next compaction nearer.
func unitWithin(v *View, u abi.Unit, room size, named bool) (edits []abi.Edit, takes size) {
	least := room.tokens * 2 / 3
	if named {
		least = minCap
	}
	takes = v.size(u)
	for limit := room.tokens * 2 / 3; limit >= max(least, minCap) && !takes.within(room); limit = limit * 4 / 5 {
		edits = capped(v, limit, func(i int) bool { return slices.Contains(u, i) })
		after, _ := v.Edited(edits)
		takes = after.size(u)
	}
	return edits, takes
}
