package abi

// Pinned marks the messages that no compaction may touch, under any strategy:
// every system message before the first message of a person,
// that first message, and messages whose meta says always_keep. Also marks the
// messages for which one of more reports true (operator predicates).
//
// Pinning is by message; a unit with one pinned member is kept whole.
func Pinned(msgs []Message, more ...func(*Message) bool) []bool {
	pins := make([]bool, len(msgs))
	head := true
	for i := range msgs {
		m := &msgs[i]
		if head && (m.Role == RoleSystem || m.IsPerson()) {
			pins[i] = true
			head = !m.IsPerson()
		}
		if m.Meta.Bool(MetaAlwaysKeep) {
			pins[i] = true
		}
		for _, pred := range more {
			if pred(m) {
				pins[i] = true
			}
		}
	}
	return pins
}

// CurrentTurn marks what the model is busy with: the last message of a person
// and the unit of the last message. Earlier units of a long turn are
// candidates like any others.
func CurrentTurn(msgs []Message) []bool {
	turn := make([]bool, len(msgs))
	if len(msgs) == 0 {
		return turn
	}
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].IsPerson() {
			turn[i] = true
			break
		}
	}
	units, of := Units(msgs)
	for _, i := range units[of[len(msgs)-1]] {
		turn[i] = true
	}
	return turn
}

// PrefixEnd is the index at which a summary belongs: right after the stable
// prefix (the first message of a person, or the leading system messages where
// there is none), moved past any unit that reaches across that place. What
// stands before it is never rewritten, so provider caches of it stay valid.
func PrefixEnd(msgs []Message) int {
	end := 0
	for end < len(msgs) && msgs[end].Role == RoleSystem {
		end++
	}
	for i := range msgs {
		if msgs[i].IsPerson() {
			end = i + 1
			break
		}
	}
	return NextGap(msgs, end)
}

// NextGap returns the first index at or after i where a message can be
// inserted without standing between a tool call and its result.
func NextGap(msgs []Message, i int) int {
	units, _ := Units(msgs)
	for _, u := range units {
		// Units are ordered by first message, so one pass settles chains of
		// overlapping units.
		if first, last := u[0], u[len(u)-1]; first < i && i <= last {
			i = last + 1
		}
	}
	return i
}
