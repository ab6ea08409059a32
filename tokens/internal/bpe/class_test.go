package bpe_test

import (
	"testing"
	"unicode"

	"github.com/dlclark/regexp2"

	"github.com/kagewasm/kagewasm/tokens/internal/bpe"
)

// TestClasses: every character is of the class that the reference's regular expressions have it in.
func TestClasses(t *testing.T) {
	var patterns []*regexp2.Regexp
	for _, p := range []string{`\s`, `[\r\n]`, `\p{N}`, `[\p{Lu}\p{Lt}]`, `\p{Ll}`, `[\p{Lm}\p{Lo}]`, `\p{M}`} {
		patterns = append(patterns, regexp2.MustCompile(`^`+p+`$`, regexp2.None))
	}
	for r := range rune(unicode.MaxRune + 1) {
		if r >= 0xd800 && r < 0xe000 {
			continue // surrogates are no characters
		}
		if r > 0x3ffff && r%64 != 0 && r&^0xfff != 0xe0000 {
			continue // unassigned or private
		}
		var got [7]bool
		got[0], got[1], got[2], got[3], got[4], got[5], got[6] = bpe.Classes(r)
		for i, p := range patterns {
			want, err := p.MatchString(string(r))
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 && got[1] {
				continue // a newline is white space, too
			}
			if got[i] != want {
				t.Errorf("%U: %v for %s, want %v", r, got[i], p, want)
			}
		}
	}
}
