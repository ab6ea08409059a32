package memory

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// secrets finds them. It is made, and what it looks up is read, while the module is initialized: a call begins with
// what is there then, and would do it again. The words are those that tell of secrets and stand in most conversations.
var secrets = func() *redact.Redactor {
	r := redact.Known()
	r.Redact("password: changeme, --password changeme, a secret to keep")
	return r
}()

// redacted is a text without secrets.
func redacted(text string) string {
	text, _ = secrets.Redact(text)
	return text
}

// brief is the beginning of a text on one line, at most n bytes, without
// secrets. They are taken out before it is cut: half a secret looks like none.
func brief(text string, n int) string {
	return clip.Bytes(clip.OneLine(redacted(abi.Defuse(beginning(text, 8*n)))), n)
}

// beginning is at most the first n bytes of a text, in whole words where it has
// any.
func beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = clip.Head(text, n)
	if i := strings.LastIndexAny(text, " \t\n"); i > 0 {
		text = text[:i]
	}
	return text
}
