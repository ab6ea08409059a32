package toolcall

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/wordlist"
)

// HasAny reports whether s holds one of the words. Looking for words is many times
// faster than an expression, in a module above all, and sessions are megabytes.
func HasAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// failureWords are such that every line [IsFailure] takes holds one of them.
var failureWords = []string{"error", "fail", "fatal", "panic", "traceback", "exit code", "exit status", "not found",
	"no such file", "denied", "timed out"}

// MayFail reports whether a text can hold a line that [IsFailure] takes. It is
// the quick look before the lines are looked at one by one.
func MayFail(text string) bool { return HasAny(lower.Text(text), failureWords) }

// IsFailure reports whether a line says that something failed: it begins with
// such a word, as compilers, test runners and shells have it, or holds one of
// their phrases.
func IsFailure(line string) bool {
	l := strings.TrimLeft(lower.Text(line), "-= ")
	word, rest, _ := strings.Cut(l, " ")
	switch word = strings.TrimRight(word, ":!"); word {
	case "fail", "failed", "failure", "fatal", "panic", "traceback":
		return true
	case "exit":
		return (strings.HasPrefix(rest, "code") || strings.HasPrefix(rest, "status")) && !strings.HasSuffix(rest, " 0")
	}
	return strings.HasSuffix(word, "error") || strings.HasPrefix(l, "fail\t") || phrases.In(l)
}

var phrases = wordlist.Of("error: ", ": error ", "command not found", "no such file", "permission denied", "timed out")
