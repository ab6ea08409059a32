package rank

import (
	"strings"
	"unicode/utf8"
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

// plain yields the word at start where it is a plain one: small letters and digits, with
// capitals at most in front. It returns where the word ends, or start where it is not plain.
func (s *scanner) plain(start int) int {
	term, capitals, pos, sum := s.buf[:0], 0, start, uint32(0)
word:
	for ; pos < len(s.text); pos++ {
		c := s.text[pos]
		switch plainByte[c] {
		case small:
			if capitals > 1 {
				return start // HTTPBody
			}
		case digit:
		case capital:
			if capitals++; capitals != pos+1-start {
				return start // fooBar
			}
			c += 'a' - 'A'
		case joins:
			if s.joint(pos) > pos {
				return start
			}
			break word
		case other:
			if r, _ := decode(s.text, pos); inWord(r) && !unspaced(r) {
				return start
			}
			break word
		default:
			break word
		}
		term, sum = append(term, c), 31*sum+uint32(c)
	}
	if s.buf = term; len(term) > maxPlain {
		return start
	}
	place := s.memo.place(term, sum)
	switch {
	case s.done:
	case place == nil:
		s.yieldPlain(term, start, pos)
	case !place.is(term):
		place.set(term)
		s.id = noTerm
		s.yieldPlain(term, start, pos)
		place.id = s.id
	case place.id != noTerm:
		s.done = !s.take(place.id, start, pos)
	}
	return pos
}

// yieldPlain yields a plain word in lower case, unless it is a stop word.
func (s *scanner) yieldPlain(word []byte, start, end int) {
	if word = commonest(word); len(word) > 0 {
		s.done = !s.yield(stem(word), start, end)
	}
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
