package invariants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// message is a line of a session as it stands and as JSON.
type message struct {
	raw []byte
	doc map[string]any
}

func (m message) str(key string) string {
	s, _ := m.doc[key].(string)
	return s
}

func (m message) isPerson() bool { return m.str("role") == "user" && m.str("kind") == "" }

// says reports whether a message has a word, or anything else than text.
func (m message) says() bool {
	parts, _ := m.doc["content"].([]any)
	for _, v := range parts {
		part, _ := v.(map[string]any)
		if text, _ := part["text"].(string); part["type"] != "text" || strings.TrimSpace(text) != "" {
			return true
		}
	}
	return strings.TrimSpace(m.str("content")) != ""
}

// call is a tool call, reduced to what pairs it and what it costs.
type call struct {
	id   string
	size int
}

func (m message) calls() []call {
	list, _ := m.doc["tool_calls"].([]any)
	var out []call
	for _, v := range list {
		c, _ := v.(map[string]any)
		id, _ := c["id"].(string)
		name, _ := c["name"].(string)
		out = append(out, call{id: id, size: utf8.RuneCountInString(name) + sizeOf(c["arguments"], true)})
	}
	return out
}

// size is the characters of what a message says and calls.
func (m message) size() int {
	n := 0
	if c := m.doc["content"]; c != nil {
		n = sizeOf(c, false)
	}
	for _, c := range m.calls() {
		n += c.size
	}
	return n
}

// load reads neutral JSONL; a first line of tool definitions is left out.
func load(doc []byte) ([]message, error) {
	var ms []message
	for line := range bytes.SplitSeq(doc, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m := message{raw: line}
		if err := json.Unmarshal(line, &m.doc); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(ms)+1, err)
		}
		ms = append(ms, m)
	}
	if len(ms) > 0 && ms[0].doc["tools"] != nil && ms[0].doc["role"] == nil {
		ms = ms[1:]
	}
	return ms, nil
}

// sizeOf is the characters of a text, or of any other value written as JSON
// with a space after each comma and colon; ascii counts escapes of what is
// not ASCII.
func sizeOf(v any, ascii bool) int {
	if s, ok := v.(string); ok {
		return utf8.RuneCountInString(s)
	}
	return jsonSize(v, ascii)
}

func jsonSize(v any, ascii bool) int {
	switch v := v.(type) {
	case string:
		return stringSize(v, ascii)
	case []any:
		n := 2 + max(0, 2*(len(v)-1))
		for _, e := range v {
			n += jsonSize(e, ascii)
		}
		return n
	case map[string]any:
		n := 2 + max(0, 2*(len(v)-1))
		for k, e := range v {
			n += stringSize(k, ascii) + 2 + jsonSize(e, ascii)
		}
		return n
	}
	b, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(b)
}

func stringSize(s string, ascii bool) int {
	n := 2
	for _, r := range s {
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
			n += 2
		case r < 0x20, ascii && r >= 0x7f && r <= 0xffff:
			n += 6
		case ascii && r > 0xffff:
			n += 12
		default:
			n++
		}
	}
	return n
}
