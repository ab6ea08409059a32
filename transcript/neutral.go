package transcript

import (
	"slices"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
)

// neutral is the format of [abi.Message], one a line. It keeps keys it does
// not know. A timestamp may be a number; its text is kept.
type neutral struct{}

func (neutral) format() Format { return Neutral }

func (neutral) detect(src *source) string {
	if !src.lines {
		return "not one JSON object a line"
	}
	o := src.object(src.first, "the first line", neutralKeys...)
	switch {
	case o.has("role") || isToolsLine(o):
		return ""
	}
	return `the first line has no "role"`
}

var neutralKeys = []string{"id", "role", "content", "tool_calls", "tool_call_id", "name", "is_error", "timestamp", "kind", "meta", "raw", "tools"}

func isToolsLine(o *object) bool {
	_, role := o.raw("role")
	return !role && o.is("tools", '[')
}

func (neutral) decode(src *source) (*decoded, error) {
	d := &decoded{}
	doc := &recordDoc{src: src, layout: linesOf(src), fresh: neutralMessage, arg: anyArgument}
	d.doc = doc
	for i, at := range doc.recs {
		if err := src.check(at); err != nil {
			return nil, err
		}
		o := src.object(at, "the line", neutralKeys...)
		if i == 0 && o.err == nil && isToolsLine(o) {
			list, _ := o.raw("tools")
			d.tools = src.bytes(list)
			continue
		}
		m, s := neutralRecord(o, i)
		if o.err != nil {
			return nil, o.err
		}
		d.messages = append(d.messages, m)
		doc.add(i, s)
	}
	return d, nil
}

// neutralRecord reads one message.
func neutralRecord(o *object, rec int) (m abi.Message, s slots) {
	m = abi.Message{
		ID: o.str("id"), Role: o.role(), Content: o.content("content"),
		ToolCallID: o.str("tool_call_id"), Name: o.str("name"), IsError: o.flag("is_error"),
		Timestamp: o.scalar("timestamp"), Kind: abi.Kind(o.str("kind")), Meta: o.meta(),
	}
	if at, ok := o.value("raw"); ok {
		m.Raw = o.src.bytes(at)
	}
	s.content = o.slot(rec, "content")
	for _, at := range o.list("tool_calls") {
		c := o.child(at, "a tool call", "id", "name", "arguments")
		if _, ok := c.value("function"); ok && !c.is("name", '"') {
			c.fail(at.start, "read the file in the format openai", `a tool call with "function" and no "name"`)
		}
		m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: c.str("id"), Name: c.str("name"), Arguments: c.arguments("arguments")})
		s.args = append(s.args, c.slot(rec, "arguments"))
		o.adopt(c)
	}
	return m, s
}

// anyArgument writes arguments as they were written: a string, or a value.
func anyArgument(text string, was slot) []byte {
	if !was.text && isObject(text) {
		return compacted([]byte(text))
	}
	return quote(text)
}

// textArgument writes arguments as text.
func textArgument(text string, _ slot) []byte { return quote(text) }

// neutralMessage writes a message on one line.
func neutralMessage(m *abi.Message) []byte {
	b := new(builder).maybe("id", m.ID).str("role", string(m.Role)).raw("content", contentJSON(m.Content))
	if len(m.ToolCalls) > 0 {
		var calls [][]byte
		for _, c := range m.ToolCalls {
			calls = append(calls, new(builder).str("id", c.ID).str("name", c.Name).str("arguments", c.Arguments).bytes())
		}
		b.raw("tool_calls", listJSON(calls))
	}
	b.maybe("tool_call_id", m.ToolCallID).maybe("name", m.Name)
	if m.IsError {
		b.flag("is_error", true)
	}
	b.maybe("timestamp", m.Timestamp).maybe("kind", string(m.Kind))
	if len(m.Meta) > 0 {
		b.raw("meta", metaJSON(m.Meta))
	}
	if len(m.Raw) > 0 {
		b.raw("raw", compacted(m.Raw))
	}
	return b.bytes()
}

func metaJSON(meta abi.Meta) []byte {
	keys := make([]string, 0, len(meta))
	for k := range meta {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b := new(builder)
	for _, k := range keys {
		b.raw(k, compacted(meta[k]))
	}
	return b.bytes()
}

// compose writes all messages with their ids, after a line of tools.
func (neutral) compose(s *Session, msgs []abi.Message) []byte {
	var out []byte
	if len(s.Tools) > 0 {
		out = append(new(builder).raw("tools", compacted(s.Tools)).bytes(), '\n')
	}
	for i := range msgs {
		out = append(append(out, neutralMessage(&msgs[i])...), '\n')
	}
	return out
}

func (o *object) meta() abi.Meta {
	at, ok := o.value("meta")
	if !ok {
		return nil
	}
	var meta abi.Meta
	if o.src.data[at.start] != '{' || json.Unmarshal(o.src.bytes(at), &meta) != nil {
		o.fail(at.start, "write it as an object", `"meta" is not an object`)
	}
	return meta
}
