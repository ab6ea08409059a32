package abi

import "slices"

// Pinned marks the messages that no compaction may touch, under any strategy:
//   - the system prompt: every system message before the first message with the role of
//     the user and no kind, or where there is none the first system message that says
//     something, wherever it stands, with those right behind it;
//   - the first message of a person, which says what the task is;
//   - the instructions of a project, see [Message.IsInstructions];
//   - compactions that only their provider can read: nothing else carries the past;
//   - messages whose meta says always_keep, and those for which one of more reports
//     true (operator predicates, and [Keepers.Keeps]).
//
// Pinning is by message; a unit with one pinned member is kept whole. What is pinned for
// where it stands, the task of a person, may be shortened where it leaves no room for
// anything else: see [Message.AlwaysKept].
func Pinned(msgs []Message, more ...func(*Message) bool) []bool {
	pins, task := systemPrompt(msgs), task(msgs)
	for i := range msgs {
		m := &msgs[i]
		pins[i] = pins[i] || i == task || m.AlwaysKept()
		for _, pred := range more {
			pins[i] = pins[i] || pred(m)
		}
	}
	return pins
}

// systemPrompt marks the system prompt of a session. System messages that come later are
// ordinary: agents put reminders in on the way.
func systemPrompt(msgs []Message) []bool {
	marks, late, end := make([]bool, len(msgs)), -1, 0
	head, leads := true, false
	for i := range msgs {
		m := &msgs[i]
		head = head && !m.isUser()
		switch {
		case m.Role != RoleSystem:
		case head:
			marks[i], leads = true, true
		case (late < 0 || i == end) && m.Kind == "" && m.says():
			if end = i + 1; late < 0 {
				late = i
			}
		}
	}
	if !leads && late >= 0 {
		for i := late; i < end; i++ {
			marks[i] = true
		}
	}
	return marks
}

// AlwaysKept reports whether m is pinned for what it is, wherever it stands: then it
// stays to the byte.
func (m *Message) AlwaysKept() bool {
	return m.IsInstructions() || m.isOpaque() || m.Meta.Bool(MetaAlwaysKeep)
}

// task is the index of the message that says what the task is: the first of a
// person, or where none is of a person the first command that one typed, or else the
// first with the role of the user; -1 where there is none.
func task(msgs []Message) int {
	if i := slices.Index(Persons(msgs), true); i >= 0 {
		return i
	}
	if i := slices.IndexFunc(msgs, func(m Message) bool { return m.isTypedSetup() }); i >= 0 {
		return i
	}
	return slices.IndexFunc(msgs, func(m Message) bool { return m.isUser() })
}

// CurrentTurn marks what the model is busy with: the last message of a person
// and the unit of the last message. Earlier units of a long turn are
// candidates like any others.
func CurrentTurn(msgs []Message) []bool {
	turn := make([]bool, len(msgs))
	if len(msgs) == 0 {
		return turn
	}
	if i := lastTrue(Persons(msgs)); i >= 0 {
		turn[i] = true
	}
	units, of := Units(msgs)
	for _, i := range units[of[len(msgs)-1]] {
		turn[i] = true
	}
	return turn
}

// PrefixEnd is the index at which a summary belongs: right after the message that
// says what the task is, and a system prompt that stands behind that, or after the
// leading system messages where no message has the role of the user, moved past any
// unit that reaches across that place. What
// stands before it is never rewritten, so provider caches of it stay valid. A
// compaction that only its provider can read belongs to that prefix: providers do not
// show the model what stands before it.
func PrefixEnd(msgs []Message) int {
	end := 0
	for end < len(msgs) && msgs[end].Role == RoleSystem {
		end++
	}
	if i := task(msgs); i >= 0 {
		end = i + 1
		for prompt := systemPrompt(msgs); end < len(msgs) && prompt[end]; {
			end++
		}
	}
	for i := end; i < len(msgs); i++ {
		if msgs[i].isOpaque() {
			end = i + 1
		}
	}
	return nextGap(msgs, end)
}

// nextGap returns the first index at or after i where a message can be
// inserted without standing between a tool call and its result.
func nextGap(msgs []Message, i int) int {
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

// lastTrue is the last index that is marked, or -1.
func lastTrue(marks []bool) int {
	for i := len(marks) - 1; i >= 0; i-- {
		if marks[i] {
			return i
		}
	}
	return -1
}
