package note

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
)

// Where persons write much, most of it is in words that come again and again. A sentence in words that stand nowhere
// else says something, in whatever language, though no list of words knows that it does.

// usage is in how many of the sentences that persons typed a word stands. It is counted when it is first asked for:
// most notes shorten nothing.
type usage struct {
	turns     []turn
	sentences int
	holding   map[string]int
	known     map[string][]place // the particulars of words
}

// usageOf is that of turns.
func usageOf(turns []turn) *usage { return &usage{turns: turns} }

// count counts the words of the turns, once.
func (u *usage) count() {
	if u.holding != nil {
		return
	}
	u.holding, u.known = make(map[string]int), make(map[string][]place)
	for i := range u.turns {
		if u.turns[i].again > 0 {
			continue
		}
		for line, printed := range typed(u.turns[i].words) {
			if printed {
				continue
			}
			for s := range sentences(line) {
				u.add(s)
			}
		}
	}
}

// add counts the words of one more sentence.
func (u *usage) add(sentence string) {
	u.sentences++
	for term := range termsOf(sentence) {
		u.holding[term]++
	}
}

const (
	// minSentences is how many sentences are too few to say what comes again and again.
	minSentences = 12
	// rarest is how many words of a sentence count: the others are those of all sentences.
	rarest = 3
)

// novelty is how rare the words of a sentence are: 1 where each stands nowhere else, 0 where each stands in all
// sentences. few is that of its rarest words, all that of all of them: of a sentence in a language of its own each word
// is rare, the small ones too.
func (u *usage) novelty(s string) (few, all float64) {
	if u == nil {
		return 1, 1
	}
	if u.count(); u.sentences < minSentences {
		return 1, 1
	}
	var rare []float64
	for term := range termsOf(s) {
		rare = append(rare, 1-math.Log(float64(max(1, u.holding[term])))/math.Log(float64(u.sentences)))
	}
	slices.Sort(rare)
	return mean(rare[max(0, len(rare)-rarest):]), mean(rare)
}

// mean is the mean of a list, 0 where it is empty.
func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(max(1, len(list)))
}

// termsOf are the different words of a sentence, without numbers, which count what comes again and again; of scripts
// without spaces each two letters in a row.
func termsOf(s string) map[string]bool {
	terms := make(map[string]bool)
	for word := range strings.FieldsFuncSeq(lower.Text(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
	}) {
		first, _ := utf8.DecodeRuneInString(word)
		switch letters := []rune(word); {
		case clip.Digits(word) == len(word):
		case !clip.Separate(first) || len(letters) == 1:
			terms[word] = true
		default:
			for i := range letters[1:] {
				terms[string(letters[i:i+2])] = true
			}
		}
	}
	return terms
}
