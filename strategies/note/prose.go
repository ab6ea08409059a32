package note

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// unfenced are the lines of a text that stand in no block of code, trimmed and
// not empty.
func unfenced(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fenced := false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, fence) {
				fenced = !fenced
			} else if !fenced && line != "" && !yield(line) {
				return
			}
		}
	}
}

// saying is a line of a text that says something, and where it stands: the next one follows it
// where its place is the next one. Under is the place of the line that it stands under, -1 where there is none.
type saying struct {
	place, under int
	text         string
}

// follows reports whether nothing stands between a line and one before it.
func (s saying) follows(before saying) bool { return s.place == before.place+1 }

// sayings are the lines of a text, trimmed, that stand in no block of code and are no rule
// between others, and how many places there are: code has places too.
func sayings(text string) (list []saying, places int) {
	var o outline
	fenced := false
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		if strings.Trim(line, "-|: ") == "" {
			continue
		}
		if begins := strings.HasPrefix(line, fence); begins {
			fenced = !fenced
		} else if !fenced {
			list = append(list, saying{places, o.under(raw, line, places), line})
		}
		places++
	}
	return list, places
}

// listItem is a line without the mark of a list, and whether it had one. The
// box of a checklist stays.
func listItem(line string) (string, bool) {
	for _, mark := range []string{"- ", "* ", "• ", "+ "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	n := clip.Digits(line)
	if n > 0 && n <= 3 && (strings.HasPrefix(line[n:], ". ") || strings.HasPrefix(line[n:], ") ")) {
		return strings.TrimSpace(line[n+2:]), true
	}
	return line, false
}

// entryOf is a line as an entry of a list, without a mark that says nothing: by its number others speak of it.
func entryOf(line string) string {
	if bare, _ := listItem(line); clip.Digits(line) == 0 {
		return bare
	}
	return line
}

func isBox(line string) bool {
	line, _ = listItem(line)
	return len(line) > 4 && line[0] == '[' && line[2] == ']' && strings.IndexByte(" xX-~", line[1]) >= 0
}

// sentences are the sentences of a line, with what ends them.
func sentences(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line != "" {
			end := sentenceEnd(line)
			if s := strings.TrimSpace(line[:end]); s != "" && !yield(s) {
				return
			}
			line = line[end:]
		}
	}
}

// sentenceEnd is where the first sentence of a line ends: after a mark that stands before a space, but for one behind a
// short form and one inside parentheses, or after one of a script without spaces.
func sentenceEnd(line string) int {
	open, closes := 0, true // whether a parenthesis may close behind the place
	for i, r := range line {
		switch r {
		case '(':
			open++
		case ')':
			open = max(0, open-1)
		case '.', '!', '?':
			inside := open > 0 && closes
			if inside {
				closes = strings.IndexByte(line[i:], ')') >= 0
				inside = closes
			}
			if i+1 < len(line) && line[i+1] == ' ' && !inside && (r != '.' || !isShortForm(line[:i+1])) {
				return i + 1
			}
		case '。', '！', '？':
			return i + utf8.RuneLen(r)
		}
	}
	return len(line)
}

// isShortForm reports whether a text ends with a short form that stands in the middle of sentences.
func isShortForm(text string) bool {
	return slices.ContainsFunc(shortForms, func(s string) bool {
		at := len(text) - len(s)
		return at >= 0 && strings.EqualFold(text[at:], s) && (at == 0 || strings.IndexByte(" (\"'/", text[at-1]) >= 0)
	})
}

// shortForms end with a dot that ends no sentence.
var shortForms = []string{"vs.", "e.g.", "i.e.", "cf.", "approx.", "z.B.", "bzw.", "d.h.", "p.ej."}
