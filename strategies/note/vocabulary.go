package note

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/wordlist"
)

//go:embed words.txt
var wordFile string

// wordLists are read when one of them is first asked for, as vocabularies are made: many programs
// that have this package, plugins among them, write no note.
var wordLists = sync.OnceValue(func() map[string][]string { return wordlist.Read(wordFile) })

// wordSet is a list of words, each of which is looked up as a whole.
type wordSet struct {
	name  string
	once  sync.Once
	words map[string]bool
}

func newWordSet(name string) *wordSet { return &wordSet{name: name} }

func (s *wordSet) has(word string) bool {
	s.once.Do(func() { s.words = set.Of(wordLists()[s.name]...) })
	return s.words[word]
}

// vocabulary finds words and phrases in one look at a text, however many it
// has: session texts are megabytes. They match where a word begins; those of
// scripts without spaces anywhere.
type vocabulary struct {
	names []string // of its lists
	once  sync.Once
	by    *[256]words // the first byte
}

// words are those that begin with one byte.
type words struct {
	list []string
	next uint64 // the bytes that follow it in them, by their last six bits: most words of a text are told by these
}

func newVocabulary(names ...string) *vocabulary { return &vocabulary{names: names} }

// from returns the words that begin with a byte.
func (v *vocabulary) from(c byte) []string {
	v.once.Do(v.read)
	return v.by[c].list
}

func (v *vocabulary) read() {
	v.by = new([256]words)
	for _, name := range v.names {
		for _, w := range wordLists()[name] {
			w = strings.ReplaceAll(w, "_", " ")
			with := &v.by[w[0]]
			if with.list = append(with.list, w); len(w) == 1 {
				with.next = math.MaxUint64
			} else {
				with.next |= lastBits(w[1])
			}
		}
	}
}

// lastBits is the bit that stands for a byte.
func lastBits(c byte) uint64 { return 1 << (c % 64) }

// in reports whether a text in lower case holds one of the words.
func (v *vocabulary) in(lower string) bool {
	v.once.Do(v.read)
	for i := 0; i < len(lower); i++ {
		c := lower[i]
		if v.by[c].next&lastBits(lower[min(i+1, len(lower)-1)]) != 0 && v.begin(c, lower[i:]) {
			return true
		}
		if isSmall(c) { // nothing begins in a word of small ASCII letters, nor with what ends it
			for i+1 < len(lower) && isSmall(lower[i+1]) {
				i++
			}
			i++
		}
	}
	return false
}

func isSmall(c byte) bool { return 'a' <= c && c <= 'z' }

// begin reports whether a text, which begins with c, begins with one of the words.
func (v *vocabulary) begin(c byte, text string) bool {
	second := text[min(1, len(text)-1)]
	for _, w := range v.from(c) {
		if (len(w) == 1 || w[1] == second) && strings.HasPrefix(text, w) {
			return true
		}
	}
	return false
}

// says reports whether a text holds one of the words, in whatever case.
func (v *vocabulary) says(text string) bool { return v.in(lower.Text(text)) }

// maxPhrase is more than the longest phrase takes in a text, in bytes: in lower case some letters are shorter.
const maxPhrase = 200

// begins reports whether a text begins with one of the words, in whatever case, and the word ends there.
func (v *vocabulary) begins(text string) bool {
	low := lower.Text(clip.Head(text, maxPhrase)) + " "
	return slices.ContainsFunc(v.from(low[0]), func(w string) bool {
		rest, ok := strings.CutPrefix(low, w)
		return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
	})
}
