package note

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/excerpt"
	"github.com/kagewasm/kagewasm/internal/lazy"
)

// What a person wrote as a list, or as lines of one form, is what has to hold more often than other words are: it
// is cut when those are, down to their first sentences, or it would go before messages that are short, whatever
// these say.

// listsShare is how much of the room for words, in hundredths, is held for lists, the newest first.
const listsShare = 60

// heldLists are the messages that are mostly lists and shrink behind those that are none, within so many tokens. Where
// most messages were shortened by an earlier note all shrink alike: what is left of those is what says most.
func heldLists(v *view, cost []int, room int) []bool {
	held, left, cut, all := make([]bool, len(v.turns)), room*listsShare/100, 0, 0
	for i := range slices.Backward(v.turns) {
		words := v.turns[i].words
		if words != "" {
			all++
		}
		if strings.Contains(words, excerpt.LeftOut) {
			cut++
		} else if cost[i] <= left && isList(words) {
			held[i], left = true, left-cost[i]
		}
	}
	if 2*cut > all {
		clear(held)
	}
	return held
}

// isList reports whether at least half of a message are entries of lists, in whatever form.
func isList(words string) bool {
	if len(words) > maxPasted {
		return false
	}
	before, entries, all := "", 0, 0
	pending := 0 // the length of the line before, where it may be the first entry
	for line := range strings.Lines(words) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		all += len(line)
		form := formOf(line)
		switch {
		case form == "":
			pending = 0
		case form == before:
			entries, pending = entries+len(line)+pending, 0
		default:
			pending = len(line)
		}
		before = form
	}
	return 2*entries >= all && entries > 0
}

// formOf is what the entry of a list begins with; empty where a line is none.
func formOf(line string) string {
	line = strings.TrimSpace(strings.TrimPrefix(line, ">"))
	first, size := utf8.DecodeRuneInString(line)
	_, item := listItem(line)
	switch {
	case line == "":
		return ""
	case item && clip.Digits(line) == 0:
		return "-"
	case item || numberedForm().MatchString(line):
		return "1"
	case first == '|' && strings.Count(line, "|") > 2:
		return "|"
	case strings.HasPrefix(line, "<li>"):
		return "<"
	case labelForm().MatchString(line):
		return "a"
	case stepForm().MatchString(line):
		return "given"
	case size > 1 && unicode.In(first, unicode.So, unicode.Pd, unicode.Po) && first != '¿' && first != '¡':
		return "•"
	}
	return ""
}

var (
	// numberedForm is how entries begin that are counted in other ways: "(a) ", "iv. ".
	numberedForm = lazy.Regexp(`^\(?([a-z]|[ivx]{2,4}|\d{1,3})[.)] `)
	// labelForm is how entries begin that have a name: "AC1: ", "R-101 ".
	labelForm = lazy.Regexp(`^[A-Z]{1,5}[- ]?\d{1,4}[.:)]* `)
	// stepForm is how the steps of a scenario begin.
	stepForm = lazy.Regexp(`^(Given|When|Then|And|But) `)
)
