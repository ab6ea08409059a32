package strategies

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// ends returns a text of so many tokens within limit: its beginning and its end, of at most end tokens
// each, and between them a line that says how much was left out. Where that cannot be done it returns
// the notice alone.
//
// Only the pieces are counted, never the whole text.
func ends(text string, tokens, limit, end int, count func(string) int) string {
	all := pruneNotice(tokens)
	end = min(end, (limit-count(all)-1)/2)
	for range 4 {
		if end <= 0 {
			break
		}
		size := len(text) * end / max(1, tokens)
		head, h := fit(text, end, size, first, count)
		tail, t := fit(text[len(head):], end, size, last, count)
		short := abi.Defuse(line(head) + line(pruneNotice(max(0, tokens-h-t))) + tail)
		n := count(short)
		if n <= limit && len(short) < len(text) {
			return short
		}
		end = min(end*3/4, end-(n-limit)/2)
	}
	return all
}

// line ends s with a newline.
func line(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// fit returns the longest piece of text that it finds within n tokens, and the tokens of that. It
// begins with a piece of size bytes and corrects that by what the piece costs, so that only a few
// pieces are counted, however long the text is.
func fit(text string, n, size int, cut func(string, int) string, count func(string) int) (best string, tokens int) {
	for round := 0; size > 0 && (round < 6 || best == ""); round++ {
		piece := cut(text, size)
		c := count(piece)
		if c > n {
			size = min(size*n/c*15/16, size/2+size/4)
			continue
		}
		if len(piece) >= len(best) {
			best, tokens = piece, c
		}
		if len(piece) == len(text) || c >= n-n/10 {
			break
		}
		size = min(size*n/max(1, c), 4*size)
	}
	return best, tokens
}

// first returns the beginning of s, of at most size bytes, cut after a line where one ends in its last
// quarter, else between runes.
func first(s string, size int) string {
	if size >= len(s) {
		return s
	}
	s = clip.Head(s, size)
	if i := strings.LastIndexByte(s, '\n') + 1; i > len(s)-len(s)/4 {
		return s[:i]
	}
	return s
}

// last returns the end of s, cut in the same way.
func last(s string, size int) string {
	if size >= len(s) {
		return s
	}
	s = clip.Tail(s, size)
	if i := strings.IndexByte(s, '\n') + 1; i > 0 && i < size/4 {
		return s[i:]
	}
	return s
}
