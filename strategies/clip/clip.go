// Package clip cuts texts to a length, and never in the middle of a character.
package clip

import (
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/strategies/internal/runes"
)

// more says that there was more. It is three bytes long.
const more = "…"

// Head is the beginning of s, at most n bytes of it. It does not say that there
// was more.
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

// Bytes is s in at most n bytes, of which the last say that there was more
// where there was.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Head(s, n-len(more)) + more
}

// OneLine is s with its words on one line.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Line is s on one line in at most n characters, of which the last says that
// there was more where there was. Of a long text only the beginning is looked
// at.
func Line(s string, n int) string {
	line := OneLine(strings.ToValidUTF8(Head(s, 16*n), ""))
	if utf8.RuneCountInString(line) <= n {
		return line
	}
	return strings.TrimSpace(runes.First(line, n-1)) + more
}
