package codex

import (
	"bytes"
	"cmp"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
	"github.com/kagewasm/kagewasm/transcript/internal/responses"
)

// writeEntry writes the items of a message, one a line. An answer without words
// begins with a token count, which keeps its calls apart from the answer before.
func writeEntry(m *abi.Message, time string) (lines [][]byte) {
	if m.Role == abi.RoleAssistant && len(m.ToolCalls) > 0 && isSilent(m) {
		count := jsondoc.Obj("type", "token_count", "info", jsondoc.Null, "rate_limits", jsondoc.Null)
		lines = append(lines, writeLine("event_msg", count, codec.TimeOf(m, time), ""))
	}
	for _, item := range items(m) {
		lines = append(lines, writeItem(m, item, time))
	}
	return lines
}

// writeItem writes the line of an item, with the message's kind beside it.
func writeItem(m *abi.Message, payload []byte, time string) []byte {
	kind := m.Kind
	if m.Role == abi.RoleTool {
		kind = ""
	}
	return writeLine("response_item", payload, codec.TimeOf(m, time), kind)
}

func writeLine(typ string, payload []byte, time string, kind abi.Kind) []byte {
	time = cmp.Or(time, codec.NoTime)
	return jsondoc.Obj("timestamp", time, "type", typ, "payload", payload, "kind", jsondoc.Maybe(string(kind)))
}

// isSilent reports whether an answer says nothing.
func isSilent(m *abi.Message) bool { return len(responses.Parts(m.Content, responses.OutputText)) == 0 }

// items writes a message as items of the Responses API.
func items(m *abi.Message) (items [][]byte) {
	if m.Role == abi.RoleTool {
		return [][]byte{responses.FunctionOutput(m.Content, m.ToolCallID)}
	}
	if p := m.Content.Parts(); m.Role == abi.RoleUser && len(p) == 1 && responses.IsCompaction(p[0].Type) {
		return [][]byte{content.PartJSON(p[0])}
	}
	role, text := string(m.Role), responses.InputText
	switch m.Role {
	case abi.RoleSystem:
		role = "developer"
	case abi.RoleAssistant:
		text = responses.OutputText
	}
	if m.Role != abi.RoleAssistant || len(m.ToolCalls) == 0 || !isSilent(m) {
		items = append(items, jsondoc.Obj("type", "message", "role", role, "content", responses.Parts(m.Content, text)))
	}
	for _, c := range m.ToolCalls {
		items = append(items, responses.FunctionCall(c, c.ID))
	}
	return items
}

// write writes a rollout. A system message of kind instructions that comes
// first are the base instructions; other system messages are the developer's.
func write(about codec.About, msgs []abi.Message) []byte {
	session, time := content.SessionUUID(about.Session, msgs), codec.NoTime
	var base any
	if len(msgs) > 0 {
		first := &msgs[0]
		time = codec.TimeOf(first, time)
		if first.Role == abi.RoleSystem && first.Kind == abi.KindInstructions && first.Text() != "" {
			base = jsondoc.Obj("text", first.Text())
			msgs = msgs[1:]
		}
	}
	meta := jsondoc.Obj("id", session, "timestamp", time, "cwd", "/", "originator", "kagewasm",
		"cli_version", "0.0.0", "source", "cli", "base_instructions", base)
	lines := [][]byte{writeLine("session_meta", meta, time, "")}
	if about.Model != "" {
		turn := jsondoc.Obj("cwd", "/", "approval_policy", "on-request",
			"sandbox_policy", jsondoc.Obj("type", "read-only"), "model", about.Model, "summary", "auto")
		lines = append(lines, writeLine("turn_context", turn, time, ""))
	}
	for i := range msgs {
		time = codec.TimeOf(&msgs[i], time)
		lines = append(lines, writeEntry(&msgs[i], time)...)
	}
	return append(bytes.Join(lines, []byte("\n")), '\n')
}
