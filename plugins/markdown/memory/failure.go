package memory

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// end is how much of a result is looked at, on both sides, in bytes: errors
// stand there.
const end = 2000

// failureWords are in every line that says something failed, in lower case.
// Looking for plain words is many times faster than an expression, in a module
// above all.
var failureWords = []string{"error", "fail", "fatal", "panic: ", "traceback", "exit code", "exit status", "not found", "no such file", "denied"}

// failureLine is the line of a result that says it failed, or nothing. A line
// that says what failed goes before one that says only that something did.
func failureLine(m *abi.InputMessage) string {
	text := m.Text()
	if len(text) > 2*end {
		text = strings.ToValidUTF8(text[:end]+"\n"+text[len(text)-end:], "")
	}
	bare := ""
	if hasAny(strings.ToLower(text), failureWords) {
		for l := range strings.Lines(text) {
			l = strings.TrimSpace(l)
			lower := strings.ToLower(l)
			switch {
			case len(l) <= 3 || len(l) >= 400 || !isFailure(lower):
			case !isBare(lower):
				return l
			case bare == "":
				bare = l
			}
		}
	}
	if bare == "" && m.IsError {
		return clip(text, 140)
	}
	return bare
}

func hasAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// isFailure reports whether a line, in lower case, says that something failed.
func isFailure(l string) bool {
	l = strings.TrimLeft(l, "-= ")
	word, rest, _ := strings.Cut(l, " ")
	switch word = strings.TrimRight(word, ":!"); {
	case word == "fail", word == "failed", word == "failure", word == "fatal", word == "panic", word == "traceback", strings.HasSuffix(word, "error"):
		return true
	case word == "exit":
		return (strings.HasPrefix(rest, "code") || strings.HasPrefix(rest, "status")) && !strings.HasSuffix(rest, " 0")
	}
	return strings.HasPrefix(l, "fail\t") || hasAny(l, []string{"error: ", ": error ", "command not found", "no such file", "permission denied"})
}

// isBare reports whether a line says that something failed, and not what.
func isBare(l string) bool {
	l = strings.Trim(l, ".:! ")
	return strings.HasPrefix(l, "exit ") || l == "fail" || l == "failed" || l == "failure" || l == "error"
}
