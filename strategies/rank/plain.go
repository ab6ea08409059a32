package rank

import (
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/kagewasm/kagewasm/internal/unaligned"
)

// What a byte is to a plain word, which is one of ASCII that is no name: it goes through
// one loop, and most words are plain.
const (
	ends    = iota // stands in no word
	small          // a small letter
	digit          // or a digit
	capital        // or a capital
	joins          // can stand between the words of a name
	other          // is none of a plain word, or the beginning of a longer character
)

// maxPlain is how long a plain word may be, in bytes: no term of so many is cut.
const maxPlain = 64

var plainByte = func() (is [256]uint8) {
	for c := range is {
		switch r := rune(c); {
		case r >= utf8.RuneSelf, r == '_':
			is[c] = other
		case 'a' <= r && r <= 'z':
			is[c] = small
		case '0' <= r && r <= '9':
			is[c] = digit
		case isUpper(r):
			is[c] = capital
		case strings.IndexByte("./-:\\@#+", byte(c)) >= 0:
			is[c] = joins
		}
	}
	return is
}()

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// smallEnd returns where the small letters and digits end that begin at pos. It reads eight at a time.
func smallEnd(text []byte, pos int) int {
	for ; pos+8 <= len(text); pos += 8 {
		x := unaligned.Load(text, pos)
		low := x &^ highs // what is added to a byte does not reach the next one
		letters := (low + (0x80-'a')*ones) &^ (low + (0x7f-'z')*ones)
		digits := (low + (0x80-'0')*ones) &^ (low + (0x7f-'9')*ones)
		if others := ^((letters | digits) &^ x) & highs; others != 0 {
			return pos + bits.TrailingZeros64(others)/8
		}
	}
	for pos < len(text) && (plainByte[text[pos]] == small || plainByte[text[pos]] == digit) {
		pos++
	}
	return pos
}

// plain yields the word at start where it is a plain one: small letters and digits, with
// capitals at most in front. It returns where the word ends, or start where it is not plain.
func (s *scanner) plain(start int) int {
	text, pos := unsafe.Slice(unsafe.StringData(s.text), len(s.text)), start
	for pos < len(text) && plainByte[text[pos]] == capital {
		pos++
	}
	capitals := pos - start
	if capitals < 2 {
		pos = smallEnd(text, pos)
	} else {
		for pos < len(text) && plainByte[text[pos]] == digit { // HTTP2
			pos++
		}
	}
	if pos < len(text) && plainByte[text[pos]] != ends { // most words end there
		switch plainByte[text[pos]] {
		case small, capital: // HTTPBody, fooBar
			return start
		case joins:
			if s.joint(pos) > pos {
				return start
			}
		case other:
			if r, _ := decode(s.text, pos); inWord(r) && !unspaced(r) {
				return start
			}
		}
	}
	switch n := pos - start; {
	case n > maxPlain:
		return start
	case s.done:
	case s.adding == nil || n > maxRemembered:
		s.yieldPlain(start, pos, capitals)
	default:
		word := shortWordAt(text, start, pos, capitals)
		place := s.adding.index.memo.place(word)
		if place.word != word {
			*place = remembered{word, s.yieldPlain(start, pos, capitals)}
		} else if place.id != noTerm {
			s.adding.take(place.id, start, pos)
		}
	}
	return pos
}

// yieldPlain yields a plain word in lower case, unless it is a stop word, and returns its number in the index.
func (s *scanner) yieldPlain(start, end, capitals int) int32 {
	word := append(s.buf[:0], s.text[start:end]...)
	for i := range word[:capitals] {
		word[i] += 'a' - 'A'
	}
	s.buf = word
	if word = commonest(word); len(word) == 0 {
		return noTerm
	}
	if s.adding != nil && !s.adding.index.only.mayHave(word) {
		s.adding.take(unwanted, start, end)
		return unwanted
	}
	return s.give(stem(word), start, end)
}

// common are the stop words, which are "" here, and the words of irregular forms.
var common = func() map[string]string {
	words := make(map[string]string, len(irregular)+len(stopWords))
	for form, word := range irregular {
		words[form] = word
	}
	for word := range stopWords {
		words[word] = ""
	}
	return words
}()

// mayBeCommon tells most words that are not common.
var mayBeCommon = func() (s signs) {
	for word := range common {
		s.add(word)
	}
	return s
}()

// commonest is a word in lower case, nothing where it is a stop word or a single letter, and
// the word that it is an irregular form of. The result lies in word where it fits.
func commonest(word []byte) []byte {
	if len(word) == 1 && 'a' <= word[0] && word[0] <= 'z' {
		return nil
	}
	if !mayBeCommon.has(word) {
		return word
	}
	if of, ok := common[string(word)]; ok {
		return append(word[:0], of...)
	}
	return word
}
