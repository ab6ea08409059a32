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

// particulars are the sentences of the typed lines of a text that say something in particular, in order: by their
// words, or by words that the others do not use. What is said in words that come again and again says nothing, what
// binds has room of its own, and what stands last is what somebody wants.
func (u *usage) particulars(words string) (list []place) {
	if u != nil {
		if list, ok := u.known[words]; ok { // a note is written several times
			return list
		}
		u.count()
		defer func() { u.known[words] = list }()
	}
	all := typedSentences(words)
	few, each := make([]float64, len(all)), make([]float64, len(all)) // the novelty of its rarest words, and of all
	for i, p := range all {
		few[i], each[i] = u.novelty(words[p.from:p.to])
	}
	leastFew, leastEach := middle(few)+moreNovel, middle(each)+moreNovel
	for i, p := range all {
		s := words[p.from:p.to]
		if _, item := listItem(s); !item && binds(s) {
			continue // an entry has that place only with its whole list
		}
		if few[i] >= staleUnder {
			p.worth = particular(s)
		}
		if few[i] >= leastFew || each[i] >= leastEach {
			p.standsOut = true
			if p.worth += worthNovel; each[i] >= ownWhole && len(s) >= ownLeast {
				p.worth += worthOwn
			}
		}
		if i > 0 && i == len(all)-1 && !smallTalk(s) {
			p.worth += worthLast
		}
		if p.worth > 0 {
			list = append(list, p)
		}
	}
	return list
}

const (
	// staleUnder is the novelty under which a sentence says nothing: half of what there may be.
	staleUnder = 0.5
	// moreNovel is how much more of it than the sentences around it one has that stands out. Where each sentence has words
	// of its own none does.
	moreNovel = 0.2
	// ownWhole is the novelty of all words of a sentence in a language of its own, of at least ownLeast bytes: a short one
	// has few words.
	ownWhole = 0.95
	ownLeast = 25
	// worthNovel is what that is worth: more than most words make a sentence worth. worthOwn and worthLast are
	// what a language of its own and the last place are.
	worthNovel = 4
	worthOwn   = 2
	worthLast  = 2
)

// middle is the median of a list.
func middle(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

// particular is how much a sentence of a person says in particular; 0 where it says nothing like it, or in words that
// may bind.
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
	if strings.ContainsAny(s, "`_") { // code
		worth++
	}
	return worth
}

// mostParticular is how much a sentence says in particular at most.
const mostParticular = 7 + worthNovel + worthOwn + worthLast

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
	standsOut := func(p place) bool { return p.standsOut }
	out := u.chosen(words, first.to, len(words), runes, 0)
	if slices.ContainsFunc(out, standsOut) && !slices.ContainsFunc(rest, standsOut) {
		return out
	}
	return append([]place{first}, rest...)
}

// betweenEnds are the places of the beginning and the end of words, and of what they say in particular between these,
// in about so many characters.
func (u *usage) betweenEnds(words string, runes int) []place {
	head := len(excerpt.Head(clip.First(words, runes*3/8)))
	tail := len(words) - len(excerpt.Tail(clip.Last(words[head:], runes/8)))
	parts := u.chosen(words, head, tail, runes/2, aroundPart)
	return slices.Concat([]place{{to: head}}, parts, []place{{from: tail, to: len(words)}})
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
