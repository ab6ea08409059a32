package jsondoc

import (
	"bytes"
	"strings"

	"github.com/goccy/go-json"
)

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// space returns the first place from pos on that is no white space.
func (s *Source) space(pos int) int {
	for pos < len(s.Data) && isSpace(s.Data[pos]) {
		pos++
	}
	return pos
}

// value returns the end of the value that begins at pos.
func (s *Source) value(pos int) int {
	for depth := 0; ; {
		switch s.Data[pos] {
		case '"':
			pos = s.text(pos)
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
			for pos < len(s.Data) && strings.IndexByte(" \t\r\n,:]}", s.Data[pos]) < 0 {
				pos++
			}
		}
		if depth == 0 {
			return pos
		}
	}
}

// text returns the end of the string that begins at pos.
func (s *Source) text(pos int) int {
	for pos++; ; pos++ {
		switch s.Data[pos] {
		case '\\':
			pos++
		case '"':
			return pos + 1
		}
	}
}

// members calls member for all that an object or a list holds; elements of a
// list have no key.
func (s *Source) members(at Span, member func(key, value Span)) {
	for pos := s.space(at.Start + 1); pos < at.End-1; pos = s.space(pos) {
		if s.Data[pos] == ',' {
			pos = s.space(pos + 1)
		}
		var key Span
		if s.Data[at.Start] == '{' {
			key = Span{pos, s.text(pos)}
			pos = s.space(s.space(key.End) + 1)
		}
		value := Span{pos, s.value(pos)}
		member(key, value)
		pos = value.End
	}
}

// Elements returns the elements of a list.
func (s *Source) Elements(list Span) (els []Span) {
	s.members(list, func(_, value Span) { els = append(els, value) })
	return els
}

// Strings are the places of a text among the values inside a piece of the source.
func (s *Source) Strings(at Span, text string) (found []Span) {
	switch s.Data[at.Start] {
	case '"':
		if s.Unquote(at) == text {
			found = append(found, at)
		}
	case '{', '[':
		s.members(at, func(_, value Span) { found = append(found, s.Strings(value, text)...) })
	}
	return found
}

// Unquote returns the text of a JSON string.
func Unquote(lit []byte) string {
	if bytes.IndexByte(lit, '\\') < 0 {
		return string(lit[1 : len(lit)-1])
	}
	var text string
	if json.Unmarshal(lit, &text) != nil {
		return ""
	}
	return text
}
