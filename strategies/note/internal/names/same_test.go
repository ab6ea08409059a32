package names_test

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// TestWithoutTimes: a time that a test took is a number with a point and an s behind it, which ends a word.
func TestWithoutTimes(t *testing.T) {
	elapsed := regexp.MustCompile(`\d+\.\d+s\b`)
	letter := rapid.SampledFrom([]byte("019..ss (_\xc3"))
	rapid.Check(t, func(rt *rapid.T) {
		text := string(rapid.SliceOfN(letter, 0, 12).Draw(rt, "text"))
		if got, want := names.WithoutTimes(text), elapsed.ReplaceAllString(text, ""); got != want {
			rt.Fatalf("%q becomes %q, want %q", text, got, want)
		}
	})
}
