package note

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/set"
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
			if i+1 < len(line) && line[i+1] == ' ' && !inside &&
				(r != '.' || !endsNone(line[:i], line[i+2:])) {
				return i + 1
			}
		case '。', '！', '？':
			return i + utf8.RuneLen(r)
		}
	}
	return len(line)
}

// endsNone reports whether the dot behind a text ends no sentence, where another text stands behind it.
func endsNone(text, rest string) bool {
	return isShortForm(text+".") || isOrdinal(text, rest) || isMonth(text, rest)
}

// isShortForm reports whether a text ends with a short form that stands in the middle of sentences.
func isShortForm(text string) bool {
	return slices.ContainsFunc(shortForms, func(s string) bool {
		at := len(text) - len(s)
		return at >= 0 && strings.EqualFold(text[at:], s) && (at == 0 || strings.IndexByte(" (\"'/", text[at-1]) >= 0)
	})
}

// isOrdinal reports whether a text ends with the number of a day or of one among others, the dot behind it, and goes
// on: "the 3. of May", "am 3. Mai", "am 3.5. um acht".
func isOrdinal(text, rest string) bool {
	if !ordinal().MatchString(text) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	month := monthOf(rest)
	item := clip.Digits(text) == len(text) // "1. after 15 minutes"
	return unicode.IsLower(r) && !item || months[month] || shortMonths[month]
}

// isMonth reports whether a text ends with the short form of a month, the dot behind it, and goes on with a number:
// "on Oct. 3", "am 3. Okt. 2026".
func isMonth(text, rest string) bool {
	return clip.Digits(rest) > 0 && shortMonths[monthOf(text[strings.LastIndexByte(text, ' ')+1:])]
}

// monthOf is the word that a text begins with, as months has it.
func monthOf(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(text)
	}
	return strings.ToLower(text[:end])
}

// ordinal is a day, alone or with its month, at the end of a text.
var ordinal = lazy.Regexp(`(?:^|[\s("'–]|\.-)\d{1,2}(?:\.\s?\d{1,2})?$`)

var (
	months = set.Of("january", "februar", "february", "januar", "jänner", "feber", "march", "märz", "april", "may", "mai",
		"june", "juni", "july", "juli", "august", "september", "october", "oktober", "november", "december", "dezember")
	shortMonths = set.Of("jan", "feb", "mar", "mär", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "okt", "nov", "dec",
		"dez")
)

// shortForms end with a dot that ends no sentence.
var shortForms = []string{"vs.", "e.g.", "i.e.", "cf.", "approx.", "z.B.", "bzw.", "d.h.", "p.ej."}
