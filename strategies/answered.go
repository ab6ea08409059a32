package strategies

import (
	"github.com/kagewasm/kagewasm/abi"
)

// maxReply is how long the newest words of a person are, in bytes, that may be nothing without what the model said just
// before them: "yes, go ahead", "the second one, but without the cache".
const maxReply = 200

// answeredShare is the part of the target, one of so many, that what they answer may take for it to stay.
const answeredShare = 8

// answered returns the unit of what the model said just before the newest words of a person, where these are so short
// that they may be nothing without it: a plan that somebody approved is what has to be done. It is nil where there is
// none, and where it has to stay in any case. Calls and their results are no answer.
func answered(v *View) abi.Unit {
	persons := abi.Persons(v.Messages)
	at := len(persons) - 1
	for at >= 0 && !persons[at] {
		at--
	}
	if at < 0 || len(v.Messages[at].Words()) > maxReply {
		return nil
	}
	for at--; at >= 0 && v.Messages[at].Kind.Internal(); at-- {
	}
	if at < 0 {
		return nil
	}
	u, m := v.Units[v.UnitOf[at]], &v.Messages[at]
	if m.Role != abi.RoleAssistant || m.Kind != "" || len(m.ToolCalls) > 0 || len(u) > 1 || !v.Candidate(u) {
		return nil
	}
	return u
}

// keepsAnswered returns the first message of that unit where it stays in a choice with so much room, -1 where it may
// go.
func keepsAnswered(v *View, left size, keep *KeepConfig) int {
	u := answered(v)
	if u == nil || keep.OnePiece || keep.Recent() ||
		!v.size(u).within(left) || v.UnitTokens(u) > v.Target/answeredShare {
		return -1
	}
	return u[0]
}
