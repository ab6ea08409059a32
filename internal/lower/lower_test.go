package lower_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/lower"
)

// TestLower: a text is in lower case what it is in lower case elsewhere, whatever its script.
func TestLower(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if text := "A" + string(r); lower.Text(text) != strings.ToLower(text) {
			t.Errorf("%U becomes %q, and is %q", r, lower.Text(text), strings.ToLower(text))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string {
			return string(b)
		})).Draw(rt, "text")
		if got, want := lower.Text(text), strings.ToLower(text); got != want {
			t.Fatalf("%q becomes %q, and is %q", text, got, want)
		}
	})
}
