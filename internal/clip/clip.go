// Package clip cuts texts to a length, and never in the middle of a character. All
// of the project cuts with it. (Its name is not text because half of the functions
// that use it have a variable of that name.)
//
// [Head], [Tail] and [Ends] count bytes, [Chars] and [LastChars] characters; none of them says that there was more.
// [Cut] and [CutChars] add a mark of the caller's, and [Bytes], [Line] and [Words] have room for theirs; [Whole] goes
// on to the end of the word, [First] and [Last] stop at one, and [OneLine] only takes line breaks out. [Tokens] and
// [Shrink] count tokens, with whatever counter they are given. [Digits] counts those at the beginning.
//
// A text that fits is returned as it is. Lengths below zero are zero. Guests
// compile this package too.
package clip

import (
	"strings"
	"unicode/utf8"
)

// more says that there was more. It is three bytes long.
const more = "…"

// Head returns the beginning of s, at most n bytes of it.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(0, n)
	for range utf8.UTFMax - 1 {
		if n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
	}
	return s[:n]
}

// Tail returns the end of s, at most n bytes of it.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	from := len(s) - max(0, n)
	for range utf8.UTFMax - 1 {
		if from < len(s) && !utf8.RuneStart(s[from]) {
			from++
		}
	}
	return s[from:]
}

// Ends returns the beginning and the end of s on lines of their own, at most n
// bytes of each: errors stand there, and a megabyte between them takes long to
// search.
func Ends(s string, n int) string {
	if len(s) <= 2*n {
		return s
	}
	return strings.ToValidUTF8(Head(s, n)+"\n"+Tail(s, n), "")
}

// Cut returns s, or at most n bytes of it and the mark.
func Cut(s string, n int, mark string) string {
	if len(s) <= n {
		return s
	}
	return Head(s, n) + mark
}

// Bytes returns s in at most n bytes, of which the last say that there was more
// where there was.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Head(s, n-len(more)) + more
}
