// Package runes takes the ends of texts, by characters.
package runes

import "unicode/utf8"

// First is the beginning of s, at most n runes of it.
func First(s string, n int) string {
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

// Last is the end of s, at most n runes of it.
func Last(s string, n int) string {
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
