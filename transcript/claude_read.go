package transcript

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// claudeReader makes messages of the entries of a log.
type claudeReader struct {
	doc *claudeDoc
	d   *decoded
	// answer is the model's message.id of the message that lines are still
	// added to, parts what it says so far.
	answer string
	latest int // the index of that message
	open   bool
	parts  []abi.Part
}

func (r *claudeReader) line(i int) error {
	l := &r.doc.lines[i]
	m := r.doc.src.object(l.message, `"message"`, claudeMessageKeys...)
	if l.assistant {
		r.assistant(i, m)
	} else {
		r.user(i, m)
	}
	return m.err
}

// add begins a message in line i.
func (r *claudeReader) add(i int, m abi.Message) *abi.Message {
	l := &r.doc.lines[i]
	m.Timestamp = l.time
	if m.ID = l.uuid; l.uuid != "" && r.doc.holds(i) {
		m.ID = fmt.Sprintf("%s#%d", l.uuid, len(r.doc.hold[i].msgs)+1)
	}
	r.d.messages = append(r.d.messages, m)
	r.doc.add(i, slots{})
	return &r.d.messages[len(r.d.messages)-1]
}

func (r *claudeReader) assistant(i int, o *object) {
	id := o.str("id")
	if r.open && id != "" && id == r.answer {
		r.doc.put(i, r.latest)
	} else {
		r.close()
		m := r.add(i, abi.Message{Role: abi.RoleAssistant})
		switch model := o.str("model"); model {
		case "<synthetic>":
			m.Kind = abi.KindSynthetic
		case "":
		default:
			r.d.model = model
		}
		r.open, r.answer, r.latest = true, id, len(r.d.messages)-1
	}
	if o.is("content", '"') {
		r.parts = append(r.parts, abi.TextPart(o.str("content")))
		return
	}
	for _, at := range o.list("content") {
		r.answerBlock(i, at, o)
	}
}

func (r *claudeReader) answerBlock(i int, at span, o *object) {
	b := o.child(at, "a content block", claudeBlockKeys...)
	if b.str("type") == "tool_use" {
		m := &r.d.messages[r.latest]
		m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: b.str("id"), Name: b.str("name"), Arguments: b.arguments("input")})
		at := &r.doc.at[r.latest]
		at.args = append(at.args, b.slot(i, "input"))
	} else if b.err == nil {
		r.parts = append(r.parts, b.parts([]span{at}).Parts()...)
	}
	o.adopt(b)
}

// close ends the message that lines were added to.
func (r *claudeReader) close() {
	if !r.open {
		return
	}
	r.d.messages[r.latest].Content = plain(r.parts)
	r.open, r.parts = false, nil
}

func (r *claudeReader) user(i int, o *object) {
	if !o.is("content", '[') {
		r.close()
		r.spoken(i, r.add(i, abi.Message{Content: o.content("content")}))
		return
	}
	h := &r.doc.hold[i]
	h.blocks, _ = o.raw("content")
	list := o.list("content")
	for k := 0; k < len(list); {
		b := o.child(list[k], "a content block", claudeBlockKeys...)
		if b.str("type") == "tool_result" {
			r.result(i, b)
			h.of = append(h.of, len(r.d.messages)-1)
			k++
		} else {
			k = r.words(i, list, k, b)
		}
		if o.adopt(b); o.err != nil {
			return
		}
	}
	if len(list) == 0 {
		r.close()
		r.add(i, abi.Message{Role: abi.RoleUser, Content: abi.Parts()})
	}
}

// result reads a tool_result.
func (r *claudeReader) result(i int, b *object) {
	r.add(i, abi.Message{
		Role: abi.RoleTool, ToolCallID: b.str("tool_use_id"), IsError: b.flag("is_error"), Content: b.content("content"),
	})
	r.doc.at[len(r.doc.at)-1].content = b.slot(i, "content")
}

// words reads the blocks from k on up to a tool_result as one message, and
// returns where it ends. b is the first of them.
func (r *claudeReader) words(i int, list []span, k int, b *object) int {
	r.close()
	end := k + 1
	for end < len(list) && r.doc.src.object(list[end], "").str("type") != "tool_result" {
		end++
	}
	content := b.parts(list[k:end])
	r.spoken(i, r.add(i, abi.Message{Content: content}))
	h := &r.doc.hold[i]
	for range list[k:end] {
		h.of = append(h.of, len(r.d.messages)-1)
	}
	return end
}

// spoken says who a message of line i is from that is no answer and no result.
func (r *claudeReader) spoken(i int, m *abi.Message) {
	m.Role = abi.RoleUser
	if l := &r.doc.lines[i]; l.meta && l.system {
		m.Role = abi.RoleSystem
		return
	}
	m.Kind = r.userKind(i, m.Content)
}

func (r *claudeReader) userKind(i int, c abi.Content) abi.Kind {
	l := &r.doc.lines[i]
	if l.summary {
		return abi.KindSummary
	}
	if kind := framed(c); kind != "" {
		return kind
	}
	if l.meta {
		return abi.KindMeta
	}
	return ""
}
