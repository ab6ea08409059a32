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
		t.Run(tc.why, func(t *testing.T) {
			if first, last := clip.Chars(tc.s, tc.n), clip.LastChars(tc.s, tc.n); first != tc.first || last != tc.last {
				t.Errorf("%q and %q, want %q and %q", first, last, tc.first, tc.last)
			}
		})
	}
}
