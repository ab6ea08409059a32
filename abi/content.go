package abi

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/kagewasm/kagewasm/internal/plainjson"
)

// Content is what a message says: a plain string, or a list of parts. A string
// stays a string on output and a list stays a list. JSON null reads as the
// empty string.
type Content struct {
	text  string
	parts []Part
}

// Part is one piece of a multi-part content. Parts of type "text" carry Text;
// of any other type (images, documents, thinking) the host knows no more than
// the type and carries the object as it was.
type Part struct {
	Type string
	Text string
	raw  json.RawMessage
}

// Text is the content of a plain string message.
func Text(s string) Content { return Content{text: s} }

// Parts is the content of a multi-part message.
func Parts(parts ...Part) Content { return Content{parts: append([]Part{}, parts...)} }

// KeepParts makes c a list of parts as [Parts] does, without a copy: the caller must
// not change the list any more. It is for lists as long as others like to make them.
func (c *Content) KeepParts(parts []Part) {
	if parts == nil {
		parts = []Part{}
	}
	*c = Content{parts: parts}
}

// TextPart is a part of type "text".
func TextPart(s string) Part { return Part{Type: "text", Text: s} }

// WithText is the part with another text, and all else that it says.
func (p Part) WithText(text string) Part {
	var fields map[string]json.RawMessage
	if json.Unmarshal(p.raw, &fields) != nil {
		return Part{Type: p.Type, Text: text}
	}
	if said, err := plainjson.Marshal(text); err == nil {
		fields["text"] = said
	}
	raw, err := plainjson.Marshal(fields)
	if err != nil {
		return Part{Type: p.Type, Text: text}
	}
	return Part{Type: p.Type, Text: text, raw: raw}
}

// RawPart is a part that is carried as it is: raw is a JSON object with a
// "type".
func RawPart(typ string, raw json.RawMessage) Part { return Part{Type: typ, raw: raw} }

// IsParts reports whether the content is a list of parts.
func (c Content) IsParts() bool { return c.parts != nil }

// Parts returns the parts of a list content, nil for a string. The caller must
// not change them.
func (c Content) Parts() []Part { return c.parts }

// Text returns the string, or the text parts joined with newlines.
func (c Content) Text() string {
	if c.parts == nil {
		return c.text
	}
	var texts []string
	for _, p := range c.parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// IsThinking reports whether the part is what a model of the Messages API thought:
// its provider may tie it to all that stood before it.
func (p Part) IsThinking() bool { return p.Type == "thinking" || p.Type == "redacted_thinking" }

// Equal reports whether both say the same in the same form. Parts are compared
// as JSON values: spacing, escapes and the order of keys make no difference.
func (c Content) Equal(d Content) bool {
	if c.IsParts() != d.IsParts() || len(c.parts) != len(d.parts) || c.text != d.text {
		return false
	}
	for i, p := range c.parts {
		if !p.equal(d.parts[i]) {
			return false
		}
	}
	return true
}

func (p Part) equal(q Part) bool {
	if p.Type != q.Type || p.Text != q.Text {
		return false
	}
	if bytes.Equal(p.raw, q.raw) {
		return true
	}
	x, errX := p.value()
	y, errY := q.value()
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// value is the part as a JSON value, numbers as they are written.
func (p Part) value() (v any, err error) {
	b, err := p.MarshalJSON()
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// MarshalJSON writes the form the content was read in.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.parts == nil {
		return plainjson.Marshal(c.text)
	}
	return plainjson.Marshal(c.parts)
}

// UnmarshalJSON accepts a string, a list of parts, or null.
func (c *Content) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	*c = Content{}
	switch {
	case len(b) == 0 || bytes.Equal(b, []byte("null")):
		return nil
	case b[0] == '"':
		return json.Unmarshal(b, &c.text)
	case b[0] == '[':
		c.parts = []Part{}
		return json.Unmarshal(b, &c.parts)
	}
	return errors.New("content: neither a string nor a list of parts")
}

// MarshalJSON writes a text part as {"type","text"} and any other as it was.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.raw != nil {
		return p.raw, nil
	}
	return plainjson.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{p.Type, p.Text})
}

// UnmarshalJSON reads a part. A bare string is a text part, and is written as
// {"type","text"} from then on. Only the exact keys "type" and "text" count:
// the host reads the same text as whoever the part is sent on to.
func (p *Part) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '"' {
		*p = Part{Type: "text"}
		return json.Unmarshal(b, &p.Text)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	*p = Part{raw: bytes.Clone(b)}
	if typ, ok := fields["type"]; ok {
		if err := json.Unmarshal(typ, &p.Type); err != nil {
			return err
		}
	}
	if text := fields["text"]; len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &p.Text)
	}
	return nil
}
