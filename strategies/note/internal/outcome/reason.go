package outcome

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Reason returns the line of an output that says why a check failed: of the first test
// of Go that failed the first that names a place in a file and what was expected there, or
// the last that names a place; else the first that does, as compilers and test runners
// write it, one in a file of tests before others, or the lines of the first failure that is
// told in several, or the last that names an error, or the first that is marked as one. Of
// a panic of Rust and a test of Jest it is told with what was expected. It is empty where
// there is none. That something failed is said by other lines.
func Reason(text string) string {
	said, _ := reason(text)
	return said
}

// Reasons are the lines, or ends of lines, that [Reason] makes one of, as they stand in the output.
func Reasons(text string) []string {
	said, parts := reason(text)
	if len(parts) == 0 && said != "" {
		return []string{said}
	}
	return parts
}

// reason is what [Reason] returns, and its parts where it is made of several.
func reason(text string) (said string, parts []string) {
	lines := strings.Split(clip.Ends(text, maxReasons), "\n")
	if parts = panicked(lines); len(parts) > 0 {
		return clip.Whole(strings.Join(parts, " "), maxError), parts
	}
	if parts = expected(lines); len(parts) > 0 {
		return clip.Whole(strings.Join(parts, ", "), maxError), parts
	}
	placed, other := inLine(lines)
	if placed == "" {
		parts = told(lines)
	}
	if len(parts) > 0 {
		return clip.Whole(clip.OneLine(strings.Join(parts, " ")), maxError), parts
	}
	return cmp.Or(placed, other), nil
}

// inLine is the line that names a place, as [Reason] says, and the one to take where there is none.
func inLine(lines []string) (placed, other string) {
	place, last, marked, test, traced := "", "", "", goTest{}, false
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "E  "); ok { // pytest
			line = strings.TrimSpace(rest)
		}
		if test.mark(line) {
			return test.said, ""
		}
		switch {
		case strings.HasPrefix(line, "Traceback "): // what went before it are warnings
			place, traced = "", true
		case traced && last == "" && hasPlace(line):
		case hasPlace(line) && !isLog(line):
			said := clip.Whole(line, maxError)
			if was, is := expects(test.said), expects(said); is > was || is == was && is < surely {
				test.said = said
			}
			if place == "" || !inTests(place) && inTests(line) {
				place = said
			}
		case namesError(line):
			last = clip.Whole(line, maxError)
		case marked == "" && marksError(line):
			marked = clip.Whole(line, maxError)
		}
	}
	if test.failed && test.said != "" {
		return test.said, ""
	}
	return place, cmp.Or(last, marked)
}

// told are the lines of the first failure that [Telling] finds; none where it finds none.
func told(lines []string) (parts []string) {
	for _, t := range tellsIn(lines, false) {
		if !t.summed {
			for _, k := range t.places {
				parts = append(parts, bare(lines[k]))
			}
			return parts
		}
	}
	return nil
}

// marksError reports whether a line begins with the mark of an error and says something: "× expected a semicolon" of
// Biome, "error[E0382]: borrow of moved value" of Rust, "[ERROR] No such phase" of Maven where it names no place.
func marksError(line string) bool {
	for _, mark := range []string{"× ", "✖ "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.Contains(rest, " ")
		}
	}
	if rest, ok := strings.CutPrefix(line, "[ERROR] "); ok {
		return expects(rest) == surely && !strings.HasSuffix(rest, ":") && !strings.HasPrefix(rest, "Tests run:")
	}
	return strings.HasPrefix(line, "error[") && strings.Contains(line, "]: ")
}

// goTest is what is read of a test of Go. What it says stands above the line that it
// failed where all tests are shown, and below it where only those are that failed.
type goTest struct {
	said            string // last
	verbose, failed bool
}

// mark takes a line in which a test begins or ends, and reports whether what one said
// that failed is known now.
func (t *goTest) mark(line string) (known bool) {
	fails := strings.HasPrefix(line, "--- FAIL")
	begins := strings.HasPrefix(line, "=== RUN")
	if !fails && !begins && !strings.HasPrefix(line, "--- PASS") && !strings.HasPrefix(line, "--- SKIP") &&
		line != "FAIL" {
		return false
	}
	if t.said != "" && (t.failed || fails && t.verbose) {
		return true
	}
	*t = goTest{verbose: t.verbose || begins, failed: fails && !t.verbose}
	return false
}

// expects says how surely a line tells what should have been, and not what a test was about: logs say "should" too.
func expects(line string) int {
	line = lower.Text(line)
	switch {
	case toolcall.HasAny(line, expectations):
		return surely
	case toolcall.HasAny(line, []string{"should", "must "}):
		return 1
	}
	return 0
}

// surely is the most that [expects] says.
const surely = 2

var expectations = []string{"want", "expected", "got ", "got:", "error", "fail", "unexpected", "mismatch", "not found",
	"not equal", "missing", "invalid", "no such", "cannot", "timed out", "panic", "!="}

// isLog reports whether a line is one of a log, which names the place that wrote it.
func isLog(line string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(clip.Head(line, maxError), unicode.IsSpace), func(w string) bool {
		return logLevels[strings.Trim(w, "[]:")] || strings.HasPrefix(w, "level=")
	})
}

var logLevels = set.Of("TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING")

// inTests reports whether the place that a line begins with is in a file of tests.
func inTests(line string) bool {
	file, _, _ := strings.Cut(line, ":")
	return strings.Contains(lower.Text(file), "test") || strings.Contains(file, "spec")
}

// inSource reports whether a line says of a place in a file, down to the column, that
// something is wrong with it, as compilers do. Warnings and notes are no failures.
func inSource(line string) bool {
	if !hasPlace(line) || isLog(line) {
		return false
	}
	_, rest, _ := strings.Cut(line, ":")
	rest = strings.TrimPrefix(rest[clip.Digits(rest):], ":")
	said := lower.Text(strings.TrimPrefix(rest[clip.Digits(rest):], ": "))
	return clip.Digits(rest) > 0 && !strings.HasPrefix(said, "warning") && !strings.HasPrefix(said, "note")
}

// tellsFailure reports whether an output tells a failure in a way that nothing else is told in.
func tellsFailure(text string) bool {
	return len(Telling(strings.Split(clip.Ends(text, maxReasons), "\n"))) > 0
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
	name, _, _ = strings.Cut(name, " [") // "AssertionError [ERR_ASSERTION]" of Node
	return ok && rest != "" && strings.Count(name, " ") < 2 && !strings.ContainsAny(name, "\t/=\"'(") &&
		(strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception"))
}
