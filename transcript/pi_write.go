package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
)

// piSystem is the customType of a message that was a system message in another
// format.
const piSystem = "system_prompt"

// freshID is the id of a new entry, in pi's form; the same compaction writes
// the same session.
func freshID(session, id string, taken map[string]bool) string {
	for n := 0; ; n++ {
		if fresh := piID(session, id, n); !taken[fresh] {
			taken[fresh] = true
			return fresh
		}
	}
}

func piID(session, id string, n int) string {
	sum := sha256.Sum256([]byte(session + "\x00" + id + "\x00" + strconv.Itoa(n)))
	return hex.EncodeToString(sum[:4])
}

// entry writes a new entry.
func (w *piRewrite) entry(in *insertion, k int) []byte {
	at := noTime
	if in.anchor > 0 {
		at = w.doc.lines[in.anchor-1].time
	}
	return piEntry(in.msg, w.links[k], w.doc.tree, w.last == len(w.doc.lines)+k, at, "")
}

// piEntry writes a message as an entry. last makes a summary the compaction.
func piEntry(m *abi.Message, link piLink, tree, last bool, when, model string) []byte {
	if m.Timestamp != "" {
		when = m.Timestamp
	}
	custom, typ := piCustom(m), "message"
	switch {
	case last:
		typ = "compaction"
	case custom != "":
		typ = "custom_message"
	}
	b := new(builder).str("type", typ)
	if tree {
		if b.str("id", link.id); link.parent == "" {
			b.raw("parentId", []byte("null"))
		} else {
			b.str("parentId", link.parent)
		}
	}
	b.str("timestamp", when)
	switch typ {
	case "message":
		b.raw("message", piMessage(m, when, model))
	case "custom_message":
		b.str("customType", custom).raw("content", listJSON(piBlocks(m.Content))).flag("display", true)
	case "compaction":
		key, first := "firstKeptEntryId", link.first
		if !tree {
			key = "firstKeptEntryIndex"
		}
		if first == "" && tree {
			first = string(quote(link.id)) // nothing before it
		}
		b.str("summary", m.Text())
		if first != "" {
			b.raw(key, []byte(first))
		}
		b.raw("tokensBefore", []byte("0")).flag("fromHook", true)
	}
	return b.bytes()
}

// piCustom is the customType of messages that are an extension's to pi, empty
// for others.
func piCustom(m *abi.Message) string {
	switch {
	case m.Role == abi.RoleSystem:
		return piSystem
	case m.Role == abi.RoleUser:
		return string(m.Kind)
	}
	return ""
}

// piMessage writes the message inside an entry.
func piMessage(m *abi.Message, when, model string) []byte {
	var ms int64
	if t, err := time.Parse(time.RFC3339, when); err == nil {
		ms = t.UnixMilli()
	}
	stamp := strconv.AppendInt(nil, ms, 10)
	blocks := piBlocks(m.Content)
	switch m.Role {
	case abi.RoleAssistant:
		stop := "stop"
		for _, c := range m.ToolCalls {
			stop = "toolUse"
			blocks = append(blocks, new(builder).str("type", "toolCall").str("id", c.ID).str("name", c.Name).
				raw("arguments", objectArgument(c.Arguments, slot{})).bytes())
		}
		return new(builder).str("role", "assistant").raw("content", listJSON(blocks)).
			str("api", "").str("provider", "").str("model", model).raw("usage", piUsage).
			str("stopReason", stop).raw("timestamp", stamp).bytes()
	case abi.RoleTool:
		return new(builder).str("role", "toolResult").str("toolCallId", m.ToolCallID).str("toolName", m.Name).
			raw("content", listJSON(blocks)).flag("isError", m.IsError).raw("timestamp", stamp).bytes()
	}
	return new(builder).str("role", "user").raw("content", listJSON(blocks)).raw("timestamp", stamp).bytes()
}

var piUsage = []byte(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,` +
	`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`)

// piResult writes the content of a tool result, which is always a list.
func piResult(c abi.Content, _ slot) []byte {
	if !c.IsParts() {
		return listJSON([][]byte{textPart(c.Text())})
	}
	return listJSON(piBlocks(c))
}

// piBlocks writes a content as blocks.
func piBlocks(c abi.Content) (blocks [][]byte) {
	if !c.IsParts() {
		if c.Text() != "" {
			blocks = append(blocks, textPart(c.Text()))
		}
		return blocks
	}
	for _, p := range c.Parts() {
		img, isImage := imageOf(p)
		switch {
		case p.Type == "text":
			blocks = append(blocks, textPart(p.Text))
		case p.Type == "thinking":
			blocks = append(blocks, piThinking(p))
		case isThinking(p.Type):
		case isImage:
			blocks = append(blocks, img.pi())
		default:
			blocks = append(blocks, textPart("["+p.Type+"]"))
		}
	}
	return blocks
}

// compose writes a session of one chain.
func (pi) compose(s *Session, msgs []abi.Message) []byte {
	session := s.ID
	if !uuidShape.MatchString(session) {
		session = claudeUUID("session", msgsDigest(msgs))
	}
	when, last := noTime, -1
	for i := range msgs {
		if isSummary(&msgs[i]) {
			last = i
		}
	}
	if len(msgs) > 0 && msgs[0].Timestamp != "" {
		when = msgs[0].Timestamp
	}
	var out bytes.Buffer
	out.Write(new(builder).str("type", "session").raw("version", []byte("3")).str("id", session).
		str("timestamp", when).str("cwd", "/").bytes())
	out.WriteByte('\n')
	taken := make(map[string]bool, len(msgs))
	var link piLink
	for i := range msgs {
		link.parent = link.id
		link.id = freshID(session, msgs[i].ID, taken)
		out.Write(piEntry(&msgs[i], link, true, i == last, when, s.Model))
		out.WriteByte('\n')
		if msgs[i].Timestamp != "" {
			when = msgs[i].Timestamp
		}
		if link.first == "" {
			link.first = string(quote(link.id))
		}
	}
	return out.Bytes()
}

func piThinking(p abi.Part) []byte {
	var part struct {
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}
	if json.Unmarshal(partJSON(p), &part) != nil {
		return textPart("[thinking]")
	}
	return new(builder).str("type", "thinking").str("thinking", part.Thinking).
		maybe("thinkingSignature", part.Signature).bytes()
}
