package note

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/excerpt"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Of a long message a part is shown. Its beginning and its end say what it is about; what it says in particular may
// stand anywhere: a number, a name, an order, what is so always or never. No list of words knows all of that, so a
// sentence counts for how much of it speaks of something in particular. What binds, and entries of lists, have a place
// of their own.

// particularWords are those that make a sentence say something in particular.
var particularWords = newVocabulary("particular")

// place is a sentence of a text by its place, and how much it says in particular.
type place struct{ from, to, worth int }

// particulars are the sentences of the typed lines of a text that say something in particular, in order: by their
// words, or by words that the others do not use. What is said in words that come again and again says nothing, and
// what binds has room of its own.
func (u *usage) particulars(words string) (list []place) {
	all := typedSentences(words)
	novel := lists.Map(all, func(p place) float64 { return u.novelty(words[p.from:p.to]) })
	common := middle(novel)
	for i, p := range all {
		s := words[p.from:p.to]
		if binds(s) {
			continue
		}
		if novel[i] >= staleUnder {
			p.worth = particular(s)
		}
		if novel[i] >= common+standsOut {
			p.worth += worthNovel
		}
		if p.worth > 0 {
			list = append(list, p)
		}
	}
	return list
}

const (
	// staleUnder is the novelty under which a sentence says nothing, standsOut what one has more that stands out among
	// those around it, and worthNovel what that is worth.
	staleUnder = 0.5
	standsOut  = 0.2
	worthNovel = 4
)

// middle is the median of a list.
func middle(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

// typedPlaces are the runs of typed lines of a text.
func typedPlaces(words string) (list []place) {
	at := 0
	for line, printed := range typed(words) {
		from := at + max(strings.Index(words[at:], line), 0)
		gap := words[at:from]
		at = from + len(line)
		switch last := len(list) - 1; {
		case printed, strings.Contains(line, excerpt.LeftOut):
		case last >= 0 && list[last].to == from-len(gap) && strings.TrimSpace(gap) == "":
			list[last].to = at
		default:
			list = append(list, place{from: from, to: at})
		}
	}
	return list
}

// typedSentences are the sentences of the typed lines of a text, but entries of lists, in order.
func typedSentences(words string) (list []place) {
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
			list = append(list, place{from: from - len(s), to: from})
		}
	}
	return list
}

// particular is how much a sentence of a person says in particular; 0 where it says nothing like it, or may bind or
// not.
func particular(s string) (worth int) {
	said := spoken(s) + " "
	if smallTalk(s) || isQuestion(s) && !asksFor(s) || strings.HasSuffix(s, ":") || maybeWords.says(said) {
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
const mostParticular = 6 + worthNovel

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
func (u *usage) chosen(words string, from, to, runes, around int) (list []place) {
	for _, p := range u.particulars(words) {
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
// in so many characters. What stands out counts more than the first one.
func (u *usage) besideFirst(words, said string, runes int) []place {
	from := max(strings.Index(words, said), 0)
	first := place{from: from, to: from + len(said)}
	left := runes - utf8.RuneCountInString(said)
	if strings.HasSuffix(said, ":") { // what it announces counts more than that
		left = max(left, runes/2)
	}
	rest := u.chosen(words, first.to, len(words), left, 0)
	if out := u.chosen(words, first.to, len(words), runes, 0); most(out) >= worthNovel && most(out) > most(rest) {
		return out
	}
	return append([]place{first}, rest...)
}

// most is what the sentence says in particular that says most.
func most(list []place) (worth int) {
	for _, p := range list {
		worth = max(worth, p.worth)
	}
	return worth
}

// betweenEnds are the places of the beginning and the end of words, and of what they say in particular between these,
// in about so many characters.
func (u *usage) betweenEnds(words string, runes int) []place {
	head := len(excerpt.Head(clip.First(words, runes*3/8)))
	tail := len(words) - len(excerpt.Tail(clip.Last(words[head:], runes/8)))
	parts := u.chosen(words, head, tail, runes/2, aroundPart)
	return slices.Concat([]place{{to: head}}, parts, []place{{from: tail, to: len(words)}})
}

// together are places and others, in order, each part of the text once.
func together(list, others []place) (all []place) {
	list = slices.SortedFunc(slices.Values(slices.Concat(list, others)), func(a, b place) int { return a.from - b.from })
	for _, p := range list {
		if last := len(all) - 1; last >= 0 && p.from <= all[last].to {
			all[last].to = max(all[last].to, p.to)
		} else {
			all = append(all, p)
		}
	}
	return all
}

// withParts are the parts of a text at these places, which are in order, with the marks of what is left out before,
// between and behind them. What is no longer than its mark stays.
func withParts(words string, list []place, mark func(gone string) string) string {
	var texts []string
	at := 0
	for _, p := range append(slices.Clip(list), place{from: len(words), to: len(words)}) {
		gap, part := words[at:p.from], words[p.from:p.to]
		switch n := len(texts); {
		case n == 0 && len(gap) > len(gapBefore) && allSmallTalk(gap):
			texts = append(texts, gapBefore+part)
		case n == 0 && len(gap) <= len(mark(gap)):
			texts = append(texts, gap+part)
		case n == 0:
			texts = append(texts, mark(gap), part)
		case len(gap) <= len(mark(gap)):
			texts[n-1] += gap + part
		default:
			texts = append(texts, mark(gap), part)
		}
		at = p.to
	}
	return joinedLines(texts...)
}

// gapBefore stands for small talk before what is told first.
const gapBefore = "[...] "

// allSmallTalk reports whether each sentence of a text is small talk.
func allSmallTalk(text string) bool {
	for line := range unfenced(text) {
		for s := range sentences(line) {
			if !smallTalk(s) {
				return false
			}
		}
	}
	return true
}
