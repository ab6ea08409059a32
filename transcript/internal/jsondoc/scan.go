package jsondoc

import (
	"bytes"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/internal/jsonlex"
)

// space returns the first place from pos on that is no white space.
func (s *Source) space(pos int) int { return jsonlex.Space(s.Data, pos) }

// members calls member for all that an object or a list holds; elements of a
// list have no key. The source was checked: it is JSON.
func (s *Source) members(at Span, member func(key, value Span)) {
	jsonlex.Members(s.Data, at.Start, at.End, func(key, keyEnd, value, valueEnd int) {
		member(Span{key, keyEnd}, Span{value, valueEnd})
	})
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
