package jsondoc

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Object reads the fields of one JSON object. After the first fault all fields
// are empty, so that a reader need not ask after each.
type Object struct {
	*Source
	At     Span
	Fields []Field
	fault  *error
}

// Field is one key of an object and the place of its value.
type Field struct {
	Key   []byte
	Value Span
}

// Open opens the object at the given place, which what names in errors. known
// are the keys that the caller reads: they may not appear in another spelling,
// or the next program that reads the file may understand it otherwise than we
// do. What is no object has no fields. A fault is one of the source.
func (s *Source) Open(at Span, what string, known ...string) *Object {
	return s.open(at, what, known, &s.fault)
}

// Probe is Open for an object that may turn out to be something else: a fault
// stays with the object.
func (s *Source) Probe(at Span, what string, known ...string) *Object {
	return s.open(at, what, known, new(error))
}

// Child opens an object inside o. A fault in it is one of o.
func (o *Object) Child(at Span, what string, known ...string) *Object {
	return o.open(at, what, known, o.fault)
}

// Sub is Child for the object under a key. Where there is none, or null, it has
// no fields.
func (o *Object) Sub(key string, known ...string) *Object {
	if at := o.Value(key); at.OK() {
		return o.Child(at, Quoted(key), known...)
	}
	return &Object{Source: o.Source, fault: o.fault}
}

// None is an object of no fields, at a place where there is none.
func (s *Source) None(at Span) *Object { return &Object{Source: s, At: at, fault: &s.fault} }

// Parse opens JSON that is one object. What is none, or not in order, has no
// fields and a fault.
func Parse(raw []byte) *Object {
	s := New("", raw)
	if err := s.Check(s.Whole()); err != nil {
		s.Note(err)
		return s.None(Span{})
	}
	return s.Open(s.Whole(), "the value")
}

func (s *Source) open(at Span, what string, known []string, fault *error) *Object {
	o := &Object{Source: s, At: at, fault: fault}
	if s.Data[at.Start] != '{' {
		o.Fail(at.Start, "write it as an object, {...}", "%s is not an object", what)
		return o
	}
	o.Fields = make([]Field, 0, 16)
	s.members(at, func(key, value Span) {
		name := s.Data[key.Start+1 : key.End-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(s.Unquote(key))
		}
		o.Fields = append(o.Fields, Field{name, value})
	})
	for _, f := range o.Fields {
		for _, k := range known {
			if mayFold(f.Key, k) && string(f.Key) != k && strings.EqualFold(string(f.Key), k) {
				o.Fail(f.Value.Start, "write "+Quoted(k), "key %s", Quoted(string(f.Key)))
			}
		}
	}
	return o
}

// mayFold reports whether a key may be another one but for the case of letters, by how it begins.
func mayFold(key []byte, known string) bool {
	return len(key) > 0 && (key[0] >= utf8.RuneSelf || key[0]|0x20 == known[0]|0x20)
}

// Err returns the first fault.
func (o *Object) Err() error { return *o.fault }

// Fail notes what is wrong at an offset, unless something was wrong before.
func (o *Object) Fail(offset int, hint, format string, args ...any) {
	if *o.fault == nil {
		*o.fault = o.Bad(offset, hint, format, args...)
	}
}

// find returns the index of a key, -1 where it is not there.
func (o *Object) find(key string) int {
	for i, f := range o.Fields {
		if string(f.Key) == key {
			return i
		}
	}
	return -1
}

// Has reports whether there is such a key, whatever is wrong otherwise.
func (o *Object) Has(key string) bool { return o.find(key) >= 0 }

// Raw returns where a value is, null or not.
func (o *Object) Raw(key string) Span {
	if i := o.find(key); i >= 0 && *o.fault == nil {
		return o.Fields[i].Value
	}
	return Span{}
}

// Value is Raw for values that are not null.
func (o *Object) Value(key string) Span {
	at := o.Raw(key)
	if o.Kind(at) == 'n' {
		return Span{}
	}
	return at
}

// Is reports whether the value under a key begins with c: see [Source.Kind].
func (o *Object) Is(key string, c byte) bool { return o.Kind(o.Value(key)) == c }

// Str reads a string; missing and null are empty.
func (o *Object) Str(key string) string {
	at := o.Value(key)
	switch o.Kind(at) {
	case 0:
		return ""
	case '"':
		return o.Unquote(at)
	}
	o.Fail(at.Start, "write it as a string", "%s is not a string", Quoted(key))
	return ""
}

// Scalar reads a string, or takes the text of a number.
func (o *Object) Scalar(key string) string {
	at := o.Value(key)
	if c := o.Kind(at); c == '-' || c >= '0' && c <= '9' {
		return string(o.Bytes(at))
	}
	return o.Str(key)
}

// Flag reads a boolean; missing and null are false.
func (o *Object) Flag(key string) bool {
	at := o.Value(key)
	c := o.Kind(at)
	if c != 0 && c != 't' && c != 'f' {
		o.Fail(at.Start, "write true or false", "%s is not a boolean", Quoted(key))
	}
	return c == 't'
}

// List returns the elements of a list; missing and null have none.
func (o *Object) List(key string) []Span {
	if at := o.ListAt(key); at.OK() {
		return o.Elements(at)
	}
	return nil
}

// ListAt returns where a list stands; missing and null are nowhere.
func (o *Object) ListAt(key string) Span {
	at := o.Value(key)
	if at.OK() && o.Kind(at) != '[' {
		o.Fail(at.Start, "write it as a list", "%s is not a list", Quoted(key))
		return Span{}
	}
	return at
}

// Either returns the key of the two that the object has, the first where it has
// none.
func (o *Object) Either(one, other string) string {
	if !o.Has(one) && o.Has(other) {
		return other
	}
	return one
}

// Place returns the place of a value, or the one where it would go. The object
// must have a field already.
func (o *Object) Place(key string) Place {
	at := o.Raw(key)
	if !at.OK() {
		return Place{At: Span{o.At.End - 1, o.At.End - 1}, key: key}
	}
	return Place{At: at, Text: o.Kind(at) == '"'}
}

// Removal returns what goes with a field: its key, its value, and the comma
// that keeps it apart from the fields beside it.
func (o *Object) Removal(key string) Span {
	i := o.find(key)
	if i < 0 {
		return Span{}
	}
	end := o.Fields[i].Value.End
	if i > 0 {
		return Span{o.Fields[i-1].Value.End, end}
	}
	if comma := o.space(end); o.Data[comma] == ',' {
		end = o.space(comma + 1)
	}
	return Span{o.space(o.At.Start + 1), end}
}
