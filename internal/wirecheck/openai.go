package wirecheck

import (
	"fmt"
	"slices"
)

type chatMessage struct {
	Role       string
	Content    parts[struct{ Type string }]
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID, Type string
		Function struct {
			Name      string
			Arguments *string
		}
		Custom struct{ Name string }
	} `json:"tool_calls"`
	FunctionCall *struct{ Name string } `json:"function_call"`
	Refusal      string
	Name         string
}

// chatParts are the types of parts that each role may have.
var chatParts = map[string][]string{
	"system": {"text"}, "developer": {"text"}, "tool": {"text"},
	"user":      {"text", "image_url", "input_audio", "file"},
	"assistant": {"text", "refusal"},
}

// OpenAI checks a body of POST /v1/chat/completions.
func OpenAI(body []byte) []string {
	var doc struct{ Messages []chatMessage }
	f := read(body, &doc)
	if f != nil {
		return f
	}
	if len(doc.Messages) == 0 {
		f.add("messages", "is empty")
	}
	open := make(map[string]bool) // the calls that still want their result
	for i, m := range doc.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		if m.Role != "tool" {
			f.unanswered(at, open)
			clear(open)
		}
		f.chat(at, &m, open)
	}
	f.unanswered("messages", open)
	return f
}

func (f *faults) unanswered(at string, open map[string]bool) {
	for id := range open {
		f.add(at, "no result for the call %q before it", id)
	}
}

// chat checks one message.
func (f *faults) chat(at string, m *chatMessage, open map[string]bool) {
	allowed, ok := chatParts[m.Role]
	if !ok && m.Role != "function" {
		f.add(at, "role %q", m.Role)
		return
	}
	if m.Content.set && !m.Content.isText && len(m.Content.list) == 0 {
		f.add(at, "a content of no parts")
	}
	for _, p := range m.Content.list {
		if !slices.Contains(allowed, p.Type) {
			f.add(at, "a part of type %q in role %s", p.Type, m.Role)
		}
	}
	switch m.Role {
	case "assistant":
		if !m.Content.set && len(m.ToolCalls) == 0 && m.FunctionCall == nil && m.Refusal == "" {
			f.add(at, "neither content nor calls")
		}
	case "tool":
		if !open[m.ToolCallID] {
			f.add(at, "a result for %q, which no call before it asked for", m.ToolCallID)
		}
		delete(open, m.ToolCallID)
		fallthrough
	default:
		if !m.Content.set {
			f.add(at, "no content")
		}
	}
	for k, c := range m.ToolCalls {
		f.chatCall(fmt.Sprintf("%s.tool_calls[%d]", at, k), m, k, open)
		open[c.ID] = true
	}
}

func (f *faults) chatCall(at string, m *chatMessage, k int, open map[string]bool) {
	c := m.ToolCalls[k]
	name := c.Function.Name
	switch {
	case m.Role != "assistant":
		f.add(at, "calls in role %s", m.Role)
	case c.Type == "custom":
		name = c.Custom.Name
	case c.Type != "function":
		f.add(at, "type %q", c.Type)
	case c.Function.Arguments == nil:
		f.add(at, "no arguments")
	}
	if !toolName.MatchString(name) {
		f.add(at, "name %q", name)
	}
	if c.ID == "" || len(c.ID) > 40 {
		f.add(at, "id %q: 1 to 40 bytes", c.ID)
	}
	if open[c.ID] {
		f.add(at, "id %q twice in one message", c.ID)
	}
}
