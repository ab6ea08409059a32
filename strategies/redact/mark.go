package redact

import "strings"

const (
	markOpen  = "[redacted: "
	markClose = "]"
)

// Marks counts the secrets that were taken out of a text.
func Marks(text string) int { return strings.Count(text, markOpen) }

// Unmarked returns a text without the marks that stand for secrets.
func Unmarked(text string) string {
	if Marks(text) == 0 {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, markOpen)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, text, _ = strings.Cut(rest, markClose)
	}
}
