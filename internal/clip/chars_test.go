package clip_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/clip"
)

func TestChars(t *testing.T) {
	for _, tc := range []struct {
		why, s      string
		n           int
		first, last string
	}{
		{"nothing", "", 3, "", ""},
		{"all of it", "añb", 3, "añb", "añb"},
		{"runes are whole", "añbü", 2, "añ", "bü"},
		{"none", "añb", 0, "", ""},
		{"fewer than none", "añb", -1, "", ""},
		{"bytes that are no runes count one each", "\xff\xfea", 2, "\xff\xfe", "\xfea"},
	} {
		if first, last := clip.Chars(tc.s, tc.n), clip.LastChars(tc.s, tc.n); first != tc.first || last != tc.last {
			t.Errorf("%s: %q and %q, want %q and %q", tc.why, first, last, tc.first, tc.last)
		}
	}
}
