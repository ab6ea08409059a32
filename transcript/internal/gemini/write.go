package gemini

import (
	"cmp"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Writer writes messages as the Gemini API accepts them. The results of one
// answer's calls stand in one content, and a call follows no other content of the
// model. Signatures and thoughts are left out; the documented stand-in signs the
// first call of each content. The map holds the function of each call id.
type Writer map[string]string

// writeMessage writes one message. Its id, time and kind have no place in the
// format.
func writeMessage(m *abi.Message) []byte {
	w := Writer{}
	switch m.Role {
	case abi.RoleTool:
		return record("user", [][]byte{w.Response(m)})
	case abi.RoleAssistant:
		return record("model", w.answer(m))
	}
	return record("user", Spoken(m))
}

func record(role string, parts [][]byte) []byte { return jsondoc.Obj("role", role, "parts", parts) }

func textPart(text string) []byte { return jsondoc.Obj("text", text) }

var form = content.Form{
	Text: textPart,
	Image: func(img content.Image) []byte {
		switch {
		case img.Data != "":
			return jsondoc.Obj("inlineData", jsondoc.Obj("mimeType", img.Media, "data", img.Data))
		case img.URL != "":
			return jsondoc.Obj("fileData", jsondoc.Obj("mimeType", jsondoc.Maybe(img.Media), "fileUri", img.URL))
		}
		return nil
	},
}

// Spoken writes what a message says. It is at least one part unless the message
// calls.
func Spoken(m *abi.Message) [][]byte {
	parts := form.Parts(m.Content)
	if len(parts) == 0 && len(m.ToolCalls) == 0 {
		return [][]byte{textPart(content.NonEmpty(""))}
	}
	return parts
}

// Note notes the functions of an answer's calls.
func (w Writer) Note(m *abi.Message) {
	for _, c := range m.ToolCalls {
		w[c.ID] = c.Name
	}
}

// answer writes what a model says and calls.
func (w Writer) answer(m *abi.Message) [][]byte {
	w.Note(m)
	parts := Spoken(m)
	for i, c := range m.ToolCalls {
		call := jsondoc.Obj("id", wireID(c.ID, c.Name), "name", c.Name, "args", content.ObjectArgs(c.Arguments))
		parts = append(parts, jsondoc.Obj("functionCall", call, "thoughtSignature", jsondoc.If(i == 0, otherSigner)))
	}
	return parts
}

// wireID returns the id to write, nil for one that was made up.
func wireID(id, function string) any {
	if isMadeUp(id, function) {
		return nil
	}
	return jsondoc.Maybe(id)
}

// Response writes a result.
func (w Writer) Response(m *abi.Message) []byte {
	function := cmp.Or(w[m.ToolCallID], m.Name, "unknown")
	key := "output"
	if m.IsError {
		key = "error"
	}
	return jsondoc.Obj("functionResponse", jsondoc.Obj("id", wireID(m.ToolCallID, function), "name", function,
		"response", jsondoc.Obj(key, content.Text(m.Content))))
}

// write writes a request body, one content a line. The messages of the
// system prompt are parts of the system instruction.
func write(about codec.About, msgs []abi.Message) []byte {
	prompt, rest := codec.SystemPrompt(msgs)
	system := lists.Map(prompt, func(m abi.Message) []byte { return textPart(m.Text()) })
	tools := writeTools(about.Tools)
	return append(jsondoc.Obj("model", jsondoc.Maybe(about.Model),
		"systemInstruction", jsondoc.If(len(prompt) > 0, jsondoc.Obj("parts", system)),
		"contents", jsondoc.Lines(contents(rest)), "tools", jsondoc.If(len(tools) > 0, jsondoc.Lines(tools))), '\n')
}

// writeTools writes one tool with all declarations, after those that Gemini
// runs.
func writeTools(raw []byte) (tools [][]byte) {
	var own, declared []content.Tool
	for _, t := range content.ToolsOf(raw) {
		if t.Name != "" {
			declared = append(declared, t)
		} else {
			own = append(own, t)
		}
	}
	tools = content.WriteTools(own, name, nil)
	if len(declared) == 0 {
		return tools
	}
	list := content.WriteTools(declared, name, func(t content.Tool) []byte {
		return jsondoc.Obj(t.Fields("parametersJsonSchema")...)
	})
	return append(tools, jsondoc.Obj("functionDeclarations", list))
}

func contents(msgs []abi.Message) (contents [][]byte) {
	w := Writer{}
	for i := 0; i < len(msgs); {
		role, parts := "user", [][]byte(nil)
		switch m := &msgs[i]; m.Role {
		case abi.RoleTool:
			for ; i < len(msgs) && msgs[i].Role == abi.RoleTool; i++ {
				parts = append(parts, w.Response(&msgs[i]))
			}
		case abi.RoleAssistant:
			role = "model"
			for n := wordsBeforeCall(msgs[i:]); n >= 0; n-- {
				parts = append(parts, w.answer(&msgs[i])...)
				i++
			}
		default:
			parts = Spoken(m)
			i++
		}
		contents = append(contents, record(role, parts))
	}
	return contents
}

// wordsBeforeCall is how many answers without calls a list begins with, if one
// with calls follows them.
func wordsBeforeCall(msgs []abi.Message) int {
	for i := range msgs {
		switch {
		case msgs[i].Role != abi.RoleAssistant:
			return 0
		case len(msgs[i].ToolCalls) > 0:
			return i
		}
	}
	return 0
}
