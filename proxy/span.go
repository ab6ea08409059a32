package proxy

import (
	"bytes"
	"strconv"
)

// span is a piece of a document, from start up to end.
type span struct{ start, end int }

func (s span) ok() bool             { return s.end > s.start }
func (s span) of(doc []byte) []byte { return doc[s.start:s.end] }

// lexer finds where values of a JSON document begin and end. It decodes nothing: most of
// a request is text that nobody here looks into, and bytes.IndexByte jumps over that.
// A document that is not JSON makes it bad, and is then passed on as it is.
type lexer struct {
	doc []byte
	bad bool
}

// space returns the first place from pos on that is no white space.
func (l *lexer) space(pos int) int {
	for pos < len(l.doc) {
		switch l.doc[pos] {
		case ' ', '\t', '\n', '\r':
			pos++
		default:
			return pos
		}
	}
	return pos
}

// at is the byte at pos, 0 behind the end.
func (l *lexer) at(pos int) byte {
	if pos < len(l.doc) {
		return l.doc[pos]
	}
	return 0
}

// text returns the end of the string that begins at pos.
func (l *lexer) text(pos int) int {
	for from := pos + 1; from <= len(l.doc); {
		quote := bytes.IndexByte(l.doc[from:], '"')
		if quote < 0 {
			break
		}
		quote += from
		escape := quote
		for escape > pos+1 && l.doc[escape-1] == '\\' {
			escape--
		}
		if (quote-escape)%2 == 0 {
			return quote + 1
		}
		from = quote + 1
	}
	l.bad = true
	return len(l.doc)
}

// value returns the end of the value that begins at pos.
func (l *lexer) value(pos int) int {
	for depth := 0; pos < len(l.doc); {
		switch l.doc[pos] {
		case '"':
			pos = l.text(pos)
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
			pos = l.literal(pos)
		}
		if depth <= 0 {
			l.bad = l.bad || depth < 0
			return pos
		}
	}
	l.bad = true
	return len(l.doc)
}

// literal returns the end of the number or the word that begins at pos.
func (l *lexer) literal(pos int) int {
	for ; pos < len(l.doc); pos++ {
		switch l.doc[pos] {
		case ' ', '\t', '\n', '\r', ',', ':', ']', '}', '"', '{', '[':
			return pos
		}
	}
	return pos
}

// members calls do for what an object or a list holds; elements of a list have no key.
func (l *lexer) members(in span, do func(key, value span)) {
	object, pos := l.doc[in.start] == '{', l.space(in.start+1)
	for first := true; !l.bad && pos < in.end-1; first = false {
		if !first {
			if l.at(pos) != ',' {
				l.bad = true
				return
			}
			pos = l.space(pos + 1)
		}
		var key span
		if object {
			if l.at(pos) != '"' {
				l.bad = true
				return
			}
			key = span{pos, l.text(pos)}
			if pos = l.space(key.end); l.at(pos) != ':' {
				l.bad = true
				return
			}
			pos = l.space(pos + 1)
		}
		value := span{pos, l.value(pos)}
		if l.bad || !value.ok() {
			l.bad = true
			return
		}
		do(key, value)
		pos = l.space(value.end)
	}
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
