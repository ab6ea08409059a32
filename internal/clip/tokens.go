package clip

import (
	"strings"
	"unicode/utf8"
)

// Tokens returns s in at most n tokens: as much of its beginning as there is room
// for, at a word where it can, and the mark. It is empty where nothing useful
// fits.
func Tokens(s string, n int, mark string, count func(string) int) string {
	if count(s) <= n {
		return s
	}
	lo, hi := 0, len(s)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if count(s[:mid]+mark) <= n {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	s = Head(s, lo)
	// Not every script has spaces: a cut at one is nicer, not needed.
	if i := strings.LastIndexAny(s, "\n "); i > len(s)/2 {
		s = s[:i]
	}
	if s = strings.TrimSpace(s); s == "" {
		return ""
	}
	return s + mark
}

// Shrink returns s if it has at most n tokens, or else what short makes of it for
// the largest number of characters tried that does; short(0) where nothing does.
func Shrink(s string, n int, count func(string) int, short func(chars int) string) string {
	chars := utf8.RuneCountInString(s)
	for text := s; ; text = short(chars) {
		tokens := count(text)
		if tokens <= n || chars == 0 {
			return text
		}
		chars = min(chars*9/10, chars*n/tokens)
	}
}
