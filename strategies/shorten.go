package strategies

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// shortenRecent returns edits that cut tool output to about limit tokens each,
// beginning and end. What is pinned stays as it is, and so do the current turn,
// which the model is busy with, and the output of protected tools; see
// [PruneConfig.ProtectedTools]. 0 is no limit.
func shortenRecent(v *View, limit int, protected []string) []abi.Edit {
	if limit <= 0 {
		return nil
	}
	if protected == nil {
		protected = defaultProtectedTools
	}
	calls := callsOf(v.Messages)
	var edits []abi.Edit
	for i := range v.Messages {
		m := &v.Messages[i]
		if m.Role != abi.RoleTool || v.Tokens[i] <= limit || v.Pinned[i] || v.Turn[i] || isProtected(m, calls[i], protected) {
			continue
		}
		if s, ok := shorten(m, v.Tokens[i], limit, limit, v.Count); ok {
			edits = append(edits, s.Edit)
		}
	}
	return edits
}

// shortened is an edit and what the message costs with it.
type shortened struct {
	abi.Edit
	tokens int
}

// shorten returns the edit that brings a tool result of so many tokens within limit: media become
// references, and where that is not enough, only the beginning and end of the text are kept, of at most
// end tokens each.
func shorten(m *abi.Message, tokens, limit, end int, count abi.Counter) (shortened, bool) {
	blank := *m
	blank.Content = abi.Text("")
	frame := count.Message(&blank)
	text, n := plain(m.Content), tokens-frame
	if m.Content.IsParts() {
		text = abi.Defuse(text)
		n = count.Text(text)
	}
	if n > limit-frame {
		text = ends(text, n, limit-frame, end, count.Text)
	}
	return replace(m, tokens, text, count)
}

// replace returns the edit that puts text in the place of a tool result's content. It returns none
// where the firewall would refuse it, where nothing is saved, and for what is a notice already.
func replace(m *abi.Message, tokens int, text string, count abi.Counter) (shortened, bool) {
	if !m.Content.IsParts() && isNotice(m.Text()) || strings.TrimSpace(text) == "" ||
		len(text) >= contentBytes(m.Content) {
		return shortened{}, false
	}
	short := *m
	short.Content = abi.Text(text)
	n := count.Message(&short)
	return shortened{abi.Edit{ID: m.ID, Call: abi.EditContent, Text: text}, n}, n < tokens
}

// contentBytes returns the length that an edit has to stay below.
func contentBytes(c abi.Content) int {
	if !c.IsParts() {
		return len(c.Text())
	}
	b, err := c.MarshalJSON()
	if err != nil {
		return 0 // and so it stays
	}
	return len(b)
}

// callsOf returns, for each tool result, the call it answers, or nil.
func callsOf(msgs []abi.Message) []*abi.ToolCall {
	calls := make([]*abi.ToolCall, len(msgs))
	made := make(map[string]*abi.ToolCall) // last, by id
	for i := range msgs {
		m := &msgs[i]
		for k := range m.ToolCalls {
			made[m.ToolCalls[k].ID] = &m.ToolCalls[k]
		}
		if m.Role == abi.RoleTool {
			calls[i] = made[m.ToolCallID]
		}
	}
	return calls
}

// isProtected reports whether a result is from one of the tools, by its own name
// or that of its call, whatever the case.
func isProtected(m *abi.Message, call *abi.ToolCall, tools []string) bool {
	name := m.Name
	if name == "" && call != nil {
		name = call.Name
	}
	return slices.ContainsFunc(tools, func(t string) bool { return strings.EqualFold(t, name) })
}
