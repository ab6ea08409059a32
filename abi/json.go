package abi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// CheckJSON refuses documents that decoders read in more than one way, before
// a decoder sees them: invalid UTF-8, duplicate keys, keys that differ only in
// case, nesting over [MaxJSONDepth], and anything but white space after the
// document. (Measured: encoding/json and goccy/go-json both take
// {"id":"a","ID":"EVIL"} as EVIL.)
//
// known are keys that may appear in no other spelling: {"ID":"x"} is refused
// where "id" is known. Keys below a field named in opaque are free.
//
// It runs in linear time and allocates for keys alone.
func CheckJSON(doc []byte, known map[string]bool) error {
	if !utf8.Valid(doc) {
		return errors.New("json: invalid utf-8")
	}
	s := jsonScanner{doc: doc}
	if len(known) > 0 {
		s.folded = make(map[string]string, len(known))
		for k := range known {
			s.folded[foldKey(k)] = k
		}
	}
	s.space()
	if err := s.value(0, false); err != nil {
		return fmt.Errorf("json: byte %d: %w", s.pos, err)
	}
	if s.space(); s.pos < len(doc) {
		return fmt.Errorf("json: byte %d: trailing data after the document", s.pos)
	}
	return nil
}

// opaque are fields whose values the ABI does not define: their keys are
// checked for duplicates alone.
var opaque = map[string]bool{"meta": true, "raw": true, "config": true, "arguments": true, "content": true, "default": true}

type jsonScanner struct {
	doc    []byte
	pos    int
	folded map[string]string
}

func (s *jsonScanner) space() {
	for s.pos < len(s.doc) {
		switch s.doc[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *jsonScanner) peek() byte {
	if s.pos < len(s.doc) {
		return s.doc[s.pos]
	}
	return 0
}

func (s *jsonScanner) value(depth int, free bool) error {
	if depth > MaxJSONDepth {
		return fmt.Errorf("nested deeper than %d", MaxJSONDepth)
	}
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth, free)
	case c == '[':
		return s.array(depth, free)
	case c == '"':
		_, err := s.str()
		return err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, lit := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.doc[s.pos:], []byte(lit)) {
			s.pos += len(lit)
			return nil
		}
	}
	return errors.New("not a value")
}

func (s *jsonScanner) array(depth int, free bool) error {
	s.pos++
	if s.space(); s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		s.space()
		if err := s.value(depth+1, free); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return nil
		default:
			return errors.New("a list that does not go on or end")
		}
	}
}

func (s *jsonScanner) object(depth int, free bool) error {
	s.pos++
	if s.space(); s.peek() == '}' {
		s.pos++
		return nil
	}
	seen := make(map[string]bool, 8)
	for {
		s.space()
		if s.peek() != '"' {
			return errors.New("a key that is not a string")
		}
		key, err := s.key()
		if err != nil {
			return err
		}
		if err := s.checkKey(key, seen, free); err != nil {
			return err
		}
		if s.space(); s.peek() != ':' {
			return errors.New("a key without a value")
		}
		s.pos++
		s.space()
		if err := s.value(depth+1, free || opaque[key]); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return nil
		default:
			return errors.New("an object that does not go on or end")
		}
	}
}

func (s *jsonScanner) checkKey(key string, seen map[string]bool, free bool) error {
	if free {
		if seen[key] {
			return fmt.Errorf("duplicate key %q", key)
		}
		seen[key] = true
		return nil
	}
	folded := foldKey(key)
	if seen[folded] {
		return fmt.Errorf("duplicate key %q (keys that differ only in case count as one)", key)
	}
	seen[folded] = true
	if want, ok := s.folded[folded]; ok && want != key {
		return fmt.Errorf("key %q: write %q", key, want)
	}
	return nil
}

// key reads a string and resolves its escapes.
func (s *jsonScanner) key() (string, error) {
	raw, err := s.str()
	if err != nil || bytes.IndexByte(raw, '\\') < 0 {
		return string(raw), err
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			b.WriteByte(raw[i])
			continue
		}
		i++
		switch raw[i] {
		case 'u':
			r := rune(hex4(raw[i+1:]))
			i += 4
			if utf16.IsSurrogate(r) && i+6 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
				if r2 := utf16.DecodeRune(r, rune(hex4(raw[i+3:]))); r2 != utf8.RuneError {
					r = r2
					i += 6
				}
			}
			b.WriteRune(r)
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		default:
			b.WriteByte(raw[i])
		}
	}
	return b.String(), nil
}

// str reads a string and returns what stands between the quotes.
func (s *jsonScanner) str() ([]byte, error) {
	s.pos++
	start := s.pos
	for s.pos < len(s.doc) {
		switch c := s.doc[s.pos]; {
		case c == '"':
			s.pos++
			return s.doc[start : s.pos-1], nil
		case c < 0x20:
			return nil, errors.New("a control character in a string")
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		default:
			s.pos++
		}
	}
	return nil, errors.New("a string that does not end")
}

func (s *jsonScanner) escape() error {
	rest := s.doc[s.pos+1:]
	if len(rest) == 0 {
		return errors.New("a string that does not end")
	}
	if rest[0] == 'u' {
		if len(rest) < 5 || hex4(rest[1:]) < 0 {
			return errors.New("a \\u escape without four hex digits")
		}
		s.pos += 6
		return nil
	}
	if strings.IndexByte(`"\/bfnrt`, rest[0]) < 0 {
		return fmt.Errorf("an escape \\%c that is none", rest[0])
	}
	s.pos += 2
	return nil
}

func hex4(b []byte) int {
	if len(b) < 4 {
		return -1
	}
	n := 0
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | int(c-'a'+10)
		case c >= 'A' && c <= 'F':
			n = n<<4 | int(c-'A'+10)
		default:
			return -1
		}
	}
	return n
}

// maxNumber is how long a number may be written.
const maxNumber = 64

func (s *jsonScanner) number() error {
	start := s.pos
	for s.pos < len(s.doc) && strings.IndexByte("+-.eE0123456789", s.doc[s.pos]) >= 0 {
		s.pos++
	}
	lit := s.doc[start:s.pos]
	if len(lit) > maxNumber {
		return fmt.Errorf("a number of %d characters", len(lit))
	}
	if !json.Valid(lit) {
		return fmt.Errorf("a number %q that is none", lit)
	}
	return nil
}

// foldKey maps keys that a case-insensitive decoder takes for one another to
// the same text.
func foldKey(s string) string {
	ascii := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			ascii = false
			break
		}
	}
	if ascii {
		return s
	}
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		if least >= 'A' && least <= 'Z' {
			least += 'a' - 'A'
		}
		return least
	}, s)
}

// DecodeStrict checks doc with [CheckJSON] against the fields of v and decodes
// it; fields v does not have are errors.
func DecodeStrict(doc []byte, v any) error {
	if err := CheckJSON(doc, Keys(v)); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// Keys returns the JSON keys of v's type and of all types inside it, for
// [CheckJSON].
func Keys(v any) map[string]bool {
	keys := make(map[string]bool)
	collectKeys(reflect.TypeOf(v), keys, make(map[reflect.Type]bool))
	return keys
}

func collectKeys(t reflect.Type, keys map[string]bool, seen map[reflect.Type]bool) {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Array) {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			keys[name] = true
		}
		collectKeys(f.Type, keys, seen)
	}
}
