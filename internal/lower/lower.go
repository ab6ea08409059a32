// Package lower writes texts in small letters. Sessions are megabytes, which are looked at in small letters again and
// again: nearly all of a text are ASCII letters that are small already.
package lower

import (
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/kagewasm/kagewasm/internal/unaligned"
)

// Text is a text in lower case, as [strings.ToLower] has it. Letters of scripts without cases are passed over: to ask
// for each of them takes longer than all else that is done with the text.
func Text(text string) string {
	b := unsafe.Slice(unsafe.StringData(text), len(text))
	capital, high := look(b)
	if high && hasCases(text) {
		return strings.ToLower(text)
	}
	if !capital {
		return text
	}
	out := []byte(text)
	i := 0
	for ; i+8 <= len(out); i += 8 {
		x := unaligned.Load(out, i)
		unaligned.Store(out, i, x|capitals(x)>>2)
	}
	for ; i < len(out); i++ {
		out[i] |= byte(capitals(uint64(out[i])) >> 2)
	}
	return unsafe.String(unsafe.SliceData(out), len(out))
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// capitals marks, in the high bit of each byte of x, the capital letters of ASCII. Two bits below stands what makes a
// letter small.
func capitals(x uint64) uint64 {
	low := x &^ highs // what is added to a byte does not reach the next one
	return (low + (0x80-'A')*ones) &^ (low + (0x7f-'Z')*ones) &^ x & highs
}

// look reports whether a text holds a capital letter of ASCII, and whether it holds anything that is not ASCII.
func look(text []byte) (capital, high bool) {
	var marks, bytes uint64
	i := 0
	for ; i+8 <= len(text); i += 8 {
		x := unaligned.Load(text, i)
		marks, bytes = marks|capitals(x), bytes|x
	}
	for ; i < len(text); i++ {
		marks, bytes = marks|capitals(uint64(text[i])), bytes|uint64(text[i])
	}
	return marks != 0, bytes&highs != 0
}

// hasCases reports whether a text holds a letter other than of ASCII that is another one in lower case.
func hasCases(text string) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !caseless(r) && (r == utf8.RuneError || unicode.ToLower(r) != r) {
			return true
		}
		i += size
	}
	return false
}

// caseless reports whether a letter is of a block that has no cases: punctuation, arrows and lines, and the scripts
// of China, Japan and Korea.
func caseless(r rune) bool {
	return 0x2000 <= r && r < 0x2100 || 0x2190 <= r && r < 0x2400 || 0x2500 <= r && r < 0x2c00 ||
		0x2e80 <= r && r < 0xa640 || 0xac00 <= r && r < 0xe000
}
