package abi

import (
	"bytes"
	"errors"
	"fmt"
)

// jsonScanner walks one document. It holds the keys of all open objects on
// one stack, the innermost last, so that no object needs a map of its own.
type jsonScanner struct {
	doc   []byte
	pos   int
	known map[string]bool
	// folded maps the folded form of each known key to the key. Made when the
	// first key is met that known does not hold.
	folded   map[string]string
	keys     [][]byte
	keyspace [32][]byte
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

// peek returns the byte ahead, or 0, which begins nothing, at the end.
func (s *jsonScanner) peek() byte {
	if s.pos < len(s.doc) {
		return s.doc[s.pos]
	}
	return 0
}

// value reads a value that stands inside depth containers.
func (s *jsonScanner) value(depth int, free bool) error {
	switch c := s.peek(); {
	case c == '"':
		_, _, err := s.str()
		return err
	case c == '{' || c == '[':
		if depth == MaxJSONDepth {
			return fmt.Errorf("nested deeper than %d", MaxJSONDepth)
		}
		if c == '{' {
			return s.object(depth, free)
		}
		return s.array(depth, free)
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return errors.New("not a value")
}

func (s *jsonScanner) literal(lit string) error {
	if rest := s.doc[s.pos:]; len(rest) < len(lit) || string(rest[:len(lit)]) != lit {
		return errors.New("not a value")
	}
	s.pos += len(lit)
	return nil
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
	seen := keySet{base: len(s.keys)}
	for {
		s.space()
		key, err := s.key()
		if err != nil {
			return err
		}
		if err := s.checkKey(key, &seen, free); err != nil {
			return err
		}
		if s.space(); s.peek() != ':' {
			return errors.New("a key without a value")
		}
		s.pos++
		s.space()
		if err := s.value(depth+1, free || opaque(key)); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			s.keys = s.keys[:seen.base]
			return nil
		default:
			return errors.New("an object that does not go on or end")
		}
	}
}

// stringEnd marks the bytes at which a run of plain string bytes ends.
var stringEnd = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// str reads a string and returns what stands between the quotes, and whether
// there are escapes in it.
func (s *jsonScanner) str() (raw []byte, escaped bool, err error) {
	doc, i := s.doc, s.pos+1
	start := i
	for {
		for i < len(doc) && !stringEnd[doc[i]] {
			i++
		}
		s.pos = i
		switch {
		case i == len(doc):
			return nil, false, errors.New("a string that does not end")
		case doc[i] == '"':
			s.pos++
			return doc[start:i], escaped, nil
		case doc[i] != '\\':
			return nil, false, errors.New("a control character in a string")
		}
		escaped = true
		n, err := escapeLen(doc[i:])
		if err != nil {
			return nil, false, err
		}
		i += n
	}
}

// escapeLen is the length of the escape that b begins with.
func escapeLen(b []byte) (int, error) {
	if len(b) < 2 {
		return 0, errors.New("a string that does not end")
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		if hex4(b[2:]) < 0 {
			return 0, errors.New("a \\u escape without four hex digits")
		}
		return 6, nil
	}
	return 0, fmt.Errorf("an escape %q that is none", b[:2])
}

// hex4 is the number that b begins with in four hex digits, or -1.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var n rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			n = n<<4 | rune(c-'A'+10)
		default:
			return -1
		}
	}
	return n
}

func (s *jsonScanner) number() error {
	rest := s.doc[s.pos:]
	n := 0
	for n < len(rest) && bytes.IndexByte([]byte("+-.eE0123456789"), rest[n]) >= 0 {
		n++
	}
	if n > MaxJSONNumber {
		return fmt.Errorf("a number of %d characters", n)
	}
	if !isNumber(rest[:n]) {
		return fmt.Errorf("a number %q that is none", rest[:n])
	}
	s.pos += n
	return nil
}

// isNumber reports whether b is a JSON number.
func isNumber(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	n := digits(b)
	if n == 0 || b[0] == '0' && n > 1 {
		return false
	}
	if b = b[n:]; len(b) > 0 && b[0] == '.' {
		n := digits(b[1:])
		if n == 0 {
			return false
		}
		b = b[1+n:]
	}
	if len(b) == 0 {
		return true
	}
	if b[0] != 'e' && b[0] != 'E' {
		return false
	}
	if b = b[1:]; len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		b = b[1:]
	}
	return len(b) > 0 && digits(b) == len(b)
}

// digits is how many digits b begins with.
func digits(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}
