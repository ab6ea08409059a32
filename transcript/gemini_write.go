package transcript

import "github.com/kagewasm/kagewasm/abi"

func geminiText(text string) []byte { return new(builder).str("text", text).bytes() }

// geminiWriter writes messages as the Gemini API accepts them: the results of
// one answer's calls stand in one content, and a call follows no other content
// of the model. Signatures and thoughts are left out; the stand-in that the API
// documents signs the first call of each content.
type geminiWriter struct {
	names map[string]string // of the functions, by the call's id
}

// geminiMessage writes one message. Its id, time and kind have no place in the
// format.
func geminiMessage(m *abi.Message) []byte {
	w := &geminiWriter{}
	if m.Role == abi.RoleTool {
		return geminiRecord("user", [][]byte{w.response(m)})
	}
	if m.Role == abi.RoleAssistant {
		return geminiRecord("model", w.answer(m))
	}
	return geminiRecord("user", geminiSaid(m))
}

func geminiRecord(role string, parts [][]byte) []byte {
	return new(builder).str("role", role).raw("parts", listJSON(parts)).bytes()
}

// geminiSaid writes what a message says, as one part at least unless it calls.
func geminiSaid(m *abi.Message) (parts [][]byte) {
	if !m.Content.IsParts() && m.Text() != "" {
		return [][]byte{geminiText(m.Text())}
	}
	for _, p := range m.Content.Parts() {
		img, isImage := imageOf(p)
		switch {
		case p.Type == "text":
			parts = append(parts, geminiText(p.Text))
		case isThinking(p.Type):
		case isImage:
			parts = append(parts, img.gemini())
		default:
			parts = append(parts, geminiText("["+p.Type+"]"))
		}
	}
	if len(parts) == 0 && len(m.ToolCalls) == 0 {
		parts = [][]byte{geminiText(said(""))}
	}
	return parts
}

// answer writes what a model says and calls.
func (w *geminiWriter) answer(m *abi.Message) [][]byte {
	parts := geminiSaid(m)
	for i, c := range m.ToolCalls {
		f := new(builder)
		if !isMadeUp(c.ID, c.Name) {
			f.maybe("id", c.ID)
		}
		b := new(builder).raw("functionCall", f.str("name", c.Name).raw("args", objectArgument(c.Arguments, slot{})).bytes())
		if i == 0 {
			b.str("thoughtSignature", otherSigner)
		}
		parts = append(parts, b.bytes())
		if w.names == nil {
			w.names = make(map[string]string)
		}
		w.names[c.ID] = c.Name
	}
	return parts
}

// response writes a result.
func (w *geminiWriter) response(m *abi.Message) []byte {
	return new(builder).raw("functionResponse", w.functionResponse(m)).bytes()
}

func (w *geminiWriter) functionResponse(m *abi.Message) []byte {
	name := w.names[m.ToolCallID]
	for _, other := range []string{m.Name, "unknown"} {
		if name == "" {
			name = other
		}
	}
	key := "output"
	if m.IsError {
		key = "error"
	}
	f := new(builder)
	if !isMadeUp(m.ToolCallID, name) {
		f.maybe("id", m.ToolCallID)
	}
	return f.str("name", name).raw("response", new(builder).str(key, plainText(m.Content)).bytes()).bytes()
}

// compose writes a request body, one content a line. The system messages that
// the session begins with are parts of the system instruction.
func (gemini) compose(s *Session, msgs []abi.Message) []byte {
	w := &geminiWriter{}
	lead := leadingSystem(msgs)
	body := new(builder).maybe("model", s.Model)
	if lead > 0 {
		var parts [][]byte
		for i := range msgs[:lead] {
			parts = append(parts, geminiText(msgs[i].Text()))
		}
		body.raw("systemInstruction", new(builder).raw("parts", listJSON(parts)).bytes())
	}
	body.raw("contents", linesJSON(w.contents(msgs[lead:])))
	if tools := toolsOf(s.Tools).gemini(); len(tools) > 0 {
		body.raw("tools", linesJSON(tools))
	}
	return append(body.bytes(), '\n')
}

func (w *geminiWriter) contents(msgs []abi.Message) (contents [][]byte) {
	for i := 0; i < len(msgs); {
		role, parts := "user", [][]byte(nil)
		switch m := &msgs[i]; m.Role {
		case abi.RoleTool:
			for ; i < len(msgs) && msgs[i].Role == abi.RoleTool; i++ {
				parts = append(parts, w.response(&msgs[i]))
			}
		case abi.RoleAssistant:
			role = "model"
			for n := wordsBeforeCall(msgs[i:]); n >= 0; n-- {
				parts = append(parts, w.answer(&msgs[i])...)
				i++
			}
		default:
			parts = geminiSaid(m)
			i++
		}
		contents = append(contents, geminiRecord(role, parts))
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
