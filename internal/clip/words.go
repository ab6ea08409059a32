package clip

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// First is the beginning of a text in at most so many characters, up to the end
// of a word.
func First(s string, runes int) string {
	if len(s) <= runes {
		return s
	}
	n, last := 0, 0
	for i, r := range s {
		if unicode.IsSpace(r) {
			last = i
		} else if i > 0 && Separate(r) {
			last = i
		}
		if n++; n > runes {
			return s[:last]
		}
	}
	return s
}

// Last is the end of a text in at most so many characters, from the beginning
// of a word.
func Last(s string, runes int) string {
	n, at := 0, len(s)
	for i := len(s); i > 0 && n < runes; n++ {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if unicode.IsSpace(r) {
			at = i
		} else if Separate(r) {
			at = i - size
		}
		i -= size
		if i == 0 {
			return s
		}
	}
	return s[at:]
}

// Separate reports whether a character is a word of its own: of a script that puts
// no spaces between them.
func Separate(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// Words returns s in at most n characters, cut at a word where it can, of which
// the last says that there was more where there was.
func Words(s string, n int) string {
	if !longer(s, n) {
		return s
	}
	head := Chars(s, n-1)
	if first := First(s, n-1); len(first) > len(head)*3/4 {
		head = first
	}
	return strings.TrimSpace(head) + more
}
