package memory

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// testFailed begins the line of a test of Go; what it says stands in the next.
const testFailed = "--- FAIL: "

// endBytes is how much of a long output is read, from its beginning and its end.
const endBytes = 2000

// failureLine is the line of a result that says it failed, or nothing. A line
// that says what failed goes before one that says only that something did.
func failureLine(m *abi.InputMessage) string {
	text := clip.Ends(m.Text(), endBytes)
	bare, test := "", ""
	if toolcall.MayFail(text) {
		for l := range strings.Lines(text) {
			indented := strings.HasPrefix(l, " ") || strings.HasPrefix(l, "\t")
			l = strings.TrimSpace(l)
			switch {
			case strings.HasPrefix(l, testFailed): // of tests in tests the innermost
				test, _, _ = strings.Cut(l, " (")
			case test != "" && indented && len(l) < 400:
				return test + ": " + l
			case test != "":
				return test
			case len(l) <= 3 || len(l) >= 400 || !toolcall.IsFailure(l):
			case !isBare(strings.ToLower(l)):
				return l
			case bare == "":
				bare = l
			}
		}
	}
	if test != "" {
		return test
	}
	if bare == "" && m.IsError {
		return clip.Line(text, 140)
	}
	return bare
}

// tells reports whether a line says what failed. What stands in brackets stands
// for output that was taken away.
func tells(l string) bool {
	if name, ok := strings.CutPrefix(l, testFailed); ok {
		return strings.Contains(name, ": ")
	}
	return !isBare(strings.ToLower(l)) && strings.Contains(l, " ") && !isBracketed(l)
}

// bareLines say that something failed, and not what.
var bareLines = []string{"fail", "failed", "failure", "error", "command aborted"}

// isBare reports whether a line in lower case is one of these.
func isBare(l string) bool {
	l = strings.Trim(l, ".:! ")
	return strings.HasPrefix(l, "exit ") || slices.Contains(bareLines, l) ||
		strings.HasSuffix(l, "[build failed]") || strings.HasSuffix(l, "[setup failed]")
}
