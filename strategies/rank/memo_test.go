package rank_test

import (
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// words come again in many forms: stop words, irregular ones, names, other scripts, and some that are
// too long to be remembered.
var words = []string{"the", "The", "went", "going", "connected", "connections", "HTTPBody", "fooBar", "a.b", "x",
	"2023", "internationalization", "Internationalisation", "密码", "thé", "it's", "\n", ". ", "snake_case", "mice"}

// TestWordsThatComeAgain: an index of any texts has each term as often as it stands there, whether
// all terms are wanted or some.
func TestWordsThatComeAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		made := rapid.StringMatching("[a-f]{1,3}(s|ed|ing)?")
		word := rapid.OneOf(rapid.SampledFrom(words), rapid.SampledFrom(words), made)
		wanted := rapid.SliceOf(rapid.SampledFrom([]string{"go", "connect", "x", "a", "mous", "fooBar"})).Draw(t, "wanted")
		all, some := new(rank.Index), new(rank.Index)
		some.Only(wanted)
		want, length := make(map[string]int), 0
		for range rapid.IntRange(1, 4).Draw(t, "texts") {
			body := strings.Join(rapid.SliceOfN(word, 0, 120).Draw(t, "words"), " ")
			rank.Terms(body, func(term []byte, _, _ int) bool {
				want[string(term)]++
				length++
				return true
			})
			all.Add(rank.Text{Body: body})
			some.Add(rank.Text{Body: body})
		}
		if got := counts(all); !maps.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for term := range want {
			if !strings.Contains(" "+strings.Join(wanted, " ")+" ", " "+term+" ") {
				delete(want, term)
			}
		}
		if got := counts(some); !maps.Equal(got, want) {
			t.Fatalf("of %q: %v, want %v", wanted, got, want)
		}
		for _, ix := range []*rank.Index{all, some} {
			sum := 0
			for p := range ix.Parts() {
				sum += int(p.Length)
			}
			if sum != length {
				t.Fatalf("%d terms, want %d", sum, length)
			}
		}
	})
}

// counts is how often each term stands in an index.
func counts(ix *rank.Index) map[string]int {
	n := make(map[string]int)
	for term, list := range ix.Lists() {
		for _, p := range list {
			n[term] += int(p.Count)
		}
	}
	return n
}
