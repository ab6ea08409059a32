package clip

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/kagewasm/kagewasm/internal/unaligned"
)

// Chars returns the beginning of s, at most n characters of it.
func Chars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := 0
	for ; n > 0 && end < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return s[:end]
}

// LastChars returns the end of s, at most n characters of it.
func LastChars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	from := len(s)
	for ; n > 0 && from > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:from])
		from -= size
	}
	return s[from:]
}

// CutChars returns s, or at most n characters of it and the mark.
func CutChars(s string, n int, mark string) string {
	if first := Chars(s, n); len(first) < len(s) {
		return first + mark
	}
	return s
}

// OneLine returns the words of s on one line.
func OneLine(s string) string {
	var line []byte
	for from := 0; ; {
		start, end := gap(s, from)
		switch {
		case start == len(s) && from == 0:
			return s
		case start == len(s) || end == len(s):
			return string(append(line, s[from:start]...))
		}
		if line = append(line, s[from:start]...); start > 0 {
			line = append(line, ' ')
		}
		from = end
	}
}

// gap is where white space begins and ends that is not one space between two words, the
// first from a byte of s on, or the length of s twice.
func gap(s string, from int) (start, end int) {
	for i := from; i < len(s); {
		if i+8 <= len(s) && ' ' < s[i] && s[i] < utf8.RuneSelf {
			if next := spacedEnd(unsafe.Slice(unsafe.StringData(s), len(s)), i); next > i {
				i = next
				continue
			}
		}
		if !maySpace[s[i]] {
			i++
			continue
		}
		if s[i] == ' ' && i > 0 && i+1 < len(s) && !maySpace[s[i+1]] {
			i += 2 // one space between two words
			continue
		}
		size := spaceAt(s, i)
		if size <= 0 {
			i -= size
			continue
		}
		start, end = i, i+size
		for end < len(s) && spaceAt(s, end) > 0 {
			end += spaceAt(s, end)
		}
		if s[start:end] != " " || start == 0 || end == len(s) {
			return start, end
		}
		i = end
	}
	return len(s), len(s)
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// spacedEnd goes on from i, where no white space stands, over ASCII with single spaces in it, and returns where it
// stopped: at anything else, or at one of the last eight bytes. It reads eight at a time, the last one twice.
func spacedEnd(text []byte, i int) int {
	for ; i+8 <= len(text); i += 7 {
		x := unaligned.Load(text, i)
		others := x ^ ' '*ones
		spaces := ^((others&^highs + 0x7f*ones) | others) & highs
		stops := (x | (x-' '*ones)&^x) & highs // the first one is right
		if stops |= spaces & ((stops | spaces) >> 8); stops != 0 {
			return i + bits.TrailingZeros64(stops)/8
		}
	}
	return i
}

// maySpace are the bytes that white space begins with: most texts have few of them.
var maySpace = [256]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true, 0xc2: true, 0xe1: true,
	0xe2: true, 0xe3: true}

// spaceAt is the length of the white space at a byte of s, and less than zero of other
// characters or a part of one.
func spaceAt(s string, i int) int {
	switch s[i] {
	case ' ', '\t', '\n', '\v', '\f', '\r':
		return 1
	case 0xc2, 0xe1, 0xe2, 0xe3: // other white space begins with these
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsSpace(r) {
			return -size
		}
		return size
	}
	return -1
}

// Line returns s on one line in at most n characters, of which the last says
// that there was more where there was. Of a long text only the beginning is
// looked at.
func Line(s string, n int) string {
	line := OneLine(strings.ToValidUTF8(Head(s, 16*n), ""))
	if !longer(line, n) {
		return line
	}
	return strings.TrimSpace(Chars(line, n-1)) + more
}

// Digits returns how many digits s begins with.
func Digits(s string) (n int) {
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// longer reports whether s has more than n characters.
func longer(s string, n int) bool { return len(s) > n && utf8.RuneCountInString(s) > n }

// maxRest is how much longer than asked for [Whole] makes a text, in bytes.
const maxRest = 80

// Whole returns the beginning of s, at least n characters of it and up to the end of the
// word there, and a mark where there was more: no number or name is cut. A word
// without an end is cut after 80 bytes.
func Whole(s string, n int) string {
	head := Chars(s, n)
	rest := s[len(head):]
	if rest == "" {
		return s
	}
	end := strings.IndexAny(Head(rest, maxRest), " \t\n")
	if end < 0 {
		end = len(Head(rest, maxRest))
	}
	if head += rest[:end]; strings.TrimSpace(s[len(head):]) == "" {
		return head
	}
	return head + " " + more
}

// IsHan reports whether r is one of the characters that nearly all Chinese is written in: letters without cases, which
// one comparison tells before a table has to.
func IsHan(r rune) bool { return 0x4e00 <= r && r <= 0x9fff }
