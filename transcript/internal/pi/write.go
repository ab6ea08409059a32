package pi

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// freshID returns the id of a new entry, in pi's form. The same compaction always
// writes the same session.
func freshID(session, id string, taken map[string]bool) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte(session + "\x00" + id + "\x00" + strconv.Itoa(n)))
		if fresh := hex.EncodeToString(sum[:4]); !taken[fresh] {
			taken[fresh] = true
			return fresh
		}
	}
}

// link is how a new entry stands in the chain. first names, as JSON, the first
// entry that a compaction keeps; it is empty where none stands before it.
type link struct{ id, parent, first string }

// writeEntry writes a message as an entry. last makes a summary the compaction.
func writeEntry(m *abi.Message, at link, linked, last bool, when, model string) []byte {
	when = codec.TimeOf(m, when)
	typ, custom := "message", customType(m)
	var fields []any
	switch {
	case last:
		typ = "compaction"
		fields = append([]any{"summary", m.Text()}, keptField(at, linked)...)
		fields = append(fields, "tokensBefore", 0, "fromHook", true)
	case custom != "":
		typ = "custom_message"
		fields = []any{"customType", custom, "content", form.Parts(m.Content), "display", true}
	default:
		fields = []any{"message", writeMessage(m, when, model)}
	}
	return jsondoc.Obj(append([]any{"type", typ, "id", jsondoc.If(linked, at.id),
		"parentId", jsondoc.If(linked, jsondoc.OrNull(at.parent)), "timestamp", when}, fields...)...)
}

// keptField names the first entry that a compaction keeps.
func keptField(at link, linked bool) []any {
	if !linked {
		return []any{"firstKeptEntryIndex", jsondoc.Maybe([]byte(at.first))}
	}
	if at.first == "" {
		return []any{"firstKeptEntryId", at.id} // nothing before it
	}
	return []any{"firstKeptEntryId", []byte(at.first)}
}

// customType returns the customType of a message that is an extension's to pi, ""
// for others.
func customType(m *abi.Message) string {
	switch {
	case m.Role == abi.RoleSystem:
		return systemType
	case m.Role == abi.RoleUser:
		return string(m.Kind)
	}
	return ""
}

// writeMessage writes the message inside an entry.
func writeMessage(m *abi.Message, when, model string) []byte {
	stamp := 0
	if t, err := time.Parse(time.RFC3339, when); err == nil {
		stamp = int(t.UnixMilli())
	}
	blocks := form.Parts(m.Content)
	switch m.Role {
	case abi.RoleAssistant:
		stop := "stop"
		for _, c := range m.ToolCalls {
			stop = "toolUse"
			blocks = append(blocks, jsondoc.Obj("type", "toolCall", "id", c.ID, "name", c.Name,
				"arguments", content.ObjectArgs(c.Arguments)))
		}
		return jsondoc.Obj("role", "assistant", "content", blocks, "api", "", "provider", "", "model", model,
			"usage", usage, "stopReason", stop, "timestamp", stamp)
	case abi.RoleTool:
		return jsondoc.Obj("role", "toolResult", "toolCallId", m.ToolCallID, "toolName", m.Name, "content", blocks,
			"isError", m.IsError, "timestamp", stamp)
	}
	return jsondoc.Obj("role", "user", "content", blocks, "timestamp", stamp)
}

var usage = []byte(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,` +
	`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`)

// writeResult writes the content of a tool result, which is always a list.
func writeResult(c abi.Content, _ codec.Slot) []byte {
	if !c.IsParts() {
		return jsondoc.List([][]byte{content.TextPart(c.Text())})
	}
	return jsondoc.List(form.Parts(c))
}

// form is how pi has the parts of a content. It holds images as bytes alone.
var form = content.Form{
	Text: content.TextPart,
	Own: func(p abi.Part) []byte {
		if p.Type != "thinking" {
			return nil
		}
		o := jsondoc.Parse(content.PartJSON(p))
		text, signature := o.Str("thinking"), o.Str("signature")
		if o.Err() != nil {
			return content.TextPart("[thinking]")
		}
		return jsondoc.Obj("type", "thinking", "thinking", text, "thinkingSignature", jsondoc.Maybe(signature))
	},
	Image: func(img content.Image) []byte {
		if img.Data == "" {
			return nil
		}
		return jsondoc.Obj("type", "image", "data", img.Data, "mimeType", img.Media)
	},
}

// write writes a session of one chain.
func write(about codec.About, msgs []abi.Message) (out []byte) {
	session, when := content.SessionUUID(about.Session, msgs), codec.NoTime
	if len(msgs) > 0 {
		when = codec.TimeOf(&msgs[0], when)
	}
	out = append(jsondoc.Obj("type", "session", "version", 3, "id", session, "timestamp", when, "cwd", "/"), '\n')
	taken, last := make(map[string]bool, len(msgs)), codec.LastSummary(msgs)
	var at link
	for i := range msgs {
		at.parent, at.id = at.id, freshID(session, msgs[i].ID, taken)
		out = append(append(out, writeEntry(&msgs[i], at, true, i == last, when, about.Model)...), '\n')
		when = codec.TimeOf(&msgs[i], when)
		if at.first == "" {
			at.first = string(jsondoc.Quote(at.id))
		}
	}
	return out
}
