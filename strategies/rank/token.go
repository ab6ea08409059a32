package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

const (
	// maxTerm is the most bytes of a term. Of a longer one only the beginning counts. Hashes fit,
	// encoded data need not.
	maxTerm = 80
	// maxHumps is how long a word may be to be cut at its capitals. Nobody
	// writes longer names; encoded data is full of capitals.
	maxHumps = 48
)

// Terms calls yield for each term of the text, in order, with the bytes of the
// text it stands for, until yield returns false. An identifier comes first as
// a whole, then its parts. The term is only good until yield returns.
func Terms(text string, yield func(term []byte, start, end int) bool) {
	s := scanner{text: text, yield: yield}
	s.scan()
}

func (s *scanner) scan() {
	for pos := 0; pos < len(s.text) && !s.done; {
		if c := s.text[pos]; c < utf8.RuneSelf {
			if pos++; wordByte[c] {
				pos = s.run(pos - 1)
			}
			continue
		}
		r, size := decode(s.text, pos)
		switch {
		case unspaced(r):
			pos = s.pairs(pos)
		case inWord(r):
			pos = s.run(pos)
		default:
			pos += size
		}
	}
}

type scanner struct {
	text   string
	yield  func([]byte, int, int) bool
	buf    []byte
	done   bool
	adding *adding // to an index, in the place of yield; nil: to none
}

// give yields a term, or adds it, and returns its number in the index.
func (s *scanner) give(term []byte, start, end int) int32 {
	if s.adding != nil {
		return s.adding.term(term, start, end)
	}
	s.done = !s.yield(term, start, end)
	return noTerm
}

// run reads words and what joins them into an identifier, and returns where it
// ends.
func (s *scanner) run(start int) (end int) {
	if end = s.plain(start); end == start {
		end = s.joined(start)
	}
	if end == len(s.text) || s.text[end] != '\'' && s.text[end] != "\u2019"[0] {
		return end
	}
	return s.elided(end)
}

// joined is run for words of any form.
func (s *scanner) joined(start int) (end int) {
	first := s.wordEnd(start)
	end = first
	for next := s.joint(end); next > end; next = s.joint(end) {
		end = s.wordEnd(next)
	}
	if end > first {
		s.emit(start, end, false)
	}
	for pos := start; pos < end; {
		wordEnd := s.wordEnd(pos)
		s.word(pos, wordEnd)
		if pos = wordEnd; pos < end {
			pos = s.joint(pos)
		}
	}
	return end
}

// wordEnd is the end of the word that begins at pos.
func (s *scanner) wordEnd(pos int) int {
	for pos < len(s.text) {
		if c := s.text[pos]; c < utf8.RuneSelf {
			if !wordByte[c] {
				break
			}
			pos++
			continue
		}
		r, size := decode(s.text, pos)
		if !inWord(r) || unspaced(r) {
			break
		}
		pos += size
	}
	return pos
}

// joint returns the start of the next word of an identifier whose word ends at
// pos, or pos where it goes no further.
func (s *scanner) joint(pos int) int {
	next := pos
	for next < len(s.text) && next < pos+2 && plainByte[s.text[next]] == joins {
		next++
	}
	if next == pos || next == len(s.text) {
		return pos
	}
	if r, _ := decode(s.text, next); !inWord(r) || unspaced(r) {
		return pos
	}
	return next
}

// elided returns the end of what an apostrophe adds to an English word: the s,
// t, re, ve, ll, d or m of it's and don't. That is no term.
func (s *scanner) elided(pos int) int {
	rest, ok := strings.CutPrefix(s.text[pos:], "'")
	if !ok {
		rest, ok = strings.CutPrefix(s.text[pos:], "\u2019")
	}
	if !ok || rest == "" {
		return pos
	}
	start := len(s.text) - len(rest)
	end := s.wordEnd(start)
	switch strings.ToLower(s.text[start:end]) {
	case "s", "t", "re", "ve", "ll", "d", "m":
		return end
	}
	return pos
}

// word emits a word; a name that is written as one, then its parts.
func (s *scanner) word(start, end int) {
	start, end = s.trim(start, end)
	humps := end-start <= maxHumps
	cut := s.part(start, end, humps)
	if cut == end {
		s.emit(start, end, true)
		return
	}
	s.emit(start, end, false)
	for start < end {
		s.emit(start, cut, true)
		start, cut = cut, s.part(cut, end, humps)
	}
}

// part returns the end of the part of a word that begins at start: before an underscore's next letter
// or, with humps, before a capital as in fooBar and HTTPBody. Underscores belong to the part before
// them.
func (s *scanner) part(start, end int, humps bool) int {
	var before, last rune
	for pos := start; pos < end; {
		r, size := decode(s.text, pos)
		switch {
		case last == '_' && r != '_':
			return pos
		case !humps || r < utf8.RuneSelf && !isUpper(r) && !isUpper(last):
		case unicode.IsUpper(r) && last != 0 && last != '_' && !unicode.IsUpper(last):
			return pos
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before):
			return pos - utf8.RuneLen(last)
		}
		before, last = last, r
		pos += size
	}
	return end
}

// pairs emits the pairs of characters of an unspaced script, a lone one as it
// is, and returns where they end.
func (s *scanner) pairs(pos int) int {
	for last, lone := -1, true; ; {
		r, size := decode(s.text, pos)
		if size == 0 || !unspaced(r) && !(last >= 0 && unicode.IsMark(r)) {
			if lone {
				s.emit(last, pos, false)
			}
			return pos
		}
		if last >= 0 {
			s.emit(last, pos+size, false)
			lone = false
		}
		last = pos
		pos += size
	}
}

// emit yields the term of these bytes, unless it is a stop word.
func (s *scanner) emit(start, end int, plain bool) {
	if start, end = s.trim(start, end); s.done || start == end {
		return
	}
	s.buf = lower(s.buf[:0], s.text[start:end])
	term := s.buf
	if plain {
		if len(term) == end-start {
			term = commonest(term)
		} else { // with an accent it is longer: thé is not the
			term = regular(term)
		}
		if len(term) == 0 {
			return
		}
		term = stem(term)
	}
	s.give(term, start, end)
}

// trim leaves out underscores at both ends.
func (s *scanner) trim(start, end int) (int, int) {
	start = end - len(strings.TrimLeft(s.text[start:end], "_"))
	return start, start + len(strings.TrimRight(s.text[start:end], "_"))
}

// lower appends the beginning of s in lower case to buf, Latin letters without
// accents.
func lower(buf []byte, s string) []byte {
	for _, r := range s {
		switch {
		case len(buf) > maxTerm-utf8.UTFMax:
			return buf
		case r < utf8.RuneSelf:
			if isUpper(r) {
				r += 'a' - 'A'
			}
			buf = append(buf, byte(r))
		case isAccent(r) && accented(buf):
		default:
			buf = utf8.AppendRune(buf, fold(unicode.ToLower(r)))
		}
	}
	return buf
}

// decode returns the rune of text at pos, and its size, which is 0 at the end.
func decode(text string, pos int) (rune, int) {
	if pos < len(text) && text[pos] < utf8.RuneSelf {
		return rune(text[pos]), 1
	}
	return utf8.DecodeRuneInString(text[pos:])
}

func isUpper(r rune) bool { return 'A' <= r && r <= 'Z' }

// wordByte are the ASCII characters of words. The underscore is one, in names.
var wordByte = func() (in [utf8.RuneSelf]bool) {
	for c := range rune(utf8.RuneSelf) {
		in[c] = 'a' <= c && c <= 'z' || isUpper(c) || '0' <= c && c <= '9' || c == '_'
	}
	return in
}()

// inWord reports whether r is part of a word.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return wordByte[r]
	}
	return clip.IsHan(r) || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// unspaced reports whether r is of a script that puts no spaces between words.
func unspaced(r rune) bool {
	return clip.IsHan(r) || r >= 0x0E00 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer,
		unicode.Hiragana, unicode.Katakana, unicode.Han, unicode.Bopomofo) && !unicode.IsDigit(r)
}
