package wordlist_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/wordlist"
)

// TestWords: a text holds and begins with the words that it holds and begins with when each is looked for.
func TestWords(t *testing.T) {
	letter := rapid.SampledFrom([]byte("ab :A\x00\xc3!"))
	text := func(least, most int) *rapid.Generator[string] {
		return rapid.Map(rapid.SliceOfN(letter, least, most), func(b []byte) string { return string(b) })
	}
	rapid.Check(t, func(rt *rapid.T) {
		list, s := rapid.SliceOfN(text(2, 4), 0, 3).Draw(rt, "words"), text(0, 12).Draw(rt, "text")
		words := wordlist.Of(list...)
		in, begin := false, false
		for _, w := range list {
			in, begin = in || strings.Contains(s, w), begin || strings.HasPrefix(s, w)
		}
		if words.In(s) != in || words.Begin(s) != begin {
			rt.Fatalf("in %q of %q: %v and %v, want %v and %v", s, list, words.In(s), words.Begin(s), in, begin)
		}
	})
}
