package tokens_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/tokens"
)

func TestHeadAndTail(t *testing.T) {
	c := counter(t, tokens.O200k, uncached)
	for _, tc := range []struct {
		why, text  string
		n          int
		head, tail string
	}{
		{"words", "one two three four", 2, "one two", " three four"},
		{"all of it", "one two", 2, "one two", "one two"},
		{"more than there is", "one two", 100, "one two", "one two"},
		{"nothing", "", 3, "", ""},
		{"no room", "one two", 0, "", ""},
		{"less than none", "one two", -3, "", ""},
		{"no half of a character", "🫠 and 🫠", 1, "", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			head, err := c.Head(t.Context(), tc.text, tc.n)
			if err != nil || head != tc.head {
				t.Errorf("head: %q, %v, want %q", head, err, tc.head)
			}
			tail, err := c.Tail(t.Context(), tc.text, tc.n)
			if err != nil || tail != tc.tail {
				t.Errorf("tail: %q, %v, want %q", tail, err, tc.tail)
			}
		})
	}
}

// TestHeadAndTailFit: both are parts of the text, fit, and leave little room.
func TestHeadAndTailFit(t *testing.T) {
	const slack = 4 // tokens
	c := counter(t, tokens.O200k, uncached)
	atom := rapid.OneOf(rapid.SampledFrom([]string{" ", "\n", "word", "Words", "12345", "漢字", "'s", "--", "(", "…", "don't"}),
		rapid.StringN(1, 3, 8))
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(atom, 0, 60).Draw(t, "atoms"), "")
		n := rapid.IntRange(1, 60).Draw(t, "n")
		head, err := c.Head(context.Background(), s, n)
		if err != nil || !strings.HasPrefix(s, head) {
			t.Fatalf("head %q, %v", head, err)
		}
		tail, err := c.Tail(context.Background(), s, n)
		if err != nil || !strings.HasSuffix(s, tail) {
			t.Fatalf("tail %q, %v", tail, err)
		}
		all := c.Text(s)
		for _, part := range []string{head, tail} {
			got := c.Text(part)
			if !utf8.ValidString(part) || got > n || got < min(n, all)-slack {
				t.Fatalf("%q of %q has %d tokens, of %d", part, s, got, n)
			}
		}
	})
}

func TestHeadCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := counter(t, tokens.O200k, uncached)
	if _, err := c.Head(ctx, "one two", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("head: %v", err)
	}
	if _, err := c.Tail(ctx, "one two", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("tail: %v", err)
	}
}
