package firewall

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Edit applies edits to messages outside of a plan: those of pruning, and those that a strategy wants
// to see applied before it decides. It returns the new list, the cost of each message in it, and the
// ids of the messages that changed. The lists given are not changed. An edit that [Apply] would refuse
// for what it does to its message is left out.
func Edit(msgs []abi.Message, tokens []int, edits []abi.Edit, count abi.Counter) (
	after []abi.Message, cost []int, changed []string) {
	if len(edits) == 0 {
		return msgs, tokens, nil // as before most calls of the model
	}
	of := make(map[string][]abi.Edit, len(edits))
	for _, e := range edits {
		of[e.ID] = append(of[e.ID], e)
	}
	return change(msgs, tokens, count, func(m abi.Message) (abi.Message, bool) {
		done := false
		for _, e := range of[m.ID] {
			if short, err := edited(m, e); err == nil {
				m, done = short, true
			}
		}
		return m, done
	})
}

// change returns a list in which each message is what to makes of it, with the new costs and the ids of
// those that changed. The list given is not changed.
func change(msgs []abi.Message, tokens []int, count abi.Counter, to func(abi.Message) (abi.Message, bool)) (
	after []abi.Message, cost []int, changed []string) {
	after, cost = msgs, tokens
	for i := range msgs {
		m, ok := to(msgs[i])
		if !ok {
			continue
		}
		if len(changed) == 0 {
			after, cost = slices.Clone(msgs), slices.Clone(tokens)
		}
		after[i] = m
		cost[i] = count.Message(&after[i])
		changed = append(changed, m.ID)
	}
	return after, cost, changed
}

// edited returns m with one text replaced by a shorter one; the original keeps its own. The new text is
// defused like any that is inserted.
func edited(m abi.Message, e abi.Edit) (abi.Message, error) {
	was, err := editable(&m, e)
	if err != nil {
		return m, err
	}
	if len(e.Text) >= 2*len(was)+maxControls { // and will not be shorter for being defused
		return m, longer(m.ID, len(was), len(e.Text))
	}
	text := abi.Defuse(e.Text)
	switch {
	case strings.TrimSpace(text) == "":
		return m, refuse(abi.CodeEdit, "blanks %q: say at least what was there", m.ID)
	case len(text) >= len(was):
		return m, longer(m.ID, len(was), len(text))
	}
	if e.Call == abi.EditContent {
		m.Content = abi.Text(text)
		return m, nil
	}
	if isObject(was) && !isObject(text) {
		return m, refuse(abi.CodeEdit, "edits the arguments of a call of %q into what is no JSON object: providers refuse "+
			"such a session for good", m.ID)
	}
	m.ToolCalls = slices.Clone(m.ToolCalls)
	m.ToolCalls[e.Call].Arguments = text
	return m, nil
}

// maxControls is the most bytes of control characters that an edit may add, before it is too long.
const maxControls = 64 << 10

func longer(id string, was, is int) error {
	return refuse(abi.CodeEdit, "edits %q from %d bytes to %d: an edit has to shorten", id, was, is)
}

// editable returns the text that an edit would replace.
func editable(m *abi.Message, e abi.Edit) (string, error) {
	switch {
	case e.Call >= 0 && e.Call < len(m.ToolCalls):
		return m.ToolCalls[e.Call].Arguments, nil
	case e.Call != abi.EditContent || m.Role != abi.RoleTool:
		return "", refuse(abi.CodeEdit, "edits what %q (%s) says: only tool output and tool-call arguments may be edited",
			m.ID, m.Role)
	case !m.Content.IsParts():
		return m.Text(), nil
	}
	parts, err := m.Content.MarshalJSON()
	if err != nil {
		return "", refuse(abi.CodeEdit, "edits %q, whose content cannot be read: %v", m.ID, err)
	}
	return string(parts), nil
}

// isObject reports whether tool-call arguments are a JSON object. A model's own
// may be anything, and stay.
func isObject(arguments string) bool {
	return json.Valid([]byte(arguments)) && strings.HasPrefix(strings.TrimLeft(arguments, " \t\r\n"), "{")
}
