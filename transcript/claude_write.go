package transcript

import (
	"crypto/sha256"
	"fmt"
	"regexp"

	"github.com/kagewasm/kagewasm/abi"
)

var uuidShape = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// claudeUUID is the uuid of a new entry: the message's id where it is one, or
// one that follows from it, so that the same compaction writes the same log.
func claudeUUID(session, id string) string {
	if uuidShape.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte("kagewasm\x00" + session + "\x00" + id))
	sum[6] = sum[6]&0x0f | 0x80 // version 8: a layout of one's own
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// claudeContext are the keys that a new entry takes over from its neighbour,
// in the order in which they are written.
var claudeContext = []string{"isSidechain", "agentId", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug"}

// entry writes a new entry.
func (w *claudeRewrite) entry(in *insertion, link claudeLink) []byte {
	like := claudeLike{context: make(map[string][]byte)}
	if link.like >= 0 {
		like.time = w.lines[link.like].time
		o := w.claudeDoc.src.object(w.claudeDoc.recs[link.like], "the line")
		for _, key := range claudeContext {
			if at, ok := o.raw(key); ok {
				like.context[key] = compacted(o.src.bytes(at))
			}
		}
	}
	return claudeEntry(in.msg, link.uuid, link.parent, like)
}

// claudeLike is what an entry has in common with those around it.
type claudeLike struct {
	context map[string][]byte
	model   string
	time    string // for a message that has none
}

// claudeEntry writes an entry as Claude Code does.
func claudeEntry(m *abi.Message, uuid, parent string, like claudeLike) []byte {
	b := new(builder)
	if parent == "" {
		b.raw("parentUuid", []byte("null"))
	} else {
		b.str("parentUuid", parent)
	}
	for _, key := range claudeContext {
		if value, ok := like.context[key]; ok {
			b.raw(key, value)
		} else if key == "isSidechain" {
			b.flag(key, false)
		}
	}
	role := "user"
	if m.Role == abi.RoleAssistant {
		role = "assistant"
	}
	b.str("type", role).raw("message", claudeMessage(m, uuid, like.model))
	switch {
	case m.Kind == abi.KindSummary:
		b.flag("isVisibleInTranscriptOnly", true).flag("isCompactSummary", true)
	case m.Role == abi.RoleSystem:
		b.flag("isMeta", true).flag(systemMark, true)
	case m.Role == abi.RoleUser && m.Kind != "":
		b.flag("isMeta", true)
	}
	if m.Timestamp != "" {
		like.time = m.Timestamp
	}
	return b.str("uuid", uuid).maybe("timestamp", like.time).bytes()
}

// claudeMessage writes the message inside an entry.
func claudeMessage(m *abi.Message, uuid, model string) []byte {
	blocks := claudeContent(m.Content)
	switch m.Role {
	case abi.RoleAssistant:
		for _, c := range m.ToolCalls {
			blocks = append(blocks, toolUse(c, c.ID))
		}
		if m.Kind == abi.KindSynthetic {
			model = "<synthetic>"
		}
		return new(builder).str("id", "msg_"+uuid).str("type", "message").str("role", "assistant").maybe("model", model).
			raw("content", listJSON(blocks)).raw("stop_reason", []byte("null")).raw("stop_sequence", []byte("null")).
			raw("usage", []byte(`{"input_tokens":0,"output_tokens":0}`)).bytes()
	case abi.RoleTool:
		return new(builder).str("role", "user").raw("content", listJSON([][]byte{toolResult(m, m.ToolCallID)})).bytes()
	}
	b := new(builder).str("role", "user")
	if m.Content.IsParts() {
		return b.raw("content", listJSON(blocks)).bytes()
	}
	return b.str("content", m.Text()).bytes()
}

// systemMark marks a meta entry that was a system message in another format,
// so that it is one again when it is read, and stays pinned. Claude Code has no
// place for a system prompt in its logs, and passes over keys it does not know.
const systemMark = "isSystemPrompt"

// compose writes a log of one chain. A system message becomes a marked meta
// entry.
func (claudeCode) compose(s *Session, msgs []abi.Message) []byte {
	session := s.ID
	if !uuidShape.MatchString(session) {
		session = claudeUUID("session", msgsDigest(msgs))
	}
	like := claudeLike{model: s.Model, time: noTime}
	like.context = map[string][]byte{
		"userType": quote("external"), "cwd": quote("/"), "sessionId": quote(session), "version": quote("2.0.0"), "gitBranch": quote(""),
	}
	var out []byte
	parent := ""
	for i := range msgs {
		m := &msgs[i]
		uuid := claudeUUID(session, m.ID)
		out = append(append(out, claudeEntry(m, uuid, parent, like)...), '\n')
		parent = uuid
		if m.Timestamp != "" {
			like.time = m.Timestamp
		}
	}
	return out
}

// msgsDigest tells sessions without an id apart.
func msgsDigest(msgs []abi.Message) string {
	h := sha256.New()
	for i := range msgs {
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00", msgs[i].ID, msgs[i].Role, msgs[i].Text())
	}
	return string(h.Sum(nil))
}
