package jsonlex

import (
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/unaligned"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops marks, in the high bit of each byte of x, where a run of plain text
// ends: at a quote, a backslash or a control character. Marks above the first
// may be wrong.
func stops(x uint64) uint64 {
	quote, slash := x^('"'*ones), x^('\\'*ones)
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-0x20*ones)&^x) & highs
}

func stopsAt(c byte) bool { return c == '"' || c == '\\' || c < 0x20 }

// Plain returns where the run of plain text that begins at i ends, and whether
// all of it is ASCII (false where bytes soon after the run are not).
func Plain(doc []byte, i int) (end int, ascii bool) {
	var high uint64
	for i+8 <= len(doc) {
		x := unaligned.Load(doc, i)
		high |= x
		if s := stops(x); s != 0 {
			return i + bits.TrailingZeros64(s)>>3, high&highs == 0
		}
		i += 8
	}
	for i < len(doc) && !stopsAt(doc[i]) {
		high |= uint64(doc[i])
		i++
	}
	return i, high&highs == 0
}

// Unescape writes the text that doc begins with to to, its escapes resolved, up
// to the quote that ends it. It returns how many bytes it wrote, where the
// quote stands, and whether all of the text was ASCII before (false is only a
// maybe, as with [Plain]). Where there is no such text ok is false, and end is
// where it goes wrong.
//
// A text does not get longer by it, but eight bytes are written at a time: to
// has to have room for seven beyond doc.
func Unescape(to, doc []byte) (n, end int, ascii, ok bool) {
	var high uint64
	i := 0
	for {
		for i+8 <= len(doc) {
			x := unaligned.Load(doc, i)
			unaligned.Store(to, n, x)
			high |= x
			s := stops(x)
			if s == 0 {
				i, n = i+8, n+8
				continue
			}
			k := bits.TrailingZeros64(s) >> 3
			i, n = i+k, n+k
			if doc[i] != '\\' || i+1 == len(doc) || short[doc[i+1]] == 0 {
				break
			}
			to[n] = short[doc[i+1]]
			i, n = i+2, n+1
		}
		for i < len(doc) && !stopsAt(doc[i]) {
			to[n] = doc[i]
			high |= uint64(doc[i])
			i, n = i+1, n+1
		}
		if i < len(doc) && doc[i] == '"' {
			break
		}
		size, char := Escape(doc[i:])
		if size == 0 {
			return 0, i, false, false
		}
		n += utf8.EncodeRune(to[n:], char)
		i += size
	}
	return n, i, high&highs == 0, true
}

// Escape reads the escape that b begins with: its length, 0 where there is
// none, and the character it stands for. Half of a surrogate pair is U+FFFD.
func Escape(b []byte) (size int, char rune) {
	if len(b) < 2 || b[0] != '\\' {
		return 0, 0
	}
	if c := short[b[1]]; c != 0 {
		return 2, rune(c)
	}
	return unicodeEscape(b)
}

// short are the characters behind the escapes of two bytes, by the second.
var short = [256]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

func unicodeEscape(b []byte) (size int, char rune) {
	char = hex4(b)
	if char < 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(char) {
		if pair := utf16.DecodeRune(char, hex4(b[6:])); pair != utf8.RuneError {
			return 12, pair
		}
		return 6, utf8.RuneError
	}
	return 6, char
}

// hex4 is the number of the \u escape that b begins with, -1 where there is
// none.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var n rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return n
}
