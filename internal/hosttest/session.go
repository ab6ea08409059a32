package hosttest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Words counts words, so that tests can see their figures.
type Words struct{}

// Text implements abi.Counter.
func (Words) Text(s string) int { return len(strings.Fields(s)) }

// Message implements abi.Counter.
func (c Words) Message(m *abi.Message) int {
	n := 1 + c.Text(m.Text())
	for _, call := range m.ToolCalls {
		n += 1 + c.Text(call.Arguments)
	}
	return n
}

// Chat is a system prompt, a goal, n exchanges of a tool call with its result
// (about 24 words each), and a last word from the person.
func Chat(n int) []abi.Message {
	msgs := []abi.Message{
		{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are careful.")},
		{ID: "goal", Role: abi.RoleUser, Content: abi.Text("Make the tests pass.")},
	}
	for i := range n {
		call := fmt.Sprintf("c%d", i)
		msgs = append(msgs,
			abi.Message{ID: fmt.Sprintf("a%d", i), Role: abi.RoleAssistant,
				Content:   abi.Text(fmt.Sprintf("Looking at step %d of the work now.", i)),
				ToolCalls: []abi.ToolCall{{ID: call, Name: "run", Arguments: fmt.Sprintf(`{"command": "go test ./step%d"}`, i)}}},
			abi.Message{ID: fmt.Sprintf("t%d", i), Role: abi.RoleTool, ToolCallID: call,
				Content: abi.Text(fmt.Sprintf("ok step%d in pkg/step%d/run.go at line %d", i, i, 100+i))})
	}
	return append(msgs, abi.Message{ID: "last", Role: abi.RoleUser, Content: abi.Text("Go on please.")})
}

// LongWindow is a window in which Long is due, with room for a summary of the
// default size.
const LongWindow = 8000

// Long is a session of 7,150 words.
func Long() []abi.Message { return Chat(310) }

// Renamed are copies of messages whose ids begin with a prefix.
func Renamed(msgs []abi.Message, prefix string) []abi.Message {
	out := slices.Clone(msgs)
	for i := range out {
		m := &out[i]
		m.ID = prefix + m.ID
		if m.ToolCallID != "" {
			m.ToolCallID = prefix + m.ToolCallID
		}
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for k := range m.ToolCalls {
			m.ToolCalls[k].ID = prefix + m.ToolCalls[k].ID
		}
	}
	return out
}

// IDs are the ids of messages, separated by spaces.
func IDs(msgs []abi.Message) string {
	return strings.Join(lists.Map(msgs, func(m abi.Message) string { return m.ID }), " ")
}

// Has reports whether one of the messages has that id.
func Has(msgs []abi.Message, id string) bool {
	return slices.ContainsFunc(msgs, func(m abi.Message) bool { return m.ID == id })
}
