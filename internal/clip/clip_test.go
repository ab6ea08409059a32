package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/clip"
)

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
		{"one line", clip.OneLine(" a\n\tb  c "), "a b c"},
		{"characters, not bytes", clip.Line("ä\nö\nü", 5), "ä ö ü"},
		{"and more", clip.Line("ab cd ef", 5), "ab c…"},
		{"no space before the end", clip.Line("ab cd ef", 4), "ab…"},
		{"of a long text the beginning", clip.Line("a "+strings.Repeat("\n", 1000)+"b", 5), "a"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.why, c.got, c.want)
		}
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
		if got := clip.Line(s, n); utf8.RuneCountInString(got) > n || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t") {
			t.Errorf("Line: %q", got)
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
