package strategies

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// Limits are the figures a compaction goes by. They are in tokens where nothing else is said.
type Limits struct {
	// Window is how much a request may have.
	Window int
	// Upper is where a compaction starts, Lower the lower threshold.
	Upper, Lower int
	// Target is what the whole request has to come down to. It is Lower unless the request or the
	// model's own window asks for something else.
	Target int
	// Asked: somebody named Target. Only the least note may then exceed it.
	Asked bool
	// UpperBytes and TargetBytes are the same bounds for the body of the request, in bytes; 0 is no
	// bound.
	UpperBytes, TargetBytes int
	// All lets the current turn go like the rest: only what is pinned stays. With Newest the newest message of
	// a person stays too, which is what the model is to answer.
	All, Newest bool
}

// View is what a strategy sees of a session; [NewView] makes one. It has the messages the model would
// be given, what each costs, and what may not go. Strategies do not write to a view; what changes
// something returns another one.
type View struct {
	Limits
	List
	// Bytes is what each message adds to the body of the request, see the function [Bytes], and
	// TotalBytes their sum. They are counted only where bytes are bounded.
	Bytes      []int
	TotalBytes int
	// Turn marks the current turn, which stays like what is pinned; see
	// abi.CurrentTurn.
	Turn []bool
	// Units are the messages that stay or go together, UnitOf the unit of each.
	Units  []abi.Unit
	UnitOf []int
	// Count counts tokens as the session's model does. It is needed where a
	// strategy shortens messages.
	Count abi.Counter
}

// NewView returns a view of a list: it groups the messages into units and marks the current turn.
func NewView(of List, l Limits, count abi.Counter) *View {
	v := &View{Limits: l, List: of, Count: count}
	v.weigh()
	v.Units, v.UnitOf = abi.Units(v.Messages)
	v.Turn = make([]bool, len(v.Messages))
	if !l.All {
		v.Turn = abi.CurrentTurn(v.Messages)
	} else if last := lastOf(abi.Persons(v.Messages)); l.Newest && last >= 0 {
		v.Turn[last] = true
	}
	return v
}

// lastOf returns the index of the last mark, or -1.
func lastOf(marks []bool) int {
	for i := len(marks) - 1; i >= 0; i-- {
		if marks[i] {
			return i
		}
	}
	return -1
}

// weigh counts bytes, where they are bounded.
func (v *View) weigh() {
	if v.UpperBytes == 0 && v.TargetBytes == 0 {
		return
	}
	v.Bytes, v.TotalBytes = make([]int, len(v.Messages)), 0
	for i := range v.Messages {
		v.Bytes[i] = Bytes(&v.Messages[i])
		v.TotalBytes += v.Bytes[i]
	}
}

// Edited returns the view with edits in it, and the ids of the messages that
// changed.
func (v *View) Edited(edits []abi.Edit) (*View, []string) {
	if len(edits) == 0 {
		return v, nil
	}
	list, changed := v.List.Edited(edits, v.Count)
	return v.of(list), changed
}

// of returns the view with other texts in the same messages.
func (v *View) of(list List) *View {
	after := *v
	after.List = list
	after.weigh()
	return &after
}

// WithPins returns the view with other pins.
func (v *View) WithPins(pinned []bool) *View {
	after := *v
	after.Pinned = pinned
	return &after
}

// Candidate reports whether a unit may go: none of its messages is pinned or
// belongs to the current turn.
func (v *View) Candidate(u abi.Unit) bool {
	return !slices.ContainsFunc(u, func(i int) bool { return v.Pinned[i] || v.Turn[i] })
}

// UnitTokens returns the cost of a unit, in tokens.
func (v *View) UnitTokens(u abi.Unit) int {
	n := 0
	for _, i := range u {
		n += v.Tokens[i]
	}
	return n
}

// Fixed returns the cost, in tokens, of what cannot go: overhead and all units that are no candidates.
func (v *View) Fixed() int { return v.fixed().tokens }

// Fits reports whether the session is within its targets as it is.
func (v *View) Fits() bool { return v.fitsWithout(size{}, 0) }
