package jsondoc

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// Null is the JSON value null.
var Null = []byte("null")

// Obj writes a JSON object of keys and values by turns. A string is written
// quoted, bytes as the JSON they are, and a [][]byte as a list of such. A field
// whose value is nil is left out: see [Maybe] and [If].
func Obj(keysAndValues ...any) []byte {
	dst := []byte{'{'}
	for i := 0; i+1 < len(keysAndValues); i += 2 {
		value := keysAndValues[i+1]
		if value == nil {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		key, _ := keysAndValues[i].(string)
		dst = appendValue(append(append(dst, Quote(key)...), ':'), value)
	}
	return append(dst, '}')
}

func appendValue(dst []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return append(dst, Quote(v)...)
	case []byte:
		return append(dst, v...)
	case [][]byte:
		return append(dst, List(v)...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return append(dst, Null...)
}

// Maybe is a value for [Obj] that is left out where it is empty.
func Maybe[T string | []byte](value T) any { return If(len(value) > 0, value) }

// If is a value for [Obj] that is left out unless ok.
func If(ok bool, value any) any {
	if !ok {
		return nil
	}
	return value
}

// OrNull writes a string, or null where it is empty.
func OrNull(s string) []byte {
	if s == "" {
		return Null
	}
	return Quote(s)
}

// Quote writes a JSON string. Text is for a model, so <, > and & stay; what is
// not UTF-8 becomes U+FFFD.
func Quote(s string) []byte {
	b, err := json.MarshalWithOption(strings.ToValidUTF8(s, "\uFFFD"), json.DisableHTMLEscape())
	if err != nil {
		return []byte(`""`)
	}
	return b
}

// List writes a list of values.
func List(values [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(values, []byte{','})...), ']')
}

// Lines writes a list of values, one a line.
func Lines(values [][]byte) []byte {
	if len(values) == 0 {
		return []byte("[]")
	}
	return append(append([]byte("[\n"), bytes.Join(values, []byte(",\n"))...), "\n]"...)
}

// Compact writes a JSON value without white space between its tokens, so that
// it fits on a line.
func Compact(raw []byte) []byte {
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return Null
	}
	return buf.Bytes()
}

// IsObject reports whether text is one JSON object.
func IsObject(text string) bool {
	b := []byte(strings.TrimSpace(text))
	return len(b) > 0 && b[0] == '{' && strictjson.CheckForeign(b) == nil
}
