package claudecode

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/anthropic"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// contextKeys are the keys that a new entry takes over from its neighbour, in
// the order in which they are written.
var contextKeys = []string{"isSidechain", "agentId", "userType", "entrypoint", "cwd", "sessionId", "version",
	"gitBranch", "slug"}

// context is what an entry has in common with those around it.
type context struct {
	values map[string][]byte // by contextKeys
	model  string
	time   string // for a message that has none
}

// contextOf is the context of line i, or an empty one for -1.
func (d *chain) contextOf(i int) context {
	like := context{values: make(map[string][]byte)}
	if i < 0 {
		return like
	}
	like.time = d.lines[i].time
	o := d.Probe(d.Recs[i], "the line")
	for _, key := range contextKeys {
		if value := o.Raw(key); value.OK() && (key != "sessionId" || o.Kind(value) == '"') {
			like.values[key] = jsondoc.Compact(o.Bytes(value))
		}
	}
	return like
}

// writeEntry writes an entry as Claude Code does.
func writeEntry(m *abi.Message, uuid, parent string, like context) []byte {
	fields := []any{"parentUuid", jsondoc.OrNull(parent)}
	for _, key := range contextKeys {
		if value, ok := like.values[key]; ok {
			fields = append(fields, key, value)
		} else if key == "isSidechain" {
			fields = append(fields, key, false)
		}
	}
	role := "user"
	if m.Role == abi.RoleAssistant {
		role = "assistant"
	}
	summary := m.Kind == abi.KindSummary
	system := !summary && m.Role == abi.RoleSystem
	meta := system || !summary && m.Role == abi.RoleUser && m.Kind != ""
	return jsondoc.Obj(append(fields, "type", role, "message", writeMessage(m, uuid, like.model),
		"isVisibleInTranscriptOnly", jsondoc.If(summary, true), "isCompactSummary", jsondoc.If(summary, true),
		"isMeta", jsondoc.If(meta, true), codec.SystemMark, jsondoc.If(system, true),
		"uuid", uuid, "timestamp", jsondoc.Maybe(codec.TimeOf(m, like.time)))...)
}

// writeMessage writes the message inside an entry.
func writeMessage(m *abi.Message, uuid, model string) []byte {
	var said any = m.Text()
	if m.Content.IsParts() {
		said = anthropic.Form.Parts(m.Content)
	}
	switch m.Role {
	case abi.RoleAssistant:
		blocks := anthropic.Form.Parts(m.Content)
		for _, c := range m.ToolCalls {
			blocks = append(blocks, anthropic.ToolUse(c, c.ID))
		}
		if m.Kind == abi.KindSynthetic {
			model = synthetic
		}
		return jsondoc.Obj("id", "msg_"+uuid, "type", "message", "role", "assistant", "model", jsondoc.Maybe(model),
			"content", blocks, "stop_reason", jsondoc.Null, "stop_sequence", jsondoc.Null,
			"usage", jsondoc.Obj("input_tokens", 0, "output_tokens", 0))
	case abi.RoleTool:
		said = [][]byte{anthropic.ToolResult(m, m.ToolCallID)}
	}
	return jsondoc.Obj("role", "user", "content", said)
}

// write writes a log of one chain. A system message becomes a marked meta
// entry.
func write(about codec.About, msgs []abi.Message) (out []byte) {
	session := content.SessionUUID(about.Session, msgs)
	like := context{model: about.Model, time: codec.NoTime, values: map[string][]byte{
		"userType": jsondoc.Quote("external"), "cwd": jsondoc.Quote("/"), "sessionId": jsondoc.Quote(session),
		"version": jsondoc.Quote("2.0.0"), "gitBranch": jsondoc.Quote(""),
	}}
	parent := ""
	for i := range msgs {
		uuid := content.UUID(session, msgs[i].ID)
		out = append(append(out, writeEntry(&msgs[i], uuid, parent, like)...), '\n')
		parent, like.time = uuid, codec.TimeOf(&msgs[i], like.time)
	}
	return out
}
