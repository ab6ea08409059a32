package abi

// Unit is a group of messages that a compaction keeps or drops as one: an
// assistant message with all results of its tool calls, or any other
// message alone. Values are indices into the message list, in
// ascending order; they need not be adjacent.
type Unit []int

// Units groups messages into units and returns, beside them, the unit of each
// message. Units are ordered by their first message.
//
// A call is answered by the results that carry its id, wherever they stand, until
// another message makes a call of that id. Mostly that is one result; some logs
// tell in one that a call began and in the next how it ended. Real logs use an id
// again while an earlier call of that id is still open; results then belong to the
// latest message that made such a call, and the earlier one counts as unanswered. A
// result that no call before it asked for is a unit of its own.
func Units(msgs []Message) (units []Unit, of []int) {
	of = make([]int, len(msgs))
	made := newCallers(msgs)
	for i := range msgs {
		m := &msgs[i]
		if m.Role == RoleTool {
			if u, ok := made.answer(m.ToolCallID); ok {
				units[u] = append(units[u], i)
				of[i] = u
				continue
			}
		}
		of[i] = len(units)
		units = append(units, Unit{i})
		if m.Role == RoleAssistant {
			for _, c := range m.ToolCalls {
				made.add(c.ID, of[i])
			}
		}
	}
	return units, of
}

// callers are who made the last calls of each id, and how many of these have no
// result yet.
type callers map[string]struct{ by, open int }

// newCallers returns callers with room for all calls of a list, which need not grow then.
func newCallers(msgs []Message) callers {
	n := 0
	for i := range msgs {
		n += len(msgs[i].ToolCalls)
	}
	return make(callers, n)
}

// add adds a call, and returns who made the calls of that id before, if that was
// somebody else and one of them is open.
func (c callers) add(id string, by int) (earlier int, left bool) {
	last, ok := c[id]
	if ok && last.by == by {
		last.open++
		c[id] = last
		return 0, false
	}
	c[id] = struct{ by, open int }{by, 1}
	return last.by, last.open > 0
}

// answer takes a result of that id and returns who made the call. A message that
// makes several calls of one id (or of none) takes a result for each; all others
// are further ones, which close no call.
func (c callers) answer(id string) (by int, ok bool) {
	last, ok := c[id]
	if last.open > 0 {
		last.open--
		c[id] = last
	}
	return last.by, ok
}

// Orphans lists the pairing faults of a message list: calls that no result
// answers and results that no call asked for. Keys are "MESSAGE/CALL" ids, so
// that two lists can be compared; a compaction must add none.
func Orphans(msgs []Message) (calls, results map[string]bool) {
	calls, results = make(map[string]bool), make(map[string]bool)
	made := newCallers(msgs)
	for i := range msgs {
		m := &msgs[i]
		switch m.Role {
		case RoleAssistant:
			for _, c := range m.ToolCalls {
				if earlier, left := made.add(c.ID, i); left {
					calls[msgs[earlier].ID+"/"+c.ID] = true
				}
			}
		case RoleTool:
			if _, ok := made.answer(m.ToolCallID); !ok {
				results[m.ID+"/"+m.ToolCallID] = true
			}
		}
	}
	for id, c := range made {
		if c.open > 0 {
			calls[msgs[c.by].ID+"/"+id] = true
		}
	}
	return calls, results
}
