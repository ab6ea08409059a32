package strategies

import "github.com/kagewasm/kagewasm/abi"

// NameDrop is the name of the strategy in reports and configuration.
const NameDrop = "drop"

// Drop supersedes the oldest units until the session, with a note of at most
// room tokens in their place, fits the target. Where what stays does not fit,
// all that can go goes. The plan supersedes nothing where nothing can go.
func Drop(v *View, room int) abi.Plan {
	return abi.Plan{
		Source:    abi.Source{Type: abi.SourceStrategy, Name: NameDrop},
		Supersede: CutFor(v, room),
	}
}

// CutFor chooses the messages that have to go, oldest units first, for a note
// of room tokens to fit in under the target. Ids are in session order. Nothing
// goes where the session fits as it is: then there is nothing to note either.
//
// A single unit that would take more than half of what is left for units, and
// does not fit, goes before older ones do: one giant result must not cost the
// session everything before it.
func CutFor(v *View, room int) []string { return CutKeeping(v, room, Recent{}) }

// CutKeeping is CutFor that lets everything go, too, that is older than the
// recent end of the session, whether it would fit or not. A unit is recent with
// its last message. Where the recent end does not fit it shrinks, by the rule
// of CutFor, down to nothing: what others find by trying again with one message
// less (FEATURES A11).
func CutKeeping(v *View, room int, keep Recent) []string {
	from := keep.start(v)
	if v.Fits() && !v.olderThan(from) {
		return nil
	}
	left := v.space(room)
	half := Size{left.Tokens / 2, left.Bytes / 2}
	gone := make([]bool, len(v.Messages))
	for k := len(v.Units) - 1; k >= 0; k-- {
		u := v.Units[k]
		if !v.Candidate(u) {
			continue
		}
		switch n := v.Size(u); {
		case u[len(u)-1] < from:
		case n.within(left):
			left = left.Less(n)
			continue
		case n.within(half):
			left = Size{-1, -1} // the cut: everything older goes
		}
		for _, i := range u {
			gone[i] = true
		}
	}
	var ids []string
	for i := range v.Messages {
		if gone[i] {
			ids = append(ids, v.Messages[i].ID)
		}
	}
	return ids
}
