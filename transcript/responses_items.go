package transcript

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// itemReader makes messages of items.
type itemReader struct {
	doc *recordDoc
	d   *decoded

	open   bool // there is an answer that items are still added to
	latest int  // its index
	spoken bool // it has words or calls already
	parts  []abi.Part
}

func (r *itemReader) record(i int) error {
	src, at := r.doc.src, r.doc.recs[i]
	if src.data[at.start] == '"' { // an input of text alone
		text := abi.Text(unquote(src.bytes(at)))
		r.add(i, abi.Message{Role: abi.RoleUser, Content: text, Kind: framed(text)}, slots{})
		return nil
	}
	o := src.object(at, "the item", responsesItemKeys...)
	switch typ := o.str("type"); {
	case typ == "message", typ == "" && o.has("role"):
		r.message(i, o)
	case isCompactionItem(typ):
		r.close()
		part := abi.Parts(abi.RawPart(typ, src.bytes(at)))
		r.add(i, abi.Message{ID: o.str("id"), Role: abi.RoleUser, Kind: abi.KindSummary, Content: part}, slots{})
	case strings.HasSuffix(typ, "_output") && o.has("call_id"):
		r.close()
		m := abi.Message{ID: o.str("id"), Role: abi.RoleTool, ToolCallID: o.str("call_id")}
		s := o.slot(i, "output")
		if o.is("output", '{') { // a screenshot
			s.fixed = true
			m.Content = o.parts([]span{s.at})
		} else {
			m.Content = o.itemContent("output")
		}
		r.add(i, m, slots{content: s})
	case typ == "":
		o.fail(at.start, `give it a "type", or a "role" and a "content"`, "an item without a type")
	default:
		r.answerItem(i, typ, o)
	}
	return o.err
}

func (r *itemReader) add(i int, m abi.Message, s slots) {
	r.d.messages = append(r.d.messages, m)
	r.doc.add(i, s)
}

// join makes item i a part of the open answer, or of a new one.
func (r *itemReader) join(i int, o *object, begins bool) {
	if r.open && !begins {
		r.doc.put(i, r.latest)
		return
	}
	r.close()
	r.add(i, abi.Message{ID: o.str("id"), Role: abi.RoleAssistant}, slots{})
	r.open, r.spoken, r.latest = true, false, len(r.d.messages)-1
}

// close ends the answer.
func (r *itemReader) close() {
	if !r.open {
		return
	}
	r.d.messages[r.latest].Content = plain(r.parts)
	r.open, r.parts = false, nil
}

func (r *itemReader) message(i int, o *object) {
	role := o.str("role")
	content := o.itemContent("content")
	if role == "assistant" {
		r.join(i, o, r.spoken)
		if r.spoken = true; content.IsParts() {
			r.parts = append(r.parts, content.Parts()...)
		} else {
			r.parts = append(r.parts, abi.TextPart(content.Text()))
		}
		return
	}
	r.close()
	m := abi.Message{ID: o.str("id"), Role: abi.RoleSystem, Content: content}
	if role != "developer" {
		if m.Role = o.role(); m.Role == abi.RoleTool {
			o.fail(o.at.start, "write a result as an item of type function_call_output", "role %s", quoted(role))
		}
	}
	if m.Role == abi.RoleUser {
		m.Kind = framed(content)
	}
	r.add(i, m, slots{})
}

// answerItem reads any other item: a call, or a part of an answer.
func (r *itemReader) answerItem(i int, typ string, o *object) {
	isCall := o.has("call_id")
	r.join(i, o, !isCall && r.spoken)
	if !isCall {
		r.parts = append(r.parts, abi.RawPart(typ, o.src.bytes(o.at)))
		return
	}
	call := abi.ToolCall{ID: o.str("call_id"), Name: o.str("name")}
	args := "arguments"
	for _, key := range []string{"input", "action", "operation"} {
		if !o.has(args) && o.has(key) {
			args = key
		}
	}
	if call.Name == "" {
		call.Name = typ // a tool of the provider's that the client runs
	}
	call.Arguments = o.arguments(args)
	s := o.slot(i, args)
	s.fixed = !s.text && s.key == ""
	m, at := &r.d.messages[r.latest], &r.doc.at[r.latest]
	m.ToolCalls, at.args = append(m.ToolCalls, call), append(at.args, s)
	r.spoken = true
}

// itemContent reads a text, or a list of parts with texts of several types.
func (o *object) itemContent(key string) abi.Content {
	c := o.content(key)
	if !c.IsParts() {
		return c
	}
	parts := make([]abi.Part, 0, len(c.Parts()))
	for _, p := range c.Parts() {
		switch p.Type {
		case "input_text", "output_text", "text":
			p = abi.TextPart(p.Text)
		}
		parts = append(parts, p)
	}
	return abi.Parts(parts...)
}
