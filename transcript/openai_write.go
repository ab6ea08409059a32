package transcript

import "github.com/kagewasm/kagewasm/abi"

// openAIMessage writes one message. Its id, time, kind and error mark have no
// place in the format.
func openAIMessage(m *abi.Message) []byte { return writeOpenAI(m, 0, &wireIDs{}) }

// writeOpenAI writes message i of a list.
func writeOpenAI(m *abi.Message, i int, ids *wireIDs) []byte {
	content := openAIContent(m.Content, m.Role)
	b := new(builder).str("role", string(m.Role))
	if m.Role == abi.RoleTool {
		b.str("tool_call_id", ids.result(m.ToolCallID)).maybe("name", m.Name)
		return b.raw("content", content).bytes()
	}
	b.maybe("name", m.Name)
	if len(m.ToolCalls) == 0 {
		return b.raw("content", content).bytes()
	}
	if empty := string(content); empty == `""` || empty == "[]" {
		content = []byte("null")
	}
	calls := openAICalls(m.ToolCalls, func(id string) string { return ids.call(id, i) })
	return b.raw("content", content).raw("tool_calls", calls).bytes()
}

// openAICalls writes a list of tool calls, under the ids that id gives.
func openAICalls(calls []abi.ToolCall, id func(string) string) []byte {
	var list [][]byte
	for _, c := range calls {
		f := new(builder).str("name", c.Name).str("arguments", c.Arguments)
		list = append(list, new(builder).str("id", id(c.ID)).str("type", "function").raw("function", f.bytes()).bytes())
	}
	return listJSON(list)
}

// sameID is the id that a call has.
func sameID(id string) string { return id }

// compose writes a request body, one message a line.
func (openAI) compose(s *Session, msgs []abi.Message) []byte {
	ids := &wireIDs{most: 40}
	messages := make([][]byte, 0, len(msgs))
	for i := range msgs {
		messages = append(messages, writeOpenAI(&msgs[i], i, ids))
	}
	body := new(builder).maybe("model", s.Model).raw("messages", linesJSON(messages))
	if tools := toolsOf(s.Tools).openAI(); len(tools) > 0 {
		body.raw("tools", listJSON(tools))
	}
	return append(body.bytes(), '\n')
}
