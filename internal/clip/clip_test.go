package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/clip"
)

func runes(s string) int { return utf8.RuneCountInString(s) }

func TestClip(t *testing.T) {
	for _, c := range []struct{ why, got, want string }{
		{"all of it", clip.Head("häh", 4), "häh"},
		{"no half of a character", clip.Head("häh", 2), "h"},
		{"nothing", clip.Head("häh", 0), ""},
		{"less than nothing", clip.Head("häh", -1), ""},
		{"all of it", clip.Bytes("12345", 5), "12345"},
		{"and more", clip.Bytes("123456", 5), "12…"},
		{"and more, of long characters", clip.Bytes("ääääää", 6), "ä…"},
		{"no room", clip.Bytes("123456", 2), "…"},
		{"the end", clip.Tail("häh", 3), "äh"},
		{"no half of a character at its beginning", clip.Tail("häh", 2), "h"},
		{"no end", clip.Tail("häh", -1), ""},
		{"all of it, without the mark", clip.Cut("häh", 4, "..."), "häh"},
		{"the mark comes on top", clip.Cut("häh", 2, "..."), "h..."},
		{"the mark behind characters", clip.CutChars("häh", 2, "..."), "hä..."},
		{"characters without the mark", clip.CutChars("häh", 3, "..."), "häh"},
		{"up to the end of a word", clip.First("one two three", 6), "one"},
		{"all of it, up to the end of a word", clip.First("one two", 7), "one two"},
		{"of a script without spaces each character is a word", clip.First("必须保持", 2), "必须"},
		{"from the beginning of a word", clip.Last("one two three", 6), "three"},
		{"at a word", clip.Words("one two three four", 16), "one two three…"},
		{"in a word, where it is long", clip.Words("one twothreefour", 10), "one twoth…"},
		{"within tokens, at a word", clip.Tokens("one two three", 15, " [cut]", runes), "one two three"},
		{"and more, at a word", clip.Tokens("one two three four", 16, " [cut]", runes), "one two [cut]"},
		{"nothing useful within tokens", clip.Tokens("one two three", 3, " [cut]", runes), ""},
		{"all of it within tokens", clip.Tokens("one two", 7, " [cut]", runes), "one two"},
		{"made shorter", clip.Shrink("one two three", 8, runes, func(n int) string {
			return clip.Chars("one two three", n)
		}), "one two "},
		{"one line", clip.OneLine(" a\n\tb  c "), "a b c"},
		{"one line as it is", clip.OneLine("a é 世 c"), "a é 世 c"},
		{"one line with a space at its end", clip.OneLine("a bc "), "a bc"},
		{"one line with a wide space", clip.OneLine("a bc\u3000d"), "a bc d"},
		{"one line of spaces", clip.OneLine("  "), ""},
		{"one line of nothing", clip.OneLine(""), ""},
		{"characters, not bytes", clip.Line("ä\nö\nü", 5), "ä ö ü"},
		{"and more", clip.Line("ab cd ef", 5), "ab c…"},
		{"no space before the end", clip.Line("ab cd ef", 4), "ab…"},
		{"of a long text the beginning", clip.Line("a "+strings.Repeat("\n", 1000)+"b", 5), "a"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("%q, want %q", c.got, c.want)
			}
		})
	}
}

func TestClipBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(1, 40).Draw(t, "n")
		if got := clip.Head(s, n); len(got) > n || !utf8.ValidString(got) || !strings.HasPrefix(s, got) {
			t.Errorf("Head: %q", got)
		}
		if got := clip.Bytes(s, n); len(got) > max(n, 3) || !utf8.ValidString(got) {
			t.Errorf("Bytes: %q", got)
		}
		if got := clip.Line(s, n); utf8.RuneCountInString(got) > n || !utf8.ValidString(got) ||
			strings.ContainsAny(got, "\n\r\t") {
			t.Errorf("Line: %q", got)
		}
	})
}

// TestOneLine: what is copied as it stands is what words and spaces are made of.
func TestOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]rune("ab.\x01é世\U0001F525 \n\t\u0085\u00a0\u2003\u3000\uFFFD"))
		plain := rapid.SampledFrom([]string{"", "", "a few words in a row, ", " one more", "word\x7f~!"})
		s := rapid.StringOfN(letters, 0, 30, -1).Draw(t, "s")
		for range 3 {
			s += plain.Draw(t, "plain") + rapid.StringOfN(letters, 0, 3, -1).Draw(t, "between")
		}
		s = s[rapid.IntRange(0, min(2, len(s))).Draw(t, "from"):] // may begin within a character
		if got, want := clip.OneLine(s), strings.Join(strings.Fields(s), " "); got != want {
			t.Errorf("%q becomes %q, not %q", s, got, want)
		}
	})
}

func TestEnds(t *testing.T) {
	if s := "short"; clip.Ends(s, 2000) != s {
		t.Error("a short text is whole")
	}
	long := "first " + strings.Repeat("ü", 10_000) + " last"
	got := clip.Ends(long, 2000)
	if !strings.HasPrefix(got, "first") || !strings.HasSuffix(got, "last") || len(got) > 4100 || !utf8.ValidString(got) {
		t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
	}
}
