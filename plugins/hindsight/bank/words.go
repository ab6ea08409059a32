package bank

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/unaligned"
)

// What a byte is to a word.
const (
	outside = iota
	inside  // a letter or digit
	wide    // the first byte of a longer character
)

var kindOf = func() (kinds [256]uint8) {
	for c := range kinds {
		switch {
		case c >= utf8.RuneSelf:
			kinds[c] = wide
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', 'A' <= c && c <= 'Z':
			kinds[c] = inside
		}
	}
	return kinds
}()

// nextWord is where the first run of letters and digits from a place of a text on begins and ends: at the end of the
// text where there is none.
func nextWord(text string, from int) (start, end int) {
	for i := from; i < len(text); {
		if kindOf[text[i]] == outside {
			i++
			continue
		}
		if kindOf[text[i]] == inside { // most words are of ASCII, and a call takes a guest as long as a short word
			end = plainEnd(unsafe.Slice(unsafe.StringData(text), len(text)), i)
			if end == len(text) || kindOf[text[end]] == outside {
				return i, end
			}
		}
		if end = wordEnd(text, i); end > i {
			return i, end
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return len(text), len(text)
}

// plainEnd is where the letters and digits of ASCII end that begin at pos. It reads eight at a time.
func plainEnd(text []byte, pos int) int {
	for ; pos+8 <= len(text); pos += 8 {
		if others := plainIn(unaligned.Load(text, pos)) ^ highs; others != 0 {
			return pos + bits.TrailingZeros64(others)/8
		}
	}
	for pos < len(text) && kindOf[text[pos]] == inside {
		pos++
	}
	return pos
}

const ones, highs = 0x0101010101010101, 0x8080808080808080

// plainIn has the highest bit of each of eight bytes that is a letter or digit of ASCII.
func plainIn(x uint64) uint64 {
	low := x &^ highs // what is added to a byte does not reach the next one
	small := low | 0x20*ones
	letters := (small + (0x80-'a')*ones) &^ (small + (0x7f-'z')*ones)
	digits := (low + (0x80-'0')*ones) &^ (low + (0x7f-'9')*ones)
	return (letters | digits) &^ x & highs
}

// wordEnd is where the letters and digits end that begin at from.
func wordEnd(text string, from int) (end int) {
	for end = from; end < len(text); {
		switch kindOf[text[end]] {
		case outside:
			return end
		case inside:
			end = plainEnd(unsafe.Slice(unsafe.StringData(text), len(text)), end)
		case wide:
			r, size := utf8.DecodeRuneInString(text[end:])
			if !clip.IsHan(r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return end
			}
			end += size
		}
	}
	return end
}

// behindWord reports whether a letter or digit ends at a place. It looks at no more than that: a text may be one word.
func behindWord(text string, at int) bool {
	if at == 0 || kindOf[text[at-1]] != wide {
		return at > 0 && kindOf[text[at-1]] == inside
	}
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return clip.IsHan(r) || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// wordStart is where the letters and digits begin that end at a place.
func wordStart(text string, end int) (start int) {
	for start = end; start > 0; {
		switch kindOf[text[start-1]] {
		case outside:
			return start
		case inside:
			start--
		case wide:
			r, size := utf8.DecodeLastRuneInString(text[:start])
			if !clip.IsHan(r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return start
			}
			start -= size
		}
	}
	return start
}
