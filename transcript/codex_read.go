package transcript

import (
	"math"
	"strconv"

	"github.com/kagewasm/kagewasm/abi"
)

// codexReader makes messages of the entries of a rollout.
type codexReader struct {
	doc *codexDoc
	d   *decoded
	// open says that calls still join the latest message.
	open bool
	// loose are the entries with reasoning whose answer is not there yet.
	loose []int
}

func (r *codexReader) line(i int, o *object) {
	l := &r.doc.lines[i]
	l.time, l.of, l.msgs = o.scalar("timestamp"), -1, len(r.d.messages)
	typ := o.str("type")
	switch typ {
	case "session_meta", "response_item", "event_msg", "turn_context", "compacted":
	default:
		return // of a later version
	}
	at, ok := o.value("payload")
	if !ok {
		o.fail(o.at.start, `an entry has a "payload"`, "no payload in an entry of type %s", quoted(typ))
		return
	}
	p := o.child(at, "the payload", codexPayloadKeys...)
	switch typ {
	case "session_meta":
		r.session(i, p)
	case "response_item":
		r.item(i, p, abi.Kind(o.str("kind")))
	case "compacted":
		r.compacted(i, p)
	case "event_msg":
		r.event(i, p)
	case "turn_context":
		if model := p.str("model"); model != "" {
			r.d.model = model
		}
	}
	o.adopt(p)
}

// add begins a message in entry i.
func (r *codexReader) add(i int, m abi.Message, person bool) {
	m.Timestamp = r.doc.lines[i].time
	r.d.messages = append(r.d.messages, m)
	r.doc.person = append(r.doc.person, person)
	r.doc.add(i, slots{})
}

// close ends the answer that calls were added to. Reasoning that no answer
// followed belongs to what was before it.
func (r *codexReader) close() {
	r.claim(len(r.d.messages) - 1)
	r.open = false
}

// claim gives the loose reasoning to a message.
func (r *codexReader) claim(m int) {
	for _, i := range r.loose {
		r.doc.lines[i].of = m
	}
	r.loose = r.loose[:0]
}

func (r *codexReader) session(i int, p *object) {
	if r.doc.meta >= 0 {
		return // of the session that this one was forked from
	}
	r.doc.meta = i
	r.d.session = p.str("id")
	at, ok := p.value("base_instructions")
	if !ok || len(r.d.messages) > 0 {
		return
	}
	b := p.child(at, `"base_instructions"`, "text")
	if text := b.str("text"); text != "" {
		r.doc.base = at
		r.add(i, abi.Message{Role: abi.RoleSystem, Kind: abi.KindInstructions, Content: abi.Text(text)}, false)
	}
	p.adopt(b)
}

func (r *codexReader) event(i int, p *object) {
	switch p.str("type") {
	case "token_count":
		r.open = false
	case "thread_rolled_back":
		n, err := strconv.ParseUint(p.scalar("num_turns"), 10, 64)
		if r.doc.lines[i].rollback = int(min(n, math.MaxInt32)); err != nil && p.err == nil {
			p.fail(p.at.start, `write how many turns under "num_turns"`, "a rollback that does not say of how much")
		}
		r.close()
	}
}

// item reads what the model sees.
func (r *codexReader) item(i int, p *object, kind abi.Kind) {
	switch typ := p.str("type"); typ {
	case "message":
		r.message(i, p, kind)
	case "function_call":
		r.call(i, p, p.str("name"), "arguments")
	case "custom_tool_call":
		r.call(i, p, p.str("name"), "input")
	case "tool_search_call":
		r.call(i, p, "tool_search", "arguments")
	case "local_shell_call":
		r.call(i, p, "local_shell", "action")
	case "function_call_output", "custom_tool_call_output", "tool_search_output", "mcp_tool_call_output":
		r.result(i, p)
	case "reasoning":
		if r.open {
			r.close()
		}
		r.loose = append(r.loose, i)
	case "ghost_snapshot":
	default:
		if isCompactionItem(typ) {
			r.close()
			part := abi.RawPart(typ, compacted(p.src.bytes(p.at)))
			r.add(i, abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Parts(part)}, false)
		} else if r.open { // what a server does on its own, as web_search_call
			r.doc.lines[i].of = len(r.d.messages) - 1
		} else {
			r.loose = append(r.loose, i)
		}
	}
}

func (r *codexReader) message(i int, p *object, kind abi.Kind) {
	m := abi.Message{Kind: kind, Content: p.codexContent("content")}
	person := false
	switch role := p.str("role"); role {
	case "assistant":
		m.Role = abi.RoleAssistant
	case "system", "developer":
		m.Role = abi.RoleSystem
	case "user":
		m.Role = abi.RoleUser
		own := codexKind(m.Content)
		person = own == ""
		if m.Kind == "" {
			m.Kind = own
		}
		if m.Kind == "" {
			m.Kind = framed(m.Content)
		}
	default:
		p.fail(p.at.start, "use user, assistant, developer or system", "role %s", quoted(role))
		return
	}
	if m.Role == abi.RoleAssistant {
		r.open = true
		r.claim(len(r.d.messages))
	} else {
		r.close()
	}
	r.add(i, m, person)
}

func (r *codexReader) call(i int, p *object, name, key string) {
	if !r.open {
		r.open = true
		r.claim(len(r.d.messages))
		r.add(i, abi.Message{Role: abi.RoleAssistant}, false)
	} else {
		r.doc.put(i, len(r.d.messages)-1)
	}
	id := p.str("call_id")
	if id == "" {
		id = p.str("id")
	}
	m := &r.d.messages[len(r.d.messages)-1]
	m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: id, Name: name, Arguments: p.arguments(key)})
	at := &r.doc.at[len(r.doc.at)-1]
	at.args = append(at.args, p.slot(i, key))
}

// result reads the output of a call: a string, a list of parts, or, in older
// logs, an object with "content" and "success".
func (r *codexReader) result(i int, p *object) {
	r.close()
	m := abi.Message{Role: abi.RoleTool, ToolCallID: p.str("call_id")}
	slot := p.slot(i, "output")
	if at, ok := p.value("output"); ok && p.is("output", '{') {
		o := p.child(at, `"output"`, "content", "success")
		_, said := o.value("success")
		m.IsError = said && !o.flag("success")
		m.Content, slot = o.codexContent("content"), o.slot(i, "content")
		p.adopt(o)
	} else {
		m.Content = p.codexContent("output")
	}
	r.add(i, m, false)
	r.doc.at[len(r.doc.at)-1].content = slot
}

// compacted reads Codex's own compaction.
func (r *codexReader) compacted(i int, p *object) {
	r.close()
	l := &r.doc.lines[i]
	l.compacted = true
	m := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(p.str("message"))}
	if _, ok := p.value("replacement_history"); ok {
		l.replaced = make(map[string]int)
	}
	for _, at := range p.list("replacement_history") {
		o := p.child(at, "an item of the replacement history", codexItemKeys...)
		typ := o.str("type")
		switch {
		case typ == "message":
			role, c := abi.Role(o.str("role")), o.codexContent("content")
			if role == "developer" {
				role = abi.RoleSystem
			}
			if l.replaced[codexKey(role, c)]++; m.Text() == "" && codexKind(c) == abi.KindSummary {
				m.Content = c
			}
		case isCompactionItem(typ):
			m.Content = abi.Parts(abi.RawPart(typ, compacted(o.src.bytes(at))))
		}
		p.adopt(o)
	}
	r.add(i, m, false)
}

// codexContent reads a content as the items of the Responses API have it, which
// is always a list here, or an object of an older log.
func (o *object) codexContent(key string) abi.Content {
	if o.is(key, '{') {
		return abi.Text(o.arguments(key))
	}
	c := o.itemContent(key)
	if !c.IsParts() {
		return c
	}
	return plain(c.Parts())
}
