package transcript

import (
	"bytes"
	"strings"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
)

// quote writes a JSON string. Text is for a model, so <, > and & stay; what is
// not UTF-8 becomes U+FFFD.
func quote(s string) []byte {
	b, err := json.MarshalWithOption(strings.ToValidUTF8(s, "\uFFFD"), json.DisableHTMLEscape())
	if err != nil {
		return []byte(`""`)
	}
	return b
}

// contentJSON writes a content as a string or as a list of parts.
func contentJSON(c abi.Content) []byte {
	if !c.IsParts() {
		return quote(c.Text())
	}
	parts := make([][]byte, 0, len(c.Parts()))
	for _, p := range c.Parts() {
		parts = append(parts, partJSON(p))
	}
	return listJSON(parts)
}

// compacted is raw JSON without white space between its tokens, so that it
// fits on a line.
func compacted(raw []byte) []byte {
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return []byte("null")
	}
	return buf.Bytes()
}

// noTime stands where a format asks for a time and none is known.
const noTime = "1970-01-01T00:00:00.000Z"

// builder writes a JSON object key by key.
type builder struct{ buf []byte }

func (b *builder) raw(key string, value []byte) *builder {
	if len(b.buf) > 0 {
		b.buf = append(b.buf, ',')
	}
	b.buf = append(append(b.buf, quote(key)...), ':')
	b.buf = append(b.buf, value...)
	return b
}

func (b *builder) str(key, value string) *builder { return b.raw(key, quote(value)) }

// maybe is str for values that are not empty.
func (b *builder) maybe(key, value string) *builder {
	if value == "" {
		return b
	}
	return b.str(key, value)
}

func (b *builder) flag(key string, value bool) *builder {
	if value {
		return b.raw(key, []byte("true"))
	}
	return b.raw(key, []byte("false"))
}

func (b *builder) bytes() []byte {
	return append(append([]byte{'{'}, b.buf...), '}')
}

// listJSON writes a list of values.
func listJSON(values [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(values, []byte{','})...), ']')
}

// linesJSON writes a list of values, one a line.
func linesJSON(values [][]byte) []byte {
	if len(values) == 0 {
		return []byte("[]")
	}
	return append(append([]byte("[\n"), bytes.Join(values, []byte(",\n"))...), "\n]"...)
}

// isObject reports whether text is one JSON object.
func isObject(text string) bool {
	b := []byte(strings.TrimSpace(text))
	return len(b) > 0 && b[0] == '{' && abi.CheckForeignJSON(b) == nil
}
