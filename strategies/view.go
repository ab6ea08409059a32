package strategies

import "github.com/kagewasm/kagewasm/abi"

// View is what a strategy sees of a session: the messages the model would be
// given, what each costs, and what may not go.
type View struct {
	Messages []abi.Message
	// Tokens is the cost of each message.
	Tokens []int
	// Total is the cost of the whole request: messages, tool definitions and
	// overhead.
	Total int
	// Target is what Total has to come down to.
	Target int
	// TargetBytes, where set, is what the body of the request has to come down
	// to, too. Then Bytes is what each message adds to it, see the function
	// [Bytes], and TotalBytes what it is now.
	TargetBytes, TotalBytes int
	Bytes                   []int
	// Pinned and Turn mark the messages that stay; see abi.Pinned and
	// abi.CurrentTurn.
	Pinned, Turn []bool

	Units  []abi.Unit
	UnitOf []int
}

// NewView groups the messages and marks what stays. With all set the current
// turn is a candidate like the rest, and only what is pinned stays.
func NewView(msgs []abi.Message, tokens []int, pinned []bool, all bool) *View {
	v := &View{Messages: msgs, Tokens: tokens, Pinned: pinned}
	v.Units, v.UnitOf = abi.Units(msgs)
	v.Turn = make([]bool, len(msgs))
	if !all {
		v.Turn = abi.CurrentTurn(msgs)
	}
	return v
}

// Candidate reports whether a unit may go: none of its messages is pinned or
// belongs to the current turn.
func (v *View) Candidate(u abi.Unit) bool {
	for _, i := range u {
		if v.Pinned[i] || v.Turn[i] {
			return false
		}
	}
	return true
}

// UnitTokens is the cost of a unit.
func (v *View) UnitTokens(u abi.Unit) int {
	n := 0
	for _, i := range u {
		n += v.Tokens[i]
	}
	return n
}

// Fixed is the cost of what cannot go: overhead and all units that are no
// candidates.
func (v *View) Fixed() int { return v.fixed().Tokens }
