package transcript

import (
	"bytes"

	"github.com/kagewasm/kagewasm/abi"
)

func inputText(text string) []byte {
	return new(builder).str("type", "input_text").str("text", text).bytes()
}

// responsesArgument writes the arguments of a call, which are a text.
func responsesArgument(text string, _ slot) []byte { return quote(text) }

// responsesOutput writes the output of a call.
func responsesOutput(c abi.Content, _ slot) []byte {
	if !c.IsParts() {
		return quote(c.Text())
	}
	return listJSON(inputParts(c))
}

// inputParts writes what is not the model's.
func inputParts(c abi.Content) (parts [][]byte) {
	for _, p := range c.Parts() {
		img, isImage := imageOf(p)
		switch {
		case p.Type == "text":
			parts = append(parts, inputText(p.Text))
		case isThinking(p.Type):
		case p.Type == "input_image", p.Type == "input_file", p.Type == "input_audio":
			parts = append(parts, partJSON(p))
		case isImage:
			parts = append(parts, img.responses())
		default:
			parts = append(parts, inputText("["+p.Type+"]"))
		}
	}
	return parts
}

// responsesMessage writes a new message as the items of a list.
func responsesMessage(m *abi.Message) []byte {
	return bytes.Join((&responsesWriter{}).items(m, 0), []byte{','})
}

// responsesWriter writes messages as the items of an input.
type responsesWriter struct {
	ids wireIDs
}

// items writes a message. It is at least one item.
func (w *responsesWriter) items(m *abi.Message, i int) [][]byte {
	switch m.Role {
	case abi.RoleTool:
		b := new(builder).str("type", "function_call_output").str("call_id", w.ids.result(m.ToolCallID))
		return [][]byte{b.raw("output", responsesOutput(m.Content, slot{})).bytes()}
	case abi.RoleAssistant:
		return w.answer(m, i)
	}
	if p := m.Content.Parts(); len(p) == 1 && isCompactionItem(p[0]) {
		return [][]byte{partJSON(p[0])}
	}
	content := quote(m.Text())
	if parts := inputParts(m.Content); len(parts) > 0 {
		content = listJSON(parts)
	}
	return [][]byte{new(builder).str("role", string(m.Role)).raw("content", content).bytes()}
}

func isCompactionItem(p abi.Part) bool {
	return p.Type == "compaction" || p.Type == "compaction_summary"
}

// answer writes an assistant's message: what it thought, where that came from
// this API, its words, its calls.
func (w *responsesWriter) answer(m *abi.Message, i int) (items [][]byte) {
	text := plainText(m.Content)
	if text != "" || len(m.ToolCalls) > 0 {
		for _, p := range m.Content.Parts() {
			if p.Type == "reasoning" {
				items = append(items, partJSON(p))
			}
		}
	}
	if text != "" || len(m.ToolCalls) == 0 {
		items = append(items, new(builder).str("role", "assistant").str("content", text).bytes())
	}
	for _, c := range m.ToolCalls {
		b := new(builder).str("type", "function_call").str("call_id", w.ids.call(c.ID, i)).str("name", c.Name)
		items = append(items, b.str("arguments", c.Arguments).bytes())
	}
	return items
}

// compose writes a request body, one item a line.
func (responses) compose(s *Session, msgs []abi.Message) []byte {
	w := &responsesWriter{ids: wireIDs{most: 64}}
	var items [][]byte
	for i := range msgs {
		items = append(items, w.items(&msgs[i], i)...)
	}
	body := new(builder).maybe("model", s.Model).raw("input", linesJSON(items))
	if tools := toolsOf(s.Tools).responses(); len(tools) > 0 {
		body.raw("tools", linesJSON(tools))
	}
	return append(body.bytes(), '\n')
}
