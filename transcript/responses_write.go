package transcript

import (
	"bytes"

	"github.com/kagewasm/kagewasm/abi"
)

// The types of a text in an item: what the model says is put out, all else put
// in.
const (
	inputText  = "input_text"
	outputText = "output_text"
)

// responsesOutput writes the output of a call.
func responsesOutput(c abi.Content, _ slot) []byte {
	if !c.IsParts() {
		return quote(c.Text())
	}
	return listJSON(itemParts(c, inputText))
}

// itemParts writes the parts of a content, with texts of a type. An empty text
// has none.
func itemParts(c abi.Content, typ string) (parts [][]byte) {
	say := func(text string) {
		parts = append(parts, new(builder).str("type", typ).str("text", text).bytes())
	}
	if !c.IsParts() && c.Text() != "" {
		say(c.Text())
	}
	for _, p := range c.Parts() {
		img, isImage := imageOf(p)
		switch {
		case p.Type == "text":
			say(p.Text)
		case isThinking(p.Type):
		case p.Type == "input_image", p.Type == "input_file", p.Type == "input_audio":
			parts = append(parts, partJSON(p))
		case img.at() != "":
			parts = append(parts, img.responses())
		case isImage:
			say(noImage)
		default:
			say("[" + p.Type + "]")
		}
	}
	return parts
}

// functionCall and functionOutput write a call and its result as items, under
// the given id.
func functionCall(c abi.ToolCall, id string) []byte {
	return new(builder).str("type", "function_call").str("call_id", id).str("name", c.Name).str("arguments", c.Arguments).bytes()
}

func functionOutput(c abi.Content, id string) []byte {
	return new(builder).str("type", "function_call_output").str("call_id", id).raw("output", responsesOutput(c, slot{})).bytes()
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
		return [][]byte{functionOutput(m.Content, w.ids.result(m.ToolCallID))}
	case abi.RoleAssistant:
		return w.answer(m, i)
	}
	if p := m.Content.Parts(); len(p) == 1 && isCompactionItem(p[0].Type) {
		return [][]byte{partJSON(p[0])}
	}
	content := responsesOutput(m.Content, slot{})
	if string(content) == "[]" {
		content = quote("")
	}
	return [][]byte{new(builder).str("role", string(m.Role)).raw("content", content).bytes()}
}

// isCompactionItem reports whether items of a type are what the server made of
// all before them, readable for the server alone.
func isCompactionItem(typ string) bool {
	return typ == "compaction" || typ == "compaction_summary" || typ == "context_compaction"
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
		items = append(items, functionCall(c, w.ids.call(c.ID, i)))
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
