package transcript

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// anthropicWriter writes messages as the Messages API accepts them: results of
// one answer's calls stand in one message, no content is empty, ids are used
// once. Thinking is left out where it has no signature.
type anthropicWriter struct {
	ids wireIDs
}

func newAnthropicWriter() *anthropicWriter {
	return &anthropicWriter{ids: wireIDs{plain: true, unique: true}}
}

// anthropicMessage writes one message. Its id, time and kind have no place in
// the format, and a system message stands apart from the others: among them it
// becomes the user's.
func anthropicMessage(m *abi.Message) []byte {
	if m.Role == abi.RoleTool {
		return anthropicRecord("user", [][]byte{toolResult(m, m.ToolCallID)})
	}
	return newAnthropicWriter().message(m, 0)
}

func anthropicRecord(role string, blocks [][]byte) []byte {
	return new(builder).str("role", role).raw("content", listJSON(blocks)).bytes()
}

// message writes message i, which is no tool result.
func (w *anthropicWriter) message(m *abi.Message, i int) []byte {
	if m.Role != abi.RoleAssistant {
		if !m.Content.IsParts() {
			return new(builder).str("role", "user").str("content", said(m.Text())).bytes()
		}
		return anthropicRecord("user", spokenBlocks(m))
	}
	blocks := spokenBlocks(m)
	for _, c := range m.ToolCalls {
		blocks = append(blocks, toolUse(c, w.ids.call(c.ID, i)))
	}
	return anthropicRecord("assistant", blocks)
}

// spokenBlocks are the blocks of what a message says, without those that the
// API refuses. They are none only beside calls.
func spokenBlocks(m *abi.Message) (blocks [][]byte) {
	parts := m.Content.Parts()
	if !m.Content.IsParts() {
		parts = []abi.Part{abi.TextPart(m.Text())}
	}
	for _, p := range parts {
		switch {
		case p.Type == "text" && strings.TrimSpace(p.Text) == "":
		case isThinking(p.Type) && (m.Role != abi.RoleAssistant || !isSigned(p)):
		case isServerTool(p.Type) && m.Role != abi.RoleAssistant:
			blocks = append(blocks, textPart("["+p.Type+"]"))
		default:
			blocks = append(blocks, claudePart(p))
		}
	}
	if len(blocks) == 0 && len(m.ToolCalls) == 0 {
		blocks = [][]byte{textPart(said(""))}
	}
	return blocks
}

// compose writes a request body, one message a line. The system messages that
// the session begins with are blocks of "system".
func (anthropic) compose(s *Session, msgs []abi.Message) []byte {
	w := newAnthropicWriter()
	lead := leadingSystem(msgs)
	body := new(builder).maybe("model", s.Model).raw("max_tokens", []byte("4096"))
	if lead > 0 {
		var blocks [][]byte
		for i := range msgs[:lead] {
			blocks = append(blocks, textPart(said(msgs[i].Text())))
		}
		body.raw("system", listJSON(blocks))
	}
	var records [][]byte
	for i := lead; i < len(msgs); i++ {
		if msgs[i].Role != abi.RoleTool {
			records = append(records, w.message(&msgs[i], i))
			continue
		}
		var results [][]byte
		for ; i < len(msgs) && msgs[i].Role == abi.RoleTool; i++ {
			results = append(results, toolResult(&msgs[i], w.ids.result(msgs[i].ToolCallID)))
		}
		i--
		records = append(records, anthropicRecord("user", results))
	}
	body.raw("messages", linesJSON(records))
	if tools := toolsOf(s.Tools).anthropic(); len(tools) > 0 {
		body.raw("tools", linesJSON(tools))
	}
	return append(body.bytes(), '\n')
}

// leadingSystem is how many system messages a list begins with.
func leadingSystem(msgs []abi.Message) int {
	for i := range msgs {
		if msgs[i].Role != abi.RoleSystem {
			return i
		}
	}
	return len(msgs)
}
