package note

import (
	"math"
	"slices"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// Where persons write much, most of it is in words that come again and again. A sentence in words that stand nowhere
// else says something, in whatever language, though no list of words knows that it does.

// usage is in how many of the sentences that persons typed a word stands.
type usage struct {
	sentences int
	holding   map[string]int
}

// usageOf counts the words of turns.
func usageOf(turns []turn) *usage {
	u := newUsage()
	for i := range turns {
		if turns[i].again > 0 {
			continue
		}
		for line, printed := range typed(turns[i].words) {
			if printed {
				continue
			}
			for s := range sentences(line) {
				u.add(s)
			}
		}
	}
	return u
}

func newUsage() *usage { return &usage{holding: make(map[string]int)} }

// add counts the words of one more sentence.
func (u *usage) add(sentence string) {
	u.sentences++
	for _, term := range termsOf(sentence) {
		u.holding[term]++
	}
}

const (
	// minSentences is how many sentences are too few to say what comes again and again.
	minSentences = 12
	// rarest is how many words of a sentence count: the others are those of all sentences.
	rarest = 3
)

// novelty is how rare the rarest words of a sentence are: 1 where each stands nowhere else, 0 where each stands in all
// sentences.
func (u *usage) novelty(s string) float64 {
	if u == nil || u.sentences < minSentences {
		return 1
	}
	rare := lists.Map(termsOf(s), func(term string) float64 {
		return 1 - math.Log(float64(max(1, u.holding[term])))/math.Log(float64(u.sentences))
	})
	slices.Sort(rare)
	rare = rare[max(0, len(rare)-rarest):]
	sum := 0.0
	for _, r := range rare {
		sum += r
	}
	return sum / float64(max(1, len(rare)))
}

// termsOf are the different words of a sentence, without numbers, which count what comes again and again; of scripts
// without spaces each two letters in a row.
func termsOf(s string) (terms []string) {
	rank.Terms(s, func(term []byte, _, _ int) bool {
		if clip.Digits(string(term)) < len(term) && !slices.Contains(terms, string(term)) {
			terms = append(terms, string(term))
		}
		return true
	})
	return terms
}
