package memory

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/strategies/redact"
)

// redactor takes secrets out of texts. A guest is a new instance in every
// call, so it is made when first needed.
var redactor = sync.OnceValue(func() *redact.Redactor {
	r, err := redact.New(nil)
	if err != nil {
		panic(err) // the defaults compile, or no test passes
	}
	return r
})

func redacted(text string) string {
	text, _ = redactor().Redact(text)
	return text
}

// oneLine is a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip is at most the first n bytes of s, and says that there were more.
func clip(s string, n int) string {
	const more = "…"
	if len(s) <= n {
		return s
	}
	for n = max(0, n-len(more)); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + more
}
