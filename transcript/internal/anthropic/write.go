package anthropic

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// newIDs makes ids as the API accepts them: each is used once.
func newIDs() *content.WireIDs { return content.NewWireIDs(content.WireIDs{Plain: true, Unique: true}) }

// writeMessage writes one message. The format has no place for its id, time and
// kind. A system message among others becomes the user's.
func writeMessage(m *abi.Message) []byte {
	if m.Role == abi.RoleTool {
		return record("user", [][]byte{ToolResult(m, m.ToolCallID)})
	}
	return spoken(newIDs(), m, 0)
}

func record(role string, blocks [][]byte) []byte { return jsondoc.Obj("role", role, "content", blocks) }

// spoken writes message i of a list, which is no tool result.
func spoken(ids *content.WireIDs, m *abi.Message, i int) []byte {
	switch {
	case m.Role != abi.RoleAssistant && !m.Content.IsParts():
		return jsondoc.Obj("role", "user", "content", content.NonEmpty(m.Text()))
	case m.Role != abi.RoleAssistant:
		return record("user", spokenBlocks(m))
	}
	blocks := spokenBlocks(m)
	for _, c := range m.ToolCalls {
		blocks = append(blocks, ToolUse(c, ids.Call(c.ID, i)))
	}
	return record("assistant", blocks)
}

// spokenBlocks are the blocks of what a message says, without those that the
// API refuses: empty texts, and thinking that is not signed. They are none only
// beside calls.
func spokenBlocks(m *abi.Message) (blocks [][]byte) {
	parts := m.Content.Parts()
	if !m.Content.IsParts() {
		parts = []abi.Part{abi.TextPart(m.Text())}
	}
	for _, p := range parts {
		switch {
		case p.Type == "text" && strings.TrimSpace(p.Text) == "":
		case content.IsThinking(p.Type) && (m.Role != abi.RoleAssistant || !isSigned(p)):
		case isServerTool(p.Type) && m.Role != abi.RoleAssistant:
			blocks = append(blocks, content.TextPart("["+p.Type+"]"))
		default:
			blocks = append(blocks, Form.Part(p))
		}
	}
	if len(blocks) == 0 && len(m.ToolCalls) == 0 {
		blocks = [][]byte{content.TextPart(content.NonEmpty(""))}
	}
	return blocks
}

// write writes a request body, one message a line. The messages of the
// system prompt are blocks of "system"; the results of one answer's
// calls stand in one message.
func write(about codec.About, msgs []abi.Message) []byte {
	ids := newIDs()
	var system, records, results [][]byte
	prompt, rest := codec.SystemPrompt(msgs)
	for i := range prompt {
		system = append(system, content.TextPart(content.NonEmpty(prompt[i].Text())))
	}
	for i := range rest {
		m := &rest[i]
		if m.Role != abi.RoleTool {
			records = append(records, spoken(ids, m, i))
			continue
		}
		results = append(results, ToolResult(m, ids.Result(m.ToolCallID)))
		if i+1 == len(rest) || rest[i+1].Role != abi.RoleTool {
			records, results = append(records, record("user", results)), nil
		}
	}
	tools := content.WriteTools(content.ToolsOf(about.Tools), name, func(t content.Tool) []byte {
		return jsondoc.Obj(t.Fields("input_schema")...)
	})
	return append(jsondoc.Obj("model", jsondoc.Maybe(about.Model), "max_tokens", 4096,
		"system", jsondoc.If(len(system) > 0, system), "messages", jsondoc.Lines(records),
		"tools", jsondoc.If(len(tools) > 0, jsondoc.Lines(tools))), '\n')
}
