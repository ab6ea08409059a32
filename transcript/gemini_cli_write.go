package transcript

import "github.com/kagewasm/kagewasm/abi"

// cliWriter writes entries as the Gemini CLI saves them.
type cliWriter struct {
	geminiWriter
	model, time string
}

// entry writes a message; results are those of its calls, by the call's index.
// A result that stands alone is an entry of the user's, as the API has it.
func (w *cliWriter) entry(m *abi.Message, results map[int]*abi.Message) []byte {
	if m.Timestamp != "" {
		w.time = m.Timestamp
	}
	b := new(builder).str("id", m.ID).str("timestamp", w.time)
	switch m.Role {
	case abi.RoleAssistant:
		b.str("type", "gemini").str("content", plainText(m.Content))
		if len(m.ToolCalls) > 0 {
			b.raw("toolCalls", listJSON(w.calls(m, results)))
		}
		return b.maybe("model", w.model).bytes()
	case abi.RoleTool:
		return b.str("type", "user").raw("content", listJSON([][]byte{w.response(m)})).bytes()
	case abi.RoleSystem:
		return b.str("type", "user").str("content", plainText(m.Content)).flag(systemMark, true).bytes()
	}
	b.str("type", "user")
	if len(m.Content.Parts()) > 0 {
		return b.raw("content", listJSON(geminiSaid(m))).bytes()
	}
	return b.str("content", m.Text()).bytes()
}

func (w *cliWriter) calls(m *abi.Message, results map[int]*abi.Message) (calls [][]byte) {
	w.answer(m) // notes the names of the functions
	for i, c := range m.ToolCalls {
		b := new(builder).str("id", c.ID).str("name", c.Name).raw("args", objectArgument(c.Arguments, slot{}))
		if r := results[i]; r != nil {
			status := "success"
			if r.IsError {
				status = "error"
			}
			b.raw("result", listJSON([][]byte{w.response(r)})).str("status", status)
		}
		calls = append(calls, b.str("timestamp", w.time).bytes())
	}
	return calls
}

// compose writes a chat, one entry a line. A system message becomes a marked
// entry of the user's: the CLI saves no system prompt.
func (geminiCLI) compose(s *Session, msgs []abi.Message) []byte {
	w := &cliWriter{model: s.Model, time: noTime}
	session := s.ID
	if session == "" {
		session = claudeUUID("session", msgsDigest(msgs))
	}
	var entries [][]byte
	start := w.time
	for i := 0; i < len(msgs); {
		if i == 0 && msgs[0].Timestamp != "" {
			start = msgs[0].Timestamp
		}
		m := &msgs[i]
		var results map[int]*abi.Message
		i++
		if m.Role == abi.RoleAssistant {
			results, i = follow(m, msgs, i)
		}
		entries = append(entries, w.entry(m, results))
	}
	return append(new(builder).str("sessionId", session).str("projectHash", "").str("startTime", start).
		str("lastUpdated", w.time).raw("messages", linesJSON(entries)).bytes(), '\n')
}

// follow finds the results, from i on, that follow a message in the order of
// its calls, and returns where they end.
func follow(m *abi.Message, msgs []abi.Message, i int) (map[int]*abi.Message, int) {
	results := make(map[int]*abi.Message)
	for k := 0; k < len(m.ToolCalls) && i < len(msgs) && msgs[i].Role == abi.RoleTool; k++ {
		if m.ToolCalls[k].ID == msgs[i].ToolCallID {
			results[k] = &msgs[i]
			i++
		}
	}
	return results, i
}
