package excerpt_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/excerpt"
)

func TestOf(t *testing.T) {
	for _, tc := range []struct {
		why, text  string
		head, tail int
		how, want  string
	}{
		{"beginning, mark and end", "one\ntwo\nthree\nfour\n", 4, 5, "recall x",
			"one\n[... 10 characters left out here: message m1; recall x ...]\nfour\n"},
		{"a line of its own", "abcdefghij", 2, 2, "", "ab\n[... 6 characters left out here: message m1 ...]\nij"},
		{"characters stay whole", "åäöåäö", 3, 3, "", "å\n[... 4 characters left out here: message m1 ...]\nö"},
		{"nothing is left out where all of it stays", "abc", 2, 1, "", "abc"},
		{"what an earlier mark speaks of is gone too",
			"ab\n[... 90 characters left out here: message m0 ...]\nij", 1, 1, "",
			"a\n[... 93 characters left out here: message m0 ...]\nj"},
		{"no part of an earlier mark stays",
			"ab\n[... 90 characters left out here: message m0 ...]\nijklmnop", 10, 8, "",
			"ab\n[... 90 characters left out here: message m0 ...]\nijklmnop"},
		{"a way to read it that is no line is one", "abcdefghij", 1, 1, "ask\nthe host",
			"a\n[... 8 characters left out here: message m1; ask the host ...]\nj"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := excerpt.Of(tc.text, tc.head, tc.tail, "m1", tc.how); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestIs(t *testing.T) {
	const whole = "Do this. And never that. Then go."
	for _, tc := range []struct {
		why, text string
		want      bool
	}{
		{"beginning and end", "Do this.\n[... 16 characters left out here ...]\n Then go.", true},
		{"the same text", whole, false},
		{"another beginning", "Do that.\n[... 16 characters left out here ...]\n Then go.", false},
		{"another end", "Do this.\n[... 16 characters left out here ...]\n Then stop.", false},
		{"no mark", "Do this. Then go.", false},
		{"a mark that says no number", "Do this.\n[... many characters left out here ...]\n Then go.", false},
		{"beginning and end overlap", whole + "\n[... 1 characters left out here ...]\n" + whole, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := excerpt.Is(tc.text, whole); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

// TestEveryExcerptIsOne: whatever was said, what [excerpt.Of] makes of it is known for an
// excerpt, also of one that was cut before and of a text that quotes marks.
func TestEveryExcerptIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"word ", "\n", "å", "[... ", " ...]", " ...]\n",
			excerpt.Mark(7, "m0", "recall") + "\n", excerpt.LeftOut})).Draw(t, "pieces")
		whole := strings.Join(pieces, "")
		text := whole
		for range rapid.IntRange(1, 2).Draw(t, "times") {
			next := excerpt.Of(text, rapid.IntRange(0, len(text)).Draw(t, "head"), rapid.IntRange(0, len(text)).Draw(t, "tail"),
				"m1", "")
			if next != text && !excerpt.Is(next, text) {
				t.Fatalf("%q is none of %q", next, text)
			}
			text = next
		}
	})
}
