package transcript

import (
	"bytes"
	"strings"

	"github.com/goccy/go-json"
)

// The walkers below run over JSON that [source.check] has found in order, and
// rely on it.

// skip returns the end of the value that begins at pos.
func skip(data []byte, pos int) int {
	depth := 0
	for {
		switch c := data[pos]; c {
		case '"':
			pos = skipString(data, pos)
		case '{', '[':
			depth++
			pos++
			continue
		case '}', ']':
			depth--
			pos++
		case ' ', '\t', '\n', '\r', ',', ':':
			pos++
			continue
		default:
			for pos < len(data) && strings.IndexByte(" \t\n\r,:]}", data[pos]) < 0 {
				pos++
			}
		}
		if depth == 0 {
			return pos
		}
	}
}

func skipString(data []byte, pos int) int {
	for pos++; ; pos++ {
		switch data[pos] {
		case '\\':
			pos++
		case '"':
			return pos + 1
		}
	}
}

func skipSpace(data []byte, pos int) int {
	for pos < len(data) && isSpace(data[pos]) {
		pos++
	}
	return pos
}

// elements returns the elements of the list at the given place.
func (s *source) elements(list span) []span {
	var els []span
	for pos := skipSpace(s.data, list.start+1); s.data[pos] != ']'; pos = skipSpace(s.data, pos) {
		if s.data[pos] == ',' {
			pos = skipSpace(s.data, pos+1)
		}
		end := skip(s.data, pos)
		els = append(els, span{pos, end})
		pos = end
	}
	return els
}

// field is one key of an object and its value.
type field struct {
	key   []byte
	value span
}

func (s *source) fields(obj span) []field {
	fields := make([]field, 0, 16)
	for pos := skipSpace(s.data, obj.start+1); s.data[pos] != '}'; pos = skipSpace(s.data, pos) {
		if s.data[pos] == ',' {
			pos = skipSpace(s.data, pos+1)
		}
		end := skipString(s.data, pos)
		key := s.data[pos+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(unquote(s.data[pos:end]))
		}
		start := skipSpace(s.data, skipSpace(s.data, end)+1)
		pos = skip(s.data, start)
		fields = append(fields, field{key, span{start, pos}})
	}
	return fields
}

// unquote reads a JSON string.
func unquote(lit []byte) string {
	if bytes.IndexByte(lit, '\\') < 0 {
		return string(lit[1 : len(lit)-1])
	}
	var text string
	if json.Unmarshal(lit, &text) != nil {
		return ""
	}
	return text
}

// object reads the fields of one JSON object. The first thing that is not as
// it should be stays in err, and from then on all fields are empty.
type object struct {
	src    *source
	at     span
	fields []field
	err    error
}

// object opens the object at the given place. known are the keys that the
// caller reads: they may not appear in another spelling, or the next program
// that reads the file may understand it otherwise than we do.
func (s *source) object(at span, what string, known ...string) *object {
	o := &object{src: s, at: at}
	if s.data[at.start] != '{' {
		o.fail(at.start, "write it as an object, {...}", "%s is not an object", what)
		return o
	}
	o.fields = s.fields(at)
	for _, f := range o.fields {
		for _, k := range known {
			if string(f.key) != k && strings.EqualFold(string(f.key), k) {
				o.fail(f.value.start, "write "+quoted(k), "key %s", quoted(string(f.key)))
			}
		}
	}
	return o
}

func (o *object) fail(offset int, hint, format string, args ...any) {
	if o.err == nil {
		o.err = o.src.bad(offset, hint, format, args...)
	}
}

// has reports whether there is such a key, whatever is wrong otherwise.
func (o *object) has(key string) bool {
	for _, f := range o.fields {
		if string(f.key) == key {
			return true
		}
	}
	return false
}

// raw returns where a value is, null or not.
func (o *object) raw(key string) (span, bool) {
	for _, f := range o.fields {
		if string(f.key) == key {
			return f.value, o.err == nil
		}
	}
	return span{}, false
}

// value is raw for values that are not null.
func (o *object) value(key string) (span, bool) {
	at, ok := o.raw(key)
	return at, ok && o.src.data[at.start] != 'n'
}

// is reports whether there is a value that begins with c.
func (o *object) is(key string, c byte) bool {
	at, ok := o.value(key)
	return ok && o.src.data[at.start] == c
}

// str reads a string; missing and null are empty.
func (o *object) str(key string) string {
	at, ok := o.value(key)
	if !ok {
		return ""
	}
	if o.src.data[at.start] != '"' {
		o.fail(at.start, "write it as a string", "%s is not a string", quoted(key))
		return ""
	}
	return unquote(o.src.bytes(at))
}

// flag reads a boolean; missing and null are false.
func (o *object) flag(key string) bool {
	at, ok := o.value(key)
	if !ok {
		return false
	}
	if c := o.src.data[at.start]; c != 't' && c != 'f' {
		o.fail(at.start, "write true or false", "%s is not a boolean", quoted(key))
	}
	return o.src.data[at.start] == 't'
}

// list returns the elements of a list; missing and null have none.
func (o *object) list(key string) []span {
	if !o.isList(key) {
		return nil
	}
	at, _ := o.value(key)
	return o.src.elements(at)
}

// isList reports whether there is a list. Any other value than null is an
// error.
func (o *object) isList(key string) bool {
	at, ok := o.value(key)
	if ok && o.src.data[at.start] != '[' {
		o.fail(at.start, "write it as a list", "%s is not a list", quoted(key))
	}
	return ok && o.err == nil
}
