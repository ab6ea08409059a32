package note

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
)

// refersTo says what a short answer speaks of that names entries of a list by their
// numbers: the entries, word for word. Without them nobody knows what was decided.
func refersTo(answer, asked string) string {
	if points := pointsOf(answer); len(points) > 1 {
		return answered(points, asked)
	}
	if !isAnswer(answer) {
		return ""
	}
	options := numbered(asked)
	pure := strings.Trim(answer, "0123456789 +,&/.)!") == "" && len(answer) <= maxChoice
	numbers := numbersIn(answer)
	var named, all []string
	for _, o := range options {
		if slices.Contains(numbers, o.number) {
			named = append(named, o.text)
		}
		all = append(all, o.text)
	}
	switch {
	case pure && len(named) > 0:
		return choiceMark + strings.Join(named, " / ")
	case pure || len(all) < 2 || !namesEntries(answer, len(named)):
		return ""
	case len(all) > maxOptions && len(named) == 0:
		return ""
	case len(all) > maxOptions:
		all = named
	}
	return listedMark + strings.Join(all, " / ")
}

// pointsOf are the numbers with which the lines of an answer begin: "1. no", "2. yes".
func pointsOf(answer string) (points []string) {
	if len(answer) > maxPoints {
		return nil
	}
	for line := range unfenced(answer) {
		if number, _ := entryNumber(line); number != "" {
			points = append(points, number)
		}
	}
	return points
}

// answered are the entries of the list of somebody who asks that an answer speaks of point by point.
func answered(points []string, asked string) string {
	var named []string
	for _, o := range numbered(asked) {
		if slices.Contains(points, o.number) {
			named = append(named, shortened(o.text, maxOption/2))
		}
	}
	if len(named) < 2 || !strings.ContainsAny(asked, "?？") {
		return ""
	}
	return listedMark + strings.Join(named[:min(len(named), 2*maxOptions)], " / ")
}

// isAnswer reports whether the words of a person are so short that they may speak of what the agent said.
func isAnswer(words string) bool {
	return words != "" && len(words) <= maxAnswer && !strings.Contains(words, "\n")
}

// answers reports whether a turn says nothing without what the agent said before it: "yes".
func (t *turn) answers() bool {
	words := cmp.Or(t.words, t.opens)
	return words != "" && len(words) <= maxBare && !strings.Contains(words, "\n") && t.again == 0
}

const (
	choiceMark = "That was: "
	listedMark = "The agent had listed: "
)

const (
	maxChoice  = 20   // of an answer that is a choice alone, in bytes
	maxAnswer  = 200  // of one that speaks of a list, in bytes
	maxBare    = 40   // of one that says nothing by itself, in bytes
	maxPoints  = 2000 // of one that goes point by point, in bytes
	maxOptions = 5    // entries that are all told
	maxOption  = 200  // of one, in characters
)

// Words that name entries of a list: some alone, ordinals beside words that say of what.
var (
	choices   = set.Of("former", "latter", "both", "option", "options", "either")
	ordinals  = set.Of("first", "second", "third", "fourth", "fifth", "last")
	ofEntries = set.Of("the", "one", "option", "approach", "way", "variant", "item", "point", "choice", "suggestion")
)

// namesEntries reports whether an answer speaks of entries of a list: by so many of their
// numbers, or by words.
func namesEntries(answer string, numbers int) bool {
	words := strings.FieldsFunc(strings.ToLower(answer), func(r rune) bool { return r < 'a' || r > 'z' })
	for i, w := range words {
		beside := i > 0 && ofEntries[words[i-1]] || i+1 < len(words) && ofEntries[words[i+1]]
		if choices[w] || ordinals[w] && beside {
			return true
		}
	}
	return numbers > 0
}

// numbersIn are the numbers in a text that stand for themselves, as they are written: "1", "#2", "1+2", and not those
// of "0.5.22", "2/3" or "v2".
func numbersIn(text string) (list []string) {
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "#.,:;!?()\"'")
		if strings.Trim(word, "0123456789+,&") == "" {
			list = append(list, strings.FieldsFunc(word, func(r rune) bool { return r < '0' || r > '9' })...)
		}
	}
	return list
}

// option is an entry of a numbered list.
type option struct{ number, text string }

// numbered are the entries of the last numbered list of a text, each with what stands
// below it. Rows of a table that begin with a number are entries too.
func numbered(text string) (list []option) {
	below := false
	for line := range unfenced(text) {
		number, rest := entryNumber(line)
		switch {
		case number != "":
			if number == "1" || len(list) > 0 && list[len(list)-1].number == number {
				list = nil
			}
			list, below = append(list, option{number, shortened(plain(rest), maxOption)}), true
		case isHeading(line):
			below = false
		case below && len(list) > 0:
			last := &list[len(list)-1]
			bare, item := listItem(line)
			if below = item; item {
				last.text = shortened(last.text+"; "+plain(bare), maxOption)
			}
		}
	}
	return list
}

// entryNumber reads the number that a line begins with, as an entry of a list or a row of
// a table: "2. Move", "**2)** Move", "| 2 | Move |". All of the line is what it says.
func entryNumber(line string) (number, rest string) {
	bare := strings.TrimLeft(line, "*#|[( ")
	n := clip.Digits(bare)
	if n == 0 || n > 3 {
		return "", ""
	}
	after := bare[n:]
	if line[0] == '|' {
		if strings.HasPrefix(strings.TrimSpace(after), "|") {
			return bare[:n], strings.Trim(strings.ReplaceAll(bare, " | ", ", "), "| ")
		}
		return "", ""
	}
	if after == "" || strings.IndexByte(".):", after[0]) < 0 || len(after) > 1 && after[1] != ' ' && after[1] != '*' {
		return "", ""
	}
	return bare[:n], bare
}
