package note

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/excerpt"
)

// Of a long message a part is shown. Its beginning and its end say what it is about; what it says in particular may
// stand anywhere: a number, a name, an order, what is so always or never. No list of words knows all of that, so a
// sentence counts for how much of it speaks of something in particular. What binds, and entries of lists, have a place
// of their own.

// particularWords are those that make a sentence say something in particular.
var particularWords = newVocabulary("particular")

// place is a sentence of a text by its place, and how much it says in particular.
type place struct{ from, to, worth int }

// particulars are the sentences of the typed lines of a text that say something in particular, in order.
func particulars(words string) (list []place) {
	at := 0
	for line, printed := range typed(words) {
		from := at + max(strings.Index(words[at:], line), 0)
		at = from + len(line)
		_, item := listItem(line)
		if item || isBox(line) || printed || strings.Contains(line, excerpt.LeftOut) {
			continue
		}
		for s := range sentences(line) {
			i := strings.Index(words[from:at], s)
			if i < 0 {
				continue
			}
			from += i + len(s)
			if worth := particular(s); worth > 0 {
				list = append(list, place{from - len(s), from, worth})
			}
		}
	}
	return list
}

// particular is how much a sentence of a person says in particular; 0 where it says nothing like it, or is a rule:
// these are told by themselves.
func particular(s string) (worth int) {
	said := spoken(s) + " "
	if smallTalk(s) || isQuestion(s) && !asksFor(s) || strings.HasSuffix(s, ":") || bindingWords.says(said) ||
		maybeWords.says(said) || gives(s) || withdraws(said) {
		return 0
	}
	for _, says := range []bool{bidWords.begins(s), particularWords.says(said)} {
		if says {
			worth += 2
		}
	}
	if strings.ContainsAny(s, "0123456789") {
		worth++
	}
	if holdsName(s) {
		worth++
	}
	return worth
}

// mostParticular is how much a sentence says in particular at most.
const mostParticular = 6

// holdsName reports whether a sentence holds a word behind the first that begins with a capital, is code, or has
// another mark of a name in it.
func holdsName(s string) bool {
	for i, w := range strings.Fields(s) {
		w = strings.Trim(w, "\"'(),;:.!?*")
		if i > 0 && w != "I" && !strings.HasPrefix(w, "I'") && !strings.HasPrefix(w, "I’") {
			if r, _ := utf8.DecodeRuneInString(w); unicode.IsUpper(r) {
				return true
			}
		}
		if strings.ContainsAny(w, "`_/-.@#") {
			return true
		}
	}
	return false
}

// chosen are the sentences between two places of words that say most in particular, in order, as far as they fit into
// so many characters. Each costs as many more as around says, for its mark.
func chosen(words string, from, to, runes, around int) (list []place) {
	for _, p := range particulars(words) {
		if p.from >= from && p.to <= to {
			list = append(list, p)
		}
	}
	keep := make([]bool, len(list))
	for worth := mostParticular; worth > 0; worth-- {
		for i, p := range list {
			if n := utf8.RuneCountInString(words[p.from:p.to]) + around; p.worth == worth && n <= runes {
				keep[i], runes = true, runes-n
			}
		}
	}
	kept := list[:0]
	for i, p := range list {
		if keep[i] {
			kept = append(kept, p)
		}
	}
	return kept
}

// aroundPart is what the mark before a part costs, in characters.
const aroundPart = len("\n[... 1000 characters left out here ...]\n")

// besideFirst are the places of the sentence that is told first of words, and of what they say in particular behind it,
// in so many characters.
func besideFirst(words, said string, runes int) []place {
	from := max(strings.Index(words, said), 0)
	first := place{from: from, to: from + len(said)}
	left := runes - utf8.RuneCountInString(said)
	if strings.HasSuffix(said, ":") { // what it announces counts more than that
		left = max(left, runes/2)
	}
	rest := chosen(words, first.to, len(words), left, 0)
	return append([]place{first}, rest...)
}

// betweenEnds are the places of the beginning and the end of words, and of what they say in particular between these,
// in about so many characters.
func betweenEnds(words string, runes int) []place {
	head := len(excerpt.Head(clip.First(words, runes*3/8)))
	tail := len(words) - len(excerpt.Tail(clip.Last(words[head:], runes/8)))
	parts := chosen(words, head, tail, runes/2, aroundPart)
	return slices.Concat([]place{{to: head}}, parts, []place{{from: tail, to: len(words)}})
}

// withParts are the parts of a text at these places, which are in order, with the marks of what is left out between
// and behind them. What is no longer than its mark stays.
func withParts(words string, list []place, mark func(gone string) string) string {
	var texts []string
	at := list[0].from
	for _, p := range append(slices.Clip(list), place{from: len(words), to: len(words)}) {
		gap, part := words[at:p.from], words[p.from:p.to]
		if n := len(texts); n > 0 && len(gap) <= len(mark(gap)) {
			texts[n-1] += gap + part
		} else if n > 0 {
			texts = append(texts, mark(gap), part)
		} else {
			texts = append(texts, part)
		}
		at = p.to
	}
	return joinedLines(texts...)
}
