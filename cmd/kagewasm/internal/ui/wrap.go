package ui

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wrap breaks a line between words, so that no part of it is wider than so many columns,
// as far as its words allow: a path is never cut, it is there to be copied. Hang begins
// the parts below the first. With no columns the line stays as it is.
func wrap(line, hang string, width int) string {
	if width <= 0 || columns(line) <= width {
		return line
	}
	var b strings.Builder
	used, begun := 0, false
	for rest := line; rest != ""; {
		gap := len(rest) - len(strings.TrimLeft(rest, " "))
		end := gap + strings.IndexByte(rest[gap:]+" ", ' ')
		word := rest[gap:end]
		switch wide := columns(word); {
		case begun && word != "" && used+gap+wide > width && columns(hang)+wide <= width:
			b.WriteString("\n" + hang + word)
			used = columns(hang) + wide
		case begun && word != "" && used+gap+wide > width && blank(hang) && (wide <= width || used > width/2):
			// A long name goes on a line of its own, further out.
			out := hang[:max(0, min(len(hang), width-wide))]
			b.WriteString("\n" + out + word)
			used = len(out) + wide
		default:
			b.WriteString(rest[:end])
			used += gap + wide
		}
		begun, rest = true, rest[end:]
	}
	return b.String()
}

func blank(s string) bool { return strings.TrimLeft(s, " ") == "" }

// hanging is what the parts of a line begin with that stand below its first: they stand
// below the second column of a line that has columns, or else further in than the line.
func hanging(line string, width int) string {
	text := controls.ReplaceAllString(line, "")
	indent := len(text) - len(strings.TrimLeft(text, " "))
	if at := secondColumn.FindString(text); at != "" && columns(at) <= width/2 {
		return strings.Repeat(" ", columns(at))
	}
	return strings.Repeat(" ", min(indent+2, width/2))
}

var (
	controls     = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	secondColumn = regexp.MustCompile(`^ +\S+(?: \S+){0,2}? {2,}`)
)

// columns is how wide a text is on a terminal: colours take nothing, the letters of
// Chinese, Japanese and Korean two columns, and accents none.
func columns(s string) (n int) {
	s = controls.ReplaceAllString(s, "")
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			n++
		case unicode.In(r, unicode.Mn, unicode.Me):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r >= 0x1f300 && r < 0x1fb00,
			r >= 0xff01 && r <= 0xff60:
			n += 2
		default:
			n++
		}
	}
	return n
}
