package host

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// MaxSecretBytes is how long a secret may be.
const MaxSecretBytes = 16 << 10

// Shorten cuts foreign text for a message, and makes it safe to show.
func Shorten(s string, n int) string { return clip.Cut(abi.Defuse(s), n, "...") }

// clean makes foreign text safe to show: no secrets, no control characters.
// It looks at no more than about limit bytes.
func clean(text []byte, limit int, redact *strings.Replacer) string {
	if len(text) > limit+MaxSecretBytes {
		text = text[:limit+MaxSecretBytes]
	}
	s := string(text)
	if redact != nil {
		s = redact.Replace(s)
	}
	return clip.Head(abi.Defuse(s), limit)
}

// newRedactor replaces the values of secrets. Nil where there are none.
func newRedactor(secrets map[string]string) *strings.Replacer {
	var pairs []string
	for name, value := range secrets {
		if value != "" {
			pairs = append(pairs, value, "[secret "+name+"]")
		}
	}
	if pairs == nil {
		return nil
	}
	return strings.NewReplacer(pairs...)
}
