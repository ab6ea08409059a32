package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// known is what a failure is known by: the same command that failed in the same way, but
// for the time it took, is one failure, and its last text stands.
func (f *Failure) known() string {
	if f.normal == "" {
		return f.Text
	}
	_, said, _ := strings.Cut(strings.TrimPrefix(f.Text, scriptMark), "\n")
	return f.normal + "\n" + withoutTimes(said)
}

// withoutTimes is a text without the times that tests and commands took: "(0.61s)".
func withoutTimes(s string) string {
	var b strings.Builder
	from := 0 // what is written
	for i := 0; ; {
		point := strings.IndexByte(s[i:], '.')
		if point < 0 {
			return b.String() + s[from:]
		}
		point += i
		start, end := point, point+1+clip.Digits(s[point+1:])
		for start > from && isDigit(s[start-1]) {
			start--
		}
		if i = point + 1; start < point && end > i && strings.HasPrefix(s[end:], "s") &&
			(end+1 == len(s) || !isPlain(s[end+1]) && s[end+1] != '_') {
			b.WriteString(s[from:start])
			i, from = end+1, end+1
		}
	}
}
