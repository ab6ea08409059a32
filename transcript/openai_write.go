package transcript

import (
	"bytes"

	"github.com/kagewasm/kagewasm/abi"
)

// openAIMessage writes one message. Its id, time, kind and error mark have no
// place in the format.
func openAIMessage(m *abi.Message) []byte {
	content := openAIContent(m.Content, m.Role)
	b := new(builder).str("role", string(m.Role))
	if m.Role == abi.RoleTool {
		b.str("tool_call_id", m.ToolCallID).maybe("name", m.Name)
		return b.raw("content", content).bytes()
	}
	b.maybe("name", m.Name)
	if len(m.ToolCalls) == 0 {
		return b.raw("content", content).bytes()
	}
	if empty := string(content); empty == `""` || empty == "[]" {
		content = []byte("null")
	}
	return b.raw("content", content).raw("tool_calls", listJSON(openAICalls(m.ToolCalls))).bytes()
}

func openAICalls(calls []abi.ToolCall) (list [][]byte) {
	for _, c := range calls {
		f := new(builder).str("name", c.Name).str("arguments", c.Arguments)
		list = append(list, new(builder).str("id", c.ID).str("type", "function").raw("function", f.bytes()).bytes())
	}
	return list
}

// compose writes a request body, one message a line.
func (openAI) compose(s *Session, msgs []abi.Message) []byte {
	var out bytes.Buffer
	out.WriteString("{")
	if s.Model != "" {
		out.Write(append(append([]byte(`"model":`), quote(s.Model)...), ','))
	}
	out.WriteString("\"messages\":[")
	for i := range msgs {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(openAIMessage(&msgs[i]))
	}
	out.WriteString("\n]")
	if len(s.Tools) > 0 {
		out.WriteString(",\n\"tools\":")
		out.Write(compacted(s.Tools))
	}
	out.WriteString("}\n")
	return out.Bytes()
}
