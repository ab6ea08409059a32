package note

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lower is a text in lower case. Letters of scripts without cases are passed over: to ask for each of them takes
// longer than all else that is done with the text.
func lower(text string) string {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !caseless(r) && (r == utf8.RuneError || unicode.ToLower(r) != r) {
			return strings.ToLower(text)
		}
		i += size
	}
	return lowerASCII(text)
}

// lowerASCII is a text of which only ASCII has cases, in lower case.
func lowerASCII(text string) string {
	isUpper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	for i := range len(text) {
		if !isUpper(text[i]) {
			continue
		}
		out := []byte(text)
		for ; i < len(out); i++ {
			if isUpper(out[i]) {
				out[i] += 'a' - 'A'
			}
		}
		return string(out)
	}
	return text
}

// caseless reports whether a letter is of a block that has no cases: punctuation, arrows and lines, and the scripts
// of China, Japan and Korea.
func caseless(r rune) bool {
	return 0x2000 <= r && r < 0x2100 || 0x2190 <= r && r < 0x2400 || 0x2500 <= r && r < 0x2c00 ||
		0x2e80 <= r && r < 0xa640 || 0xac00 <= r && r < 0xe000
}
