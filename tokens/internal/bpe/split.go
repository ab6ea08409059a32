package bpe

import "unicode/utf8"

// splitter walks over a text as the regular expression of an encoding splits it. The expressions are
//
//	o200k_base
//	   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	  |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	  |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
//	cl100k_base
//	   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+
//	  |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// No character is looked at more than a few times, so that the time is linear.
type splitter struct {
	text    string
	classes classTable // those of ASCII are there
	// invalid is set where a byte was met that is no UTF-8; whoever reads it takes it back.
	invalid bool
}

// at returns the class of the character at i and its length; zeros at the end of the text.
func (s *splitter) at(i int) (class, int) {
	if i < len(s.text) && s.text[i] < utf8.RuneSelf {
		return s.classes[s.text[i]], 1
	}
	return s.wide(i)
}

func (s *splitter) wide(i int) (class, int) {
	r, n := utf8.DecodeRuneInString(s.text[i:])
	if n == 0 {
		return 0, 0
	}
	if r == utf8.RuneError && n == 1 {
		s.invalid = true
	}
	return s.classes.of(r), n
}

// run returns the end of the characters from i on that are of the set.
func (s *splitter) run(i int, set class) int {
	for i < len(s.text) {
		if b := s.text[i]; b < utf8.RuneSelf {
			if s.classes[b]&set == 0 {
				break
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s.text[i:])
		if r == utf8.RuneError && n == 1 {
			s.invalid = true
		}
		if s.classes.of(r)&set == 0 {
			break
		}
		i += n
	}
	return i
}

// o200k returns the end of the piece that begins at i.
func (s *splitter) o200k(i int) int {
	if end := s.plain(i); end > i {
		return end
	}
	c, n := s.at(i)
	switch {
	case c&(letter|mark) != 0:
		return s.word(i)
	case c == number:
		return s.number(i + n)
	case c&(space|other) != 0:
		if next, _ := s.at(i + n); next&(letter|mark) != 0 {
			return s.word(i + n)
		}
	}
	if end := s.signs(i); end > i {
		return s.lines(end, '/')
	}
	return s.spaces(i)
}

// plain returns the end of the commonest piece, where it begins at i: a space or none, a capital or none, small letters
// of ASCII, and then what certainly ends a word. It spares them most of the questions.
func (s *splitter) plain(i int) int {
	text := s.text
	at := i
	if text[at] == ' ' {
		at++
	}
	if at < len(text) && text[at]-'A' < 26 {
		at++
	}
	from := at
	for at < len(text) && text[at]-'a' < 26 {
		at++
	}
	if at == from || at < len(text) && (text[at] >= utf8.RuneSelf || text[at] == '\'') {
		return i
	}
	return at
}

// cl100k returns the end of the piece that begins at i.
func (s *splitter) cl100k(i int) int {
	if end := s.contraction(i); end > i {
		return end
	}
	c, n := s.at(i)
	switch {
	case c&letter != 0:
		return s.run(i, letter)
	case c == number:
		return s.number(i + n)
	case c&(space|other|mark) != 0:
		if next, _ := s.at(i + n); next&letter != 0 {
			return s.run(i+n, letter)
		}
	}
	if end := s.signs(i); end > i {
		return s.lines(end, '\n')
	}
	return s.spaces(i)
}

// word returns the end of o200k's word at i, where a letter or a mark is: capitals, then small letters. What has no
// case may be either. Where no small letter follows, the last that may be one ends the word; a word of capitals
// alone is the second choice.
func (s *splitter) word(i int) int {
	capitals := s.run(i, capital)
	end := s.run(capitals, small)
	if end > capitals {
		return s.contraction(end)
	}
	for end > i {
		r, n := utf8.DecodeLastRuneInString(s.text[i:end])
		if s.classes.of(r) != upper {
			return s.contraction(end)
		}
		end -= n
	}
	return s.contraction(capitals)
}

// contraction returns the end of 's, 't, 're, 've, 'm, 'll or 'd at i, or i.
func (s *splitter) contraction(i int) int {
	rest := s.text[i:]
	if len(rest) < 2 || rest[0] != '\'' {
		return i
	}
	switch rest[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if len(rest) > 2 && rest[2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if len(rest) > 2 && rest[2]|0x20 == 'l' {
			return i + 3
		}
	}
	return i
}

// number returns the end of a number whose first digit ends at i: it has three digits at most.
func (s *splitter) number(i int) int {
	for range 2 {
		c, n := s.at(i)
		if c != number {
			break
		}
		i += n
	}
	return i
}

// signs returns the end of the signs at i, with a space before them or without; i where there are none.
func (s *splitter) signs(i int) int {
	from := i
	if i < len(s.text) && s.text[i] == ' ' {
		from++
	}
	if end := s.run(from, other|mark); end > from {
		return end
	}
	return i
}

// lines returns the end of the line ends from i on, and of the other byte.
func (s *splitter) lines(i int, also byte) int {
	for i < len(s.text) && (s.text[i] == '\n' || s.text[i] == '\r' || s.text[i] == also) {
		i++
	}
	return i
}

// spaces returns the end of a piece of white space at i: behind its last line end; or else before its last
// character, which belongs to what follows, where something does.
func (s *splitter) spaces(i int) int {
	line, last, end := i, i, i
	for {
		c, n := s.at(end)
		if c&(space|newline) == 0 {
			break
		}
		last = end
		end += n
		if c == newline {
			line = end
		}
	}
	switch {
	case line > i:
		return line
	case last > i && end < len(s.text):
		return last
	}
	return end
}
