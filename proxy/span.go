package proxy

import (
	"bytes"
	"strconv"

	"github.com/kagewasm/kagewasm/internal/jsonlex"
)

// span is a piece of a document, from start up to end.
type span struct{ start, end int }

func (s span) ok() bool             { return s.end > s.start }
func (s span) of(doc []byte) []byte { return doc[s.start:s.end] }

// lexer finds where values of a JSON document begin and end. It decodes nothing.
// A document that is not JSON makes it bad, and is then passed on as it is.
type lexer struct {
	doc []byte
	bad bool
}

// space returns the first place from pos on that is no white space.
func (l *lexer) space(pos int) int { return jsonlex.Space(l.doc, pos) }

// at is the byte at pos, 0 behind the end.
func (l *lexer) at(pos int) byte {
	if pos < len(l.doc) {
		return l.doc[pos]
	}
	return 0
}

// value returns the end of the value that begins at pos.
func (l *lexer) value(pos int) int {
	end, ok := jsonlex.Value(l.doc, pos)
	l.bad = l.bad || !ok
	return end
}

// members calls do for what an object or a list holds; elements of a list have no key.
func (l *lexer) members(in span, do func(key, value span)) {
	ok := !l.bad && jsonlex.Members(l.doc, in.start, in.end, func(key, keyEnd, value, valueEnd int) {
		do(span{key, keyEnd}, span{value, valueEnd})
	})
	l.bad = l.bad || !ok
}

// elements are those of a list, nil where it is none.
func (l *lexer) elements(list span) (els []span) {
	if !list.ok() || l.doc[list.start] != '[' {
		return nil
	}
	l.members(list, func(_, value span) { els = append(els, value) })
	return els
}

// object are the members of an object by their key, and where the keys stand; nil where it
// is none. A key that
// stands there twice makes the document bad: readers disagree on which of them counts.
func (l *lexer) object(in span) (fields, names map[string]span) {
	if !in.ok() || l.doc[in.start] != '{' {
		return nil, nil
	}
	fields, names = make(map[string]span), make(map[string]span)
	l.members(in, func(key, value span) {
		name := l.string(key)
		if _, twice := fields[name]; twice {
			l.bad = true
		}
		fields[name], names[name] = value, key
	})
	return fields, names
}

// string is the text of a JSON string, empty where it is none.
func (l *lexer) string(at span) string {
	lit := at.of(l.doc)
	if len(lit) < 2 || lit[0] != '"' {
		return ""
	}
	if bytes.IndexByte(lit, '\\') < 0 {
		return string(lit[1 : len(lit)-1])
	}
	return unquote(lit)
}

// number is a whole number, 0 where it is none.
func (l *lexer) number(at span) int {
	n, err := strconv.Atoi(string(at.of(l.doc)))
	if err != nil {
		return 0
	}
	return n
}
