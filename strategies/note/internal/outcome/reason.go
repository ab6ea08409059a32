package outcome

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// Reason returns the line of an output that says why a check failed: the first that
// names a place in a file, as compilers and test runners do, or the last that names an
// error. It is empty where there is none. That something failed is said by other lines.
func Reason(text string) string {
	last := ""
	for line := range strings.Lines(clip.Ends(text, maxReasons)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "E  "); ok { // pytest
			line = strings.TrimSpace(rest)
		}
		switch {
		case hasPlace(line):
			return clip.Whole(line, maxError)
		case namesError(line):
			last = clip.Whole(line, maxError)
		}
	}
	return last
}

// maxReasons is how much of both ends of an output is searched, in bytes.
const maxReasons = 16 << 10

// hasPlace reports whether a line begins with a place in a file and says something of
// it: "lease_test.go:40: got 2, want 1". Frames of a stack say nothing.
func hasPlace(line string) bool {
	file, rest, ok := strings.Cut(line, ":")
	if !ok || strings.ContainsAny(file, " \t\"'<>") || !strings.Contains(file, ".") {
		return false
	}
	n := clip.Digits(rest)
	if n == 0 {
		return false
	}
	if rest = rest[n:]; strings.HasPrefix(rest, ":") && clip.Digits(rest[1:]) > 0 {
		rest = rest[1+clip.Digits(rest[1:]):]
	}
	return strings.HasPrefix(rest, ": ") && len(strings.TrimSpace(rest)) > 1
}

// namesError reports whether a line begins with the name of an error, a code before it
// aside: "ValueError: no such column", "- E999 SyntaxError: unmatched ')'".
func namesError(line string) bool {
	name, rest, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
	return ok && rest != "" && strings.Count(name, " ") < 2 && !strings.ContainsAny(name, "\t/=\"'(") &&
		(strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception"))
}
