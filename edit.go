package kagewasm

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// apply puts edits into messages and counts those anew. Messages and tokens are
// the caller's to change. It returns the ids of what changed, and by how many
// tokens.
func apply(edits []abi.Edit, msgs []abi.Message, tokens []int, counter abi.Counter) (changed []string, more int) {
	of := byMessage(edits)
	for i := range msgs {
		m := &msgs[i]
		mine := of[m.ID]
		if mine == nil {
			continue
		}
		edit(m, mine)
		n := counter.Message(m)
		more += n - tokens[i]
		tokens[i] = n
		changed = append(changed, m.ID)
	}
	return changed, more
}

// edit applies edits to a message that is the pass's own; what it shares with
// the caller's stays as it is.
func edit(m *abi.Message, edits []abi.Edit) {
	cloned := false
	for _, e := range edits {
		if e.Call == abi.EditContent {
			m.Content = abi.Text(e.Text)
			continue
		}
		if !cloned {
			m.ToolCalls, cloned = slices.Clone(m.ToolCalls), true
		}
		m.ToolCalls[e.Call].Arguments = e.Text
	}
}

func byMessage(edits []abi.Edit) map[string][]abi.Edit {
	of := make(map[string][]abi.Edit, len(edits))
	for _, e := range edits {
		of[e.ID] = append(of[e.ID], e)
	}
	return of
}

// staying are the edits of messages that do not go.
func staying(edits []abi.Edit, gone []string) []abi.Edit {
	out := idSet(gone)
	return slices.DeleteFunc(edits, func(e abi.Edit) bool { return out[e.ID] })
}

// among are the edits of the messages named.
func among(edits []abi.Edit, ids map[string]bool) []abi.Edit {
	return slices.DeleteFunc(edits, func(e abi.Edit) bool { return !ids[e.ID] })
}

// merged puts later edits in the place of earlier ones of the same text.
func merged(edits, later []abi.Edit) []abi.Edit {
	type place struct {
		id   string
		call int
	}
	at := make(map[place]int, len(edits))
	for i, e := range edits {
		at[place{e.ID, e.Call}] = i
	}
	for _, e := range later {
		if i, ok := at[place{e.ID, e.Call}]; ok {
			edits[i] = e
			continue
		}
		edits = append(edits, e)
	}
	return edits
}
