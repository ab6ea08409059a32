package wirecheck

import (
	"encoding/json"
	"fmt"
	"strings"
)

type claudeBlock struct {
	Type, Text, ID, Name string
	Thinking             *string
	Signature            string
	Data                 string
	Input                json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	Content              parts[claudeBlock]
	Source               json.RawMessage
}

type claudeMessage struct {
	Role    string
	Content parts[claudeBlock]
}

// Anthropic checks a body of POST /v1/messages. Messages of one role may follow
// each other: the API takes them for one. The last message may be an assistant's
// without content.
func Anthropic(body []byte) []string {
	var doc struct {
		System   parts[claudeBlock]
		Messages []claudeMessage
	}
	f := read(body, &doc)
	if f != nil {
		return f
	}
	for i, b := range doc.System.list {
		if b.Type != "text" || blank(b.Text) {
			f.add(fmt.Sprintf("system[%d]", i), "no text")
		}
	}
	if len(doc.Messages) == 0 {
		f.add("messages", "is empty")
	} else if doc.Messages[0].Role != "user" {
		f.add("messages[0]", "the first message is not the user's")
	}
	ids := make(map[string]bool)
	var open map[string]bool // the calls of the message before
	for i := range doc.Messages {
		m, at := &doc.Messages[i], fmt.Sprintf("messages[%d]", i)
		if m.Role != "user" && m.Role != "assistant" {
			f.add(at, "role %q", m.Role)
		}
		if empty := m.Content.isText && blank(m.Content.text) || !m.Content.isText && len(m.Content.list) == 0; empty &&
			(i < len(doc.Messages)-1 || m.Role != "assistant") {
			f.add(at, "no content")
		}
		f.claudeResults(at, m, open)
		open = f.claudeBlocks(at, m, ids)
	}
	f.unanswered("messages", open)
	return f
}

// claudeResults checks that a message answers the calls of the one before it,
// before it says anything else, and no others.
func (f *faults) claudeResults(at string, m *claudeMessage, open map[string]bool) {
	answered := make(map[string]bool)
	talk := false
	for k, b := range m.Content.list {
		at := fmt.Sprintf("%s.content[%d]", at, k)
		if b.Type != "tool_result" {
			talk = true
			continue
		}
		switch {
		case m.Role != "user":
			f.add(at, "a tool_result in role %s", m.Role)
		case talk && open[b.ToolUseID]:
			f.add(at, "a tool_result after other blocks")
		case answered[b.ToolUseID]:
			f.add(at, "a second tool_result for %q", b.ToolUseID)
		case !open[b.ToolUseID]:
			f.add(at, "a tool_result for %q, which the message before did not call", b.ToolUseID)
		}
		answered[b.ToolUseID] = true
		delete(open, b.ToolUseID)
	}
	f.unanswered(at, open)
}

// claudeBlocks checks the blocks of a message and returns its calls.
func (f *faults) claudeBlocks(at string, m *claudeMessage, ids map[string]bool) map[string]bool {
	open, served := make(map[string]bool), make(map[string]bool)
	for k, b := range m.Content.list {
		at := fmt.Sprintf("%s.content[%d]", at, k)
		switch {
		case b.Type == "text":
			if blank(b.Text) {
				f.add(at, "a text of nothing")
			}
		case b.Type == "thinking":
			if b.Thinking == nil || b.Signature == "" || m.Role != "assistant" {
				f.add(at, "thinking without a signature, or not the model's")
			}
		case b.Type == "redacted_thinking":
			if b.Data == "" || m.Role != "assistant" {
				f.add(at, "redacted thinking without data, or not the model's")
			}
		case b.Type == "tool_use":
			f.claudeCall(at, m, &b, ids)
			open[b.ID] = true
		case b.Type == "server_tool_use":
			served[b.ID] = true
		case b.Type == "tool_result":
			for _, inner := range b.Content.list {
				if inner.Type == "text" && blank(inner.Text) {
					f.add(at, "a text of nothing")
				}
			}
		case strings.HasSuffix(b.Type, "_tool_result"):
			if !served[b.ToolUseID] {
				f.add(at, "a result of the server's tool without its call")
			}
		case b.Type == "image" || b.Type == "document":
			if !isObject(b.Source) || m.Role != "user" {
				f.add(at, "%s without a source, or not the user's", b.Type)
			}
		case b.Type == "compaction":
			if m.Role != "assistant" {
				f.add(at, "a compaction in role %s", m.Role)
			}
		default:
			f.add(at, "a block of type %q", b.Type)
		}
	}
	return open
}

func (f *faults) claudeCall(at string, m *claudeMessage, b *claudeBlock, ids map[string]bool) {
	if m.Role != "assistant" {
		f.add(at, "a tool_use in role %s", m.Role)
	}
	if !plainID.MatchString(b.ID) {
		f.add(at, "id %q: letters, digits, _ and - alone", b.ID)
	}
	if ids[b.ID] {
		f.add(at, "id %q is used twice", b.ID)
	}
	ids[b.ID] = true
	if !longName.MatchString(b.Name) {
		f.add(at, "name %q", b.Name)
	}
	if !isObject(b.Input) {
		f.add(at, "an input that is no object")
	}
}
