package responses

import (
	"bytes"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// InputText and OutputText are the types of a text in an item. The model's words
// are output, all others input.
const (
	InputText  = "input_text"
	OutputText = "output_text"
)

// Parts writes the parts of a content, with texts of the given type. An empty text
// has none.
func Parts(c abi.Content, typ string) [][]byte {
	return content.Form{
		Text: func(text string) []byte { return jsondoc.Obj("type", typ, "text", text) },
		Own:  content.Own("input_image", "input_file", "input_audio"),
		Image: func(img content.Image) []byte {
			if img.At() == "" {
				return nil
			}
			return jsondoc.Obj("type", "input_image", "image_url", img.At())
		},
	}.Parts(c)
}

// Output writes the output of a call.
func Output(c abi.Content, _ codec.Slot) []byte {
	if !c.IsParts() {
		return jsondoc.Quote(c.Text())
	}
	return jsondoc.List(Parts(c, InputText))
}

// FunctionCall writes a call as an item, under the given id.
func FunctionCall(c abi.ToolCall, id string) []byte {
	return jsondoc.Obj("type", "function_call", "call_id", id, "name", c.Name, "arguments", c.Arguments)
}

// FunctionOutput writes the result of a call.
func FunctionOutput(c abi.Content, id string) []byte {
	return jsondoc.Obj("type", "function_call_output", "call_id", id, "output", Output(c, codec.Slot{}))
}

// writeMessage writes a new message as the items of a list.
func writeMessage(m *abi.Message) []byte {
	return bytes.Join(items(content.NewWireIDs(content.WireIDs{}), m, 0), []byte{','})
}

// items writes message i of a list. It is at least one item.
func items(ids *content.WireIDs, m *abi.Message, i int) [][]byte {
	switch m.Role {
	case abi.RoleTool:
		return [][]byte{FunctionOutput(m.Content, ids.Result(m.ToolCallID))}
	case abi.RoleAssistant:
		return answer(ids, m, i)
	}
	if p := m.Content.Parts(); len(p) == 1 && IsCompaction(p[0].Type) {
		return [][]byte{content.PartJSON(p[0])}
	}
	said := Output(m.Content, codec.Slot{})
	if string(said) == "[]" {
		said = jsondoc.Quote("")
	}
	return [][]byte{jsondoc.Obj("role", string(m.Role), "content", said)}
}

// answer writes an assistant's message: what it thought, where that came from
// this API, its words, its calls.
func answer(ids *content.WireIDs, m *abi.Message, i int) (items [][]byte) {
	text := content.Text(m.Content)
	if text != "" || len(m.ToolCalls) > 0 {
		for _, p := range m.Content.Parts() {
			if p.Type == "reasoning" {
				items = append(items, content.PartJSON(p))
			}
		}
	}
	if text != "" || len(m.ToolCalls) == 0 {
		items = append(items, jsondoc.Obj("role", "assistant", "content", text))
	}
	for _, c := range m.ToolCalls {
		items = append(items, FunctionCall(c, ids.Call(c.ID, i)))
	}
	return items
}

// write writes a request body, one item a line.
func write(about codec.About, msgs []abi.Message) []byte {
	ids := content.NewWireIDs(content.WireIDs{Most: 64, Unique: true})
	var input [][]byte
	for i := range msgs {
		input = append(input, items(ids, &msgs[i], i)...)
	}
	tools := content.WriteTools(content.ToolsOf(about.Tools), name, func(t content.Tool) []byte {
		return jsondoc.Obj(append([]any{"type", "function"}, t.Fields("parameters")...)...)
	})
	return append(jsondoc.Obj("model", jsondoc.Maybe(about.Model), "input", jsondoc.Lines(input),
		"tools", jsondoc.If(len(tools) > 0, jsondoc.Lines(tools))), '\n')
}
