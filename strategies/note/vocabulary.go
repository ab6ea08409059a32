package note

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/wordlist"
)

//go:embed words.txt
var wordFile string

var wordLists = wordlist.Read(wordFile)

// vocabulary finds words and phrases in one look at a text, however many it
// has: session texts are megabytes. They match where a word begins; those of
// scripts without spaces anywhere.
type vocabulary [256][]string

func newVocabulary(name string) *vocabulary {
	var v vocabulary
	for _, w := range wordLists[name] {
		w = strings.ReplaceAll(w, "_", " ")
		v[w[0]] = append(v[w[0]], w)
	}
	return &v
}

// in reports whether a text in lower case holds one of the words.
func (v *vocabulary) in(lower string) bool {
	inside := false // a word of small ASCII letters
	for i := 0; i < len(lower); i++ {
		c := lower[i]
		if !inside && len(v[c]) > 0 && v.begin(c, lower[i:]) {
			return true
		}
		inside = c >= 'a' && c <= 'z'
	}
	return false
}

// begin reports whether a text, which begins with c, begins with one of the words.
func (v *vocabulary) begin(c byte, text string) bool {
	for _, w := range v[c] {
		if strings.HasPrefix(text, w) {
			return true
		}
	}
	return false
}

// says reports whether a text holds one of the words, in whatever case.
func (v *vocabulary) says(text string) bool { return v.in(lower(text)) }

// begins reports whether a text begins with one of the words, in whatever case, and the word ends there.
func (v *vocabulary) begins(text string) bool {
	low := lower(text) + " "
	return slices.ContainsFunc(v[low[0]], func(w string) bool {
		rest, ok := strings.CutPrefix(low, w)
		return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
	})
}
