package wire

import (
	"bytes"
	"encoding/json"

	"github.com/kagewasm/kagewasm/abi"
)

var inputMessageFields = append(messageFields(func(m *abi.InputMessage) *abi.Message { return &m.Message }),
	field[*abi.InputMessage]{"tokens", func(d *decoder, m *abi.InputMessage) { m.Tokens = d.int() }},
	field[*abi.InputMessage]{"pinned", func(d *decoder, m *abi.InputMessage) { m.Pinned = d.bool() }},
	field[*abi.InputMessage]{"unit", func(d *decoder, m *abi.InputMessage) { m.Unit = d.int() }})

// messageFields are those of what a P points to, with a message in it.
func messageFields[P any](in func(P) *abi.Message) []field[P] {
	return []field[P]{
		{"id", func(d *decoder, v P) { in(v).ID = d.text() }},
		{"role", func(d *decoder, v P) { in(v).Role = abi.Role(d.text()) }},
		{"content", func(d *decoder, v P) { in(v).Content = content(d) }},
		{"tool_calls", func(d *decoder, v P) { in(v).ToolCalls = list(d, toolCall) }},
		{"tool_call_id", func(d *decoder, v P) { in(v).ToolCallID = d.text() }},
		{"name", func(d *decoder, v P) { in(v).Name = d.text() }},
		{"is_error", func(d *decoder, v P) { in(v).IsError = d.bool() }},
		{"timestamp", func(d *decoder, v P) { in(v).Timestamp = d.text() }},
		{"kind", func(d *decoder, v P) { in(v).Kind = abi.Kind(d.text()) }},
		{"meta", func(d *decoder, v P) { in(v).Meta = rawMap(d) }},
		{"raw", func(d *decoder, v P) { in(v).Raw = d.raw() }},
	}
}

func message(d *decoder, m *abi.InputMessage) { object(d, m, inputMessageFields) }

// content reads a string or a list of parts, see [abi.Content].
func content(d *decoder) abi.Content {
	switch d.peek() {
	case '[':
	case '"', 'n':
		return abi.Text(d.text())
	default:
		mistyped(d, "a text or a list of parts")
		return abi.Content{}
	}
	var c abi.Content
	c.KeepParts(list(d, part))
	return c
}

// part reads a part as [abi.Part] does: a bare string is a text part, null is
// carried as it is, and of an object only the exact keys count, of equal ones
// the last.
func part(d *decoder, p *abi.Part) {
	switch d.peek() {
	case '"':
		*p = abi.TextPart(d.text())
		return
	case 'n':
		*p = abi.RawPart("", d.raw())
		return
	}
	start, typ, text := d.pos, 0, 0
	if !d.open('{') {
		return
	}
	for n := 0; d.next(n, '}'); n++ {
		key := d.key()
		d.peek()
		switch key {
		case "type":
			typ = d.pos
		case "text":
			text = d.pos
		}
		d.skip(1)
	}
	end := d.pos
	if d.err != nil {
		return
	}
	*p = abi.RawPart("", d.doc[start:end:end])
	if typ > 0 {
		d.pos = typ
		p.Type = d.text()
	}
	if text > 0 && d.err == nil && d.doc[text] == '"' {
		d.pos = text
		p.Text = d.text()
	}
	if d.err == nil {
		d.pos = end
	}
}

var toolCallFields = []field[*abi.ToolCall]{
	{"id", func(d *decoder, c *abi.ToolCall) { c.ID = d.text() }},
	{"name", func(d *decoder, c *abi.ToolCall) { c.Name = d.text() }},
	{"arguments", func(d *decoder, c *abi.ToolCall) { c.Arguments = arguments(d) }},
}

func toolCall(d *decoder, c *abi.ToolCall) { object(d, c, toolCallFields) }

// arguments reads a string, or the compacted text of any other value.
func arguments(d *decoder) string {
	if c := d.peek(); c == '"' || c == 'n' {
		return d.text()
	}
	var buf bytes.Buffer
	raw := d.raw()
	if d.take(2 * int64(len(raw))); d.err == nil {
		_ = json.Compact(&buf, raw) // raw is JSON
	}
	return buf.String()
}
