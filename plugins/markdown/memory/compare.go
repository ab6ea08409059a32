package memory

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// likeness is how two facts stand to each other.
type likeness int

const (
	different likeness = iota
	same               // one says what the other says
	opposed            // they are about the same, and say something else of it
)

// content is a fact as it is compared with others.
type content struct {
	norm    string
	terms   []string // sorted, each once
	letters []rune   // sorted, of a text that puts no spaces between words
	negated bool
	ordered bool // it prefers one thing to another: who stands first matters
}

func newContent(text string) content {
	norm := normalize(text)
	c := content{norm: norm, terms: stems(text), negated: negations.in(norm), ordered: insteadCues.in(norm)}
	if letters := []rune(strings.ReplaceAll(norm, " ", "")); dense(norm)*2 > len(letters) {
		slices.Sort(letters)
		c.letters = letters
	}
	return c
}

// stemRunes is how much of a word counts: endings differ in most languages.
const stemRunes = 6

// stems are the terms of a text, sorted, each once, and long words without what
// may be an ending.
func stems(text string) []string {
	var list []string
	rank.Terms(text, func(term []byte, _, _ int) bool {
		word := string(term)
		if strings.IndexFunc(word, func(c rune) bool { return !unicode.IsLetter(c) }) < 0 {
			word = clip.Chars(word, stemRunes)
		}
		list = append(list, word)
		return true
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// minShared is how many terms facts have in common that are about the same.
const minShared = 2

// compare looks at the terms of two facts: the words that say nothing, their
// order, case and endings do not count, but a "not" does.
func compare(a, b *content) likeness {
	if a.norm == b.norm {
		return same
	}
	// Without spaces terms are pairs of letters, which a phrase that moves breaks.
	if a.letters != nil && b.letters != nil && a.negated == b.negated && !a.ordered && !b.ordered {
		few, many := min(len(a.letters), len(b.letters)), max(len(a.letters), len(b.letters))
		if common(a.letters, b.letters) == few && many-few <= 1+len(a.letters)/10 {
			return same
		}
	}
	shared := common(a.terms, b.terms)
	small, large := min(len(a.terms), len(b.terms)), max(len(a.terms), len(b.terms))
	if shared < minShared || shared*3 < small*2 {
		return different
	}
	// What each says that the other does not, in terms.
	few, less, more := (shared+1)/2, small-shared, large-shared
	switch {
	case less > few || more > few:
		return different
	case a.negated != b.negated, more == 0 && (a.ordered || b.ordered), less > 0:
		return opposed
	case more == 0 || small > minShared:
		return same
	}
	return different
}

// common is how many elements two sorted lists have in common.
func common[T cmp.Ordered](a, b []T) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch cmp.Compare(a[i], b[j]) {
		case 0:
			n, i, j = n+1, i+1, j+1
		case -1:
			i++
		default:
			j++
		}
	}
	return n
}
