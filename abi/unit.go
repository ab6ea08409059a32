package abi

// Unit is a group of messages that a compaction keeps or drops as one: an
// assistant message with the results of all its tool calls, or any other
// message alone. Values are indices into the message list, in
// ascending order; they need not be adjacent.
type Unit []int

// Units groups messages into units and returns, beside them, the unit of each
// message. Units are ordered by their first message.
//
// A call is answered by the next result that carries its id. Real logs use an
// id again while an earlier call of that id is still open; the result then
// belongs to the latest message that made such a call, and the earlier one
// counts as unanswered. A message that makes several calls of one id (or of
// none) takes as many results. A result no open call asked for is a unit of
// its own.
func Units(msgs []Message) (units []Unit, of []int) {
	of = make([]int, len(msgs))
	open := make(openCalls)
	for i := range msgs {
		m := &msgs[i]
		if m.Role == RoleTool {
			if u, ok := open.answer(m.ToolCallID); ok {
				units[u] = append(units[u], i)
				of[i] = u
				continue
			}
		}
		of[i] = len(units)
		units = append(units, Unit{i})
		if m.Role == RoleAssistant {
			for _, c := range m.ToolCalls {
				open.add(c.ID, of[i])
			}
		}
	}
	return units, of
}

// openCalls are the calls without a result yet: by id, who made them last, and
// how many of them.
type openCalls map[string]struct{ by, n int }

// add opens a call, and returns who made the open ones of that id before, if
// that was somebody else.
func (o openCalls) add(id string, by int) (earlier int, replaced bool) {
	c, ok := o[id]
	if ok && c.by == by {
		c.n++
		o[id] = c
		return 0, false
	}
	o[id] = struct{ by, n int }{by, 1}
	return c.by, ok
}

// answer closes a call of that id and returns who made it.
func (o openCalls) answer(id string) (by int, ok bool) {
	c, ok := o[id]
	if c.n--; c.n > 0 {
		o[id] = c
	} else {
		delete(o, id)
	}
	return c.by, ok
}

// Orphans lists the pairing faults of a message list: calls that no result
// answers and results that no call asked for. Keys are "MESSAGE/CALL" ids, so
// that two lists can be compared; a compaction must add none.
func Orphans(msgs []Message) (calls, results map[string]bool) {
	calls, results = make(map[string]bool), make(map[string]bool)
	open := make(openCalls)
	for i := range msgs {
		m := &msgs[i]
		switch m.Role {
		case RoleAssistant:
			for _, c := range m.ToolCalls {
				if earlier, replaced := open.add(c.ID, i); replaced {
					calls[msgs[earlier].ID+"/"+c.ID] = true
				}
			}
		case RoleTool:
			if _, ok := open.answer(m.ToolCallID); !ok {
				results[m.ID+"/"+m.ToolCallID] = true
			}
		}
	}
	for id, c := range open {
		calls[msgs[c.by].ID+"/"+id] = true
	}
	return calls, results
}
