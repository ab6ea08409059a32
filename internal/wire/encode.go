package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/jsonlex"
)

// Marshal writes v, an *abi.Output or the request of a host call. Any other
// type panics. Errors are those of raw values that are not JSON.
func Marshal(v any) ([]byte, error) {
	e := encoder{doc: make([]byte, 0, 1<<10)}
	switch v := v.(type) {
	case *abi.Output:
		e.output(v)
	case abi.LogRequest:
		e.object(func() {
			e.text("level", string(v.Level))
			e.text("message", v.Message)
		})
	case abi.KVRequest:
		e.object(func() {
			e.text("key", v.Key)
			e.given("value", v.Value)
			if v.Expect != nil {
				e.text("expect", *v.Expect)
			}
		})
	case abi.TokensRequest:
		e.object(func() { e.texts("texts", v.Texts) })
	case abi.MessagesRequest:
		e.object(func() { e.texts("ids", v.IDs) })
	case abi.CompactionRequest:
		e.compactionRequest(v)
	case abi.HTTPRequest, abi.ModelRequest, abi.SearchRequest: // few, and waiting for them takes longer
		return json.Marshal(v)
	default:
		panic(fmt.Sprintf("wire: %T is not written here", v))
	}
	return e.doc, e.err
}

// encoder writes one document.
type encoder struct {
	doc []byte
	err error // the first
}

func (e *encoder) object(fields func()) {
	e.doc = append(e.doc, '{')
	fields()
	e.doc = append(e.doc, '}')
}

// key begins a field. The names of fields need no escapes.
func (e *encoder) key(name string) {
	e.comma()
	e.doc = append(e.doc, '"')
	e.doc = append(e.doc, name...)
	e.doc = append(e.doc, '"', ':')
}

// comma parts a field from the one before it.
func (e *encoder) comma() {
	if e.doc[len(e.doc)-1] != '{' {
		e.doc = append(e.doc, ',')
	}
}

func (e *encoder) text(name, s string) {
	e.key(name)
	e.string(s)
}

// given is text for a field that is left out where it is empty.
func (e *encoder) given(name, s string) {
	if s != "" {
		e.text(name, s)
	}
}

func (e *encoder) truth(name string, v bool) {
	if v {
		e.key(name)
		e.doc = append(e.doc, "true"...)
	}
}

func (e *encoder) texts(name string, texts []string) {
	e.key(name)
	if texts == nil {
		e.doc = append(e.doc, "null"...)
		return
	}
	size := 0
	for _, s := range texts {
		size += len(s) + len(`"",`)
	}
	e.doc = slices.Grow(e.doc, size)
	elements(e, texts, func(s *string) { e.string(*s) })
}

// someTexts is texts for a field that is left out where there are none.
func (e *encoder) someTexts(name string, texts []string) {
	if len(texts) > 0 {
		e.texts(name, texts)
	}
}

func elements[T any](e *encoder, list []T, write func(v *T)) {
	e.doc = append(e.doc, '[')
	for i := range list {
		if i > 0 {
			e.doc = append(e.doc, ',')
		}
		write(&list[i])
	}
	e.doc = append(e.doc, ']')
}

func (e *encoder) rawMap(name string, m map[string]json.RawMessage) {
	if len(m) == 0 {
		return
	}
	e.key(name)
	e.object(func() {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			e.comma()
			e.string(key)
			e.doc = append(e.doc, ':')
			if m[key] == nil {
				e.doc = append(e.doc, "null"...)
			} else {
				e.raw(m[key])
			}
		}
	})
}

// raw writes a value that stands in JSON already.
func (e *encoder) raw(value []byte) {
	d := decoder{doc: value}
	d.raw()
	if err := d.end(); err != nil && e.err == nil {
		e.err = errors.New("a raw value: " + err.Error())
	}
	e.doc = append(e.doc, value...)
}

// string writes a text. Bytes that are not UTF-8 become U+FFFD.
func (e *encoder) string(s string) {
	text := unsafe.Slice(unsafe.StringData(s), len(s))
	b := append(slices.Grow(e.doc, len(text)+2), '"')
	for valid := false; ; {
		end, ascii := jsonlex.Plain(text, 0)
		if !ascii && !valid {
			if !utf8.Valid(text) {
				text = []byte(string([]rune(share(text))))
			}
			valid = true
			continue
		}
		b = append(b, text[:end]...)
		if end == len(text) {
			break
		}
		b = appendEscaped(b, text[end])
		text = text[end+1:]
	}
	e.doc = append(b, '"')
}

func appendEscaped(b []byte, c byte) []byte {
	if i := strings.IndexByte("\"\\\n\t\r", c); i >= 0 {
		return append(b, '\\', "\"\\ntr"[i])
	}
	return append(b, '\\', 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&15])
}
