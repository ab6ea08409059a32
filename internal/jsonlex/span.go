package jsonlex

import "bytes"

// Space returns the first place from pos on that is no white space.
func Space(doc []byte, pos int) int {
	for pos < len(doc) && IsSpace(doc[pos]) {
		pos++
	}
	return pos
}

// IsSpace reports whether a byte is white space.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// Text returns the end of the text that begins with the quote at pos. It is not ok where
// the text does not end. Most of a session is text that nobody looks into, and
// bytes.IndexByte jumps over that.
func Text(doc []byte, pos int) (end int, ok bool) {
	for from := pos + 1; from <= len(doc); {
		quote := bytes.IndexByte(doc[from:], '"')
		if quote < 0 {
			break
		}
		quote += from
		escape := quote
		for escape > pos+1 && doc[escape-1] == '\\' {
			escape--
		}
		if (quote-escape)%2 == 0 {
			return quote + 1, true
		}
		from = quote + 1
	}
	return len(doc), false
}

// Value returns the end of the value that begins at pos, whatever it holds. It is not ok
// where its brackets or texts do not end.
func Value(doc []byte, pos int) (end int, ok bool) {
	for depth := 0; pos < len(doc); {
		switch doc[pos] {
		case '"':
			if pos, ok = Text(doc, pos); !ok {
				return pos, false
			}
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
			pos = word(doc, pos)
		}
		if depth <= 0 {
			return pos, depth == 0
		}
	}
	return len(doc), false
}

// word returns the end of the number or the word that begins at pos.
func word(doc []byte, pos int) int {
	for ; pos < len(doc); pos++ {
		switch doc[pos] {
		case ' ', '\t', '\n', '\r', ',', ':', ']', '}', '"', '{', '[':
			return pos
		}
	}
	return pos
}

// Members calls do with the places of what the object or the list from start up to end
// holds; elements of a list have no key. It stops, and is not ok, at what is neither.
func Members(doc []byte, start, end int, do func(key, keyEnd, value, valueEnd int)) (ok bool) {
	next := func(pos int, c byte) (int, bool) {
		if pos >= len(doc) || doc[pos] != c {
			return pos, false
		}
		return Space(doc, pos+1), true
	}
	ok = true
	for pos, first := Space(doc, start+1), true; pos < end-1; first = false {
		if !first {
			if pos, ok = next(pos, ','); !ok {
				return false
			}
		}
		key, keyEnd := 0, 0
		if doc[start] == '{' {
			if pos >= len(doc) || doc[pos] != '"' {
				return false
			}
			key = pos
			if keyEnd, ok = Text(doc, pos); !ok {
				return false
			}
			if pos, ok = next(Space(doc, keyEnd), ':'); !ok {
				return false
			}
		}
		valueEnd, ok := Value(doc, pos)
		if !ok || valueEnd == pos {
			return false
		}
		do(key, keyEnd, pos, valueEnd)
		pos = Space(doc, valueEnd)
	}
	return true
}
