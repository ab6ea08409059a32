package abi

// Unit is a group of messages that a compaction keeps or drops as one: an
// assistant message with the results of all its tool calls, or any other
// message alone (FEATURES K9). Values are indices into the message list, in
// ascending order; they need not be adjacent.
type Unit []int

// Units groups messages into units and returns, beside them, the unit of each
// message. Units are ordered by their first message.
//
// A call is answered by the next result that carries its id. Real logs use an
// id again while an earlier call of that id is still open; the result then
// belongs to the latest call, and the earlier one counts as unanswered. A
// result no open call asked for is a unit of its own.
func Units(msgs []Message) (units []Unit, of []int) {
	of = make([]int, len(msgs))
	open := make(map[string]int) // call id -> unit
	for i := range msgs {
		m := &msgs[i]
		if m.Role == RoleTool {
			if u, ok := open[m.ToolCallID]; ok {
				delete(open, m.ToolCallID)
				units[u] = append(units[u], i)
				of[i] = u
				continue
			}
		}
		of[i] = len(units)
		units = append(units, Unit{i})
		if m.Role == RoleAssistant {
			for _, c := range m.ToolCalls {
				open[c.ID] = of[i]
			}
		}
	}
	return units, of
}

// Orphans lists the pairing faults of a message list: calls that no result
// answers and results that no call asked for. Keys are "MESSAGE/CALL" ids, so
// that two lists can be compared; a compaction must add none.
func Orphans(msgs []Message) (calls, results map[string]bool) {
	calls, results = make(map[string]bool), make(map[string]bool)
	open := make(map[string]string) // call id -> id of the message that made it
	for i := range msgs {
		m := &msgs[i]
		switch m.Role {
		case RoleAssistant:
			for _, c := range m.ToolCalls {
				if earlier, ok := open[c.ID]; ok {
					calls[earlier+"/"+c.ID] = true
				}
				open[c.ID] = m.ID
			}
		case RoleTool:
			if _, ok := open[m.ToolCallID]; ok {
				delete(open, m.ToolCallID)
			} else {
				results[m.ID+"/"+m.ToolCallID] = true
			}
		}
	}
	for id, m := range open {
		calls[m+"/"+id] = true
	}
	return calls, results
}
