package transcript

import (
	"bytes"

	"github.com/kagewasm/kagewasm/abi"
)

// entry writes a new message: its items, one a line.
func (d *codexDoc) entry(in *insertion) []byte {
	time := ""
	if in.anchor > 0 {
		time = d.lines[in.anchor-1].time
	}
	return codexEntry(in.msg, time, d.sep)
}

// codexEntry writes the items of a message. Where it is an answer without
// words, the token count before it keeps its calls apart from those of an
// answer before.
func codexEntry(m *abi.Message, time string, sep []byte) []byte {
	var lines [][]byte
	if m.Role == abi.RoleAssistant && len(m.ToolCalls) > 0 && codexSilent(m) {
		count := new(builder).str("type", "token_count").raw("info", []byte("null")).raw("rate_limits", []byte("null"))
		lines = append(lines, codexLineOf("event_msg", count.bytes(), at(m, time)).bytes())
	}
	for _, item := range codexItems(m) {
		lines = append(lines, codexItem(m, item, time))
	}
	return bytes.Join(lines, sep)
}

func at(m *abi.Message, time string) string {
	if m.Timestamp != "" {
		return m.Timestamp
	}
	return time
}

// codexItem writes the line of an item. The message's kind stands beside it
// where the text alone does not say it.
func codexItem(m *abi.Message, payload []byte, time string) []byte {
	b := codexLineOf("response_item", payload, at(m, time))
	if m.Kind != "" && m.Role != abi.RoleTool {
		b.str("kind", string(m.Kind))
	}
	return b.bytes()
}

func codexLineOf(typ string, payload []byte, time string) *builder {
	if time == "" {
		time = noTime
	}
	return new(builder).str("timestamp", time).str("type", typ).raw("payload", payload)
}

// codexSilent reports whether an answer says nothing.
func codexSilent(m *abi.Message) bool { return len(itemParts(m.Content, outputText)) == 0 }

// codexItems writes a message as items of the Responses API.
func codexItems(m *abi.Message) (items [][]byte) {
	if m.Role == abi.RoleTool {
		return [][]byte{functionOutput(m.Content, m.ToolCallID)}
	}
	if p := m.Content.Parts(); m.Role == abi.RoleUser && len(p) == 1 && isCompactionItem(p[0].Type) {
		return [][]byte{partJSON(p[0])}
	}
	role, text := string(m.Role), inputText
	switch m.Role {
	case abi.RoleSystem:
		role = "developer"
	case abi.RoleAssistant:
		text = outputText
	}
	if m.Role != abi.RoleAssistant || len(m.ToolCalls) == 0 || !codexSilent(m) {
		items = append(items, new(builder).str("type", "message").str("role", role).
			raw("content", listJSON(itemParts(m.Content, text))).bytes())
	}
	for _, c := range m.ToolCalls {
		items = append(items, functionCall(c, c.ID))
	}
	return items
}

// compose writes a rollout. A system message of kind instructions that comes
// first are the base instructions; other system messages are the developer's.
func (codex) compose(s *Session, msgs []abi.Message) []byte {
	session := s.ID
	if !uuidShape.MatchString(session) {
		session = claudeUUID("session", msgsDigest(msgs))
	}
	time := noTime
	if len(msgs) > 0 {
		time = at(&msgs[0], time)
	}
	meta := new(builder).str("id", session).str("timestamp", time).str("cwd", "/").str("originator", "kagewasm").
		str("cli_version", "0.0.0").str("source", "cli")
	if len(msgs) > 0 && msgs[0].Role == abi.RoleSystem && msgs[0].Kind == abi.KindInstructions && msgs[0].Text() != "" {
		meta.raw("base_instructions", new(builder).str("text", msgs[0].Text()).bytes())
		msgs = msgs[1:]
	}
	sep := []byte("\n")
	lines := [][]byte{codexLineOf("session_meta", meta.bytes(), time).bytes()}
	if s.Model != "" {
		lines = append(lines, codexLineOf("turn_context", new(builder).str("cwd", "/").str("approval_policy", "on-request").
			raw("sandbox_policy", []byte(`{"type":"read-only"}`)).str("model", s.Model).str("summary", "auto").bytes(), time).bytes())
	}
	for i := range msgs {
		time = at(&msgs[i], time)
		lines = append(lines, codexEntry(&msgs[i], time, sep))
	}
	return append(bytes.Join(lines, sep), '\n')
}
