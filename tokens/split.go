package tokens

import (
	"unicode"
	"unicode/utf8"
)

// Merging the bytes of one piece takes time quadratic in its length, and the
// splitting pattern puts no limit on that: 80,000 letters without a space are
// one piece and take 11 s. So text is cut before it is encoded, into chunks,
// at places where a piece certainly ends whatever stands around them; and
// where there is no such place for maxPiece bytes, right there. No piece is
// then longer than maxPiece, and the first kind of cut changes no count.

const (
	// maxPiece is the longest piece, in bytes, that is ever merged.
	maxPiece = 512
	// minChunk is the length, in bytes, from which a chunk is ended at the
	// next certain boundary. It bounds what the regular expression engine
	// holds at once (four bytes a rune, and a list of matches).
	minChunk = 4096
)

// class is what the splitting patterns tell runes apart by.
type class uint8

const (
	space   class = iota // \s but for \r and \n
	newline              // \r, \n
	digit                // \p{N}
	letter               // \p{L}
	mark                 // \p{M}
	apostrophe
	slash
	punct // everything else
	numClasses
)

// boundaries holds for each class the set of those that begin a new piece
// right after it, in any context. A boundary counts only if cutting there
// leaves the pieces on either side as they are: white space looks ahead
// (\s+(?!\S)), so never right after a space.
type boundaries [numClasses]classes

type classes uint16

func setOf(cs ...class) (s classes) {
	for _, c := range cs {
		s |= 1 << c
	}
	return s
}

func (s classes) has(c class) bool { return s>>c&1 != 0 }

var (
	// o200k: marks belong to words, a contraction to the word before it, and
	// slashes to the line ends before them.
	o200kBounds = boundaries{
		newline:    setOf(digit, letter, mark, apostrophe, punct),
		digit:      setOf(space, newline, letter, mark, apostrophe, slash, punct),
		letter:     setOf(space, newline, digit, slash, punct),
		mark:       setOf(space, digit),
		apostrophe: setOf(space, digit),
		slash:      setOf(space, digit),
		punct:      setOf(space, digit),
	}
	// cl100k: words are letters alone.
	cl100kBounds = boundaries{
		newline:    setOf(digit, letter, mark, apostrophe, slash, punct),
		digit:      setOf(space, newline, letter, mark, apostrophe, slash, punct),
		letter:     setOf(space, newline, digit, mark, apostrophe, slash, punct),
		mark:       setOf(space, digit),
		apostrophe: setOf(space, digit),
		slash:      setOf(space, digit),
		punct:      setOf(space, digit),
	}
)

// chunk returns the length of the first chunk of s, which is not empty, and
// whether the boundary at its end is certain. Chunks are at most min + 512
// bytes long.
func (b *boundaries) chunk(s string, min int) (n int, certain bool) {
	var (
		prev   class
		digits int // in the run that ends at i: they go by threes
		size   int // bytes since the last certain boundary, as encoded
	)
	for i, r := range s {
		c := classOf(r)
		if i > 0 && (b[prev].has(c) || c == digit && digits > 0 && digits%3 == 0) {
			if i >= min {
				return i, true
			}
			size = 0
		}
		// An invalid byte is encoded as U+FFFD, which has three.
		if size += utf8.RuneLen(r); size > maxPiece {
			return i, false
		}
		if c == digit {
			digits++
		} else {
			digits = 0
		}
		prev = c
	}
	return len(s), true
}

func classOf(r rune) class {
	if r < utf8.RuneSelf {
		return asciiClasses[r]
	}
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsSpace(r):
		return space
	case unicode.IsNumber(r):
		return digit
	case unicode.IsMark(r):
		return mark
	}
	return punct
}

var asciiClasses = func() (t [utf8.RuneSelf]class) {
	for r := range rune(utf8.RuneSelf) {
		switch {
		case r == '\r' || r == '\n':
			t[r] = newline
		case r == '\'':
			t[r] = apostrophe
		case r == '/':
			t[r] = slash
		case unicode.IsSpace(r):
			t[r] = space
		case unicode.IsLetter(r):
			t[r] = letter
		case unicode.IsNumber(r):
			t[r] = digit
		default:
			t[r] = punct
		}
	}
	return t
}()
