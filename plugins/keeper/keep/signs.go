package keep

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

var (
	editRE = regexp.MustCompile(`(?i)edit|write|create|replace|insert|patch|delete|move`)
	readRE = regexp.MustCompile(`(?i)read|view|open|cat|show|list|ls`)
)

// Looking for plain words is many times faster than an expression, in a module
// above all, and sessions are megabytes. Words are in lower case.
var (
	decisionWords = []string{"decide", "decision", "agreed", "instead of", " always ", " never ", " must ", "don't", "do not", "prefer", "remember", "important"}
	failureWords  = []string{"error", "fail", "fatal", "panic: ", "traceback", "exit code", "exit status", "not found", "no such file", "denied", "timed out"}
)

func hasAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// matters reports whether a unit holds an error, a decision or a summary.
func matters(in *abi.Input, u *unit) bool {
	for _, i := range u.at {
		m := &in.Messages[i].Message
		switch {
		case m.Kind == abi.KindSummary, m.Role == abi.RoleTool && failure(m) != "":
			return true
		case (m.IsPerson() || m.Role == abi.RoleAssistant) && hasAny(strings.ToLower(" "+ends(m.Text())+" "), decisionWords):
			return true
		}
	}
	return false
}

// failure is the line that says that a tool failed, or nothing.
func failure(m *abi.Message) string {
	text := ends(m.Text())
	if hasAny(strings.ToLower(text), failureWords) {
		for l := range strings.Lines(text) {
			if l = strings.TrimSpace(l); len(l) < 400 && isFailure(strings.ToLower(l)) {
				return clip(l, 100)
			}
		}
	}
	if m.IsError {
		return "failed: " + clip(text, 80)
	}
	return ""
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
	return strings.HasPrefix(l, "fail\t") || hasAny(l, []string{"error: ", ": error ", "command not found", "no such file", "permission denied", "timed out"})
}

// end is how much of a long text is looked at, on both sides, in bytes.
const end = 2000

// ends is the beginning and the end of a text: errors stand there, and a
// megabyte between them takes long to search.
func ends(s string) string {
	if len(s) <= 2*end {
		return s
	}
	return strings.ToValidUTF8(s[:end]+"\n"+s[len(s)-end:], "")
}

// clip is the first n characters of s, on one line.
func clip(s string, n int) string {
	if len(s) > 16*n {
		s = strings.ToValidUTF8(s[:16*n], "")
	}
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}
