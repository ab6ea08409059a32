package strictjson

import (
	"errors"
	"fmt"

	"github.com/kagewasm/kagewasm/internal/jsonlex"
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

	limits Limits
	values int
	why    error // that is no fault of the document
}

// lookEvery is how many values are read between two looks.
const lookEvery = 4096

// step counts a value.
func (s *jsonScanner) step() error {
	if s.values++; s.values%lookEvery == 0 && s.limits.Look != nil {
		s.why = s.limits.Look()
	}
	return s.why
}

// take reserves memory for what is about to be built.
func (s *jsonScanner) take(n int64) error {
	if s.limits.Take != nil && s.why == nil {
		s.why = s.limits.Take(n)
	}
	return s.why
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
	if err := s.step(); err != nil {
		return err
	}
	switch c := s.peek(); {
	case c == '"':
		_, _, err := s.str()
		return err
	case c == '{' || c == '[':
		if depth == MaxDepth {
			return fmt.Errorf("nested deeper than %d", MaxDepth)
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

// str reads a string and returns what stands between the quotes, and whether
// there are escapes in it.
func (s *jsonScanner) str() (raw []byte, escaped bool, err error) {
	doc, i := s.doc, s.pos+1
	start := i
	for {
		i, _ = jsonlex.Plain(doc, i)
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
		n, _ := jsonlex.Escape(doc[i:])
		if n == 0 {
			return nil, false, fmt.Errorf("an escape %q that is none", doc[i:min(i+6, len(doc))])
		}
		i += n
	}
}

func (s *jsonScanner) number() error {
	n := jsonlex.Number(s.doc[s.pos:])
	switch {
	case n == 0:
		return errors.New("a number that is none")
	case n > MaxNumber:
		return fmt.Errorf("a number of %d characters", n)
	}
	s.pos += n
	return nil
}
