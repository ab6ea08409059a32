package outcome

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/set"
)

// Test runners say at the end, or in a block of its own, what failed and why. That tells more than the first lines that
// look like an error: these may be the names of tests, or what a test printed.

const (
	maxTelling  = 3 // of what failed is told
	maxSummed   = 6 // of what pytest sums up, a line each
	maxBehind   = 5 // lines behind one that are looked at for what was expected
	rustPanics  = " panicked at "
	jestExpects = "expect(received)"
)

// Telling returns the places of the lines that say what failed in a text, in order: what pytest sums up; where Rust
// panicked, and what a test of Rust or of Jest expected and got.
func Telling(lines []string) (places []int) {
	found, summed, seen := 0, 0, make(map[string]bool)
	for i := range lines {
		line := strings.TrimSpace(lines[i])
		rust := strings.Contains(line, rustPanics)
		switch {
		case sumsUp(line) && summed < maxSummed:
			places, summed = append(places, i), summed+1
		case found < maxTelling && (rust || strings.HasPrefix(line, jestExpects)):
			block, text := append([]int{i}, behind(lines, i, rust)...), ""
			for _, k := range block {
				text += strings.TrimSpace(lines[k]) + "\n"
			}
			if !seen[text] { // Jest says all again at the end
				places, found, seen[text] = append(places, block...), found+1, true
			}
		}
	}
	return places
}

// sumsUp reports whether a line is one of those with which pytest sums up what failed.
func sumsUp(line string) bool {
	return (strings.HasPrefix(line, "FAILED ") || strings.HasPrefix(line, "ERROR ")) && strings.Contains(line, "::")
}

// behind returns the places of the lines behind one that say what was expected, and of the next one where that is the
// message.
func behind(lines []string, at int, message bool) (places []int) {
	for i := at + 1; i < min(len(lines), at+1+maxBehind); i++ {
		switch line := strings.TrimSpace(lines[i]); {
		case line == "" && !message:
		case line == "":
			return places
		case message && len(places) == 0, isValue(line):
			places = append(places, i)
		}
	}
	return places
}

// isValue reports whether a line says what was expected, or what came instead.
func isValue(line string) bool {
	name, rest, ok := strings.Cut(line, ": ")
	return ok && rest != "" && valueNames[strings.ToLower(name)]
}

// valueNames are what test runners call them.
var valueNames = set.Of("left", "right", "expected", "received", "actual")

// panicked is where Rust panicked and why, in one line; empty where it did not.
func panicked(lines []string) string {
	for i, line := range lines {
		if _, at, ok := strings.Cut(line, rustPanics); ok {
			said := strings.TrimSpace(at)
			for _, k := range behind(lines, i, true) {
				said += " " + strings.TrimSpace(lines[k])
			}
			return said
		}
	}
	return ""
}

// expected is what a test of Jest expected, and what it got; empty where none says so.
func expected(lines []string) string {
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), jestExpects) {
			var said []string
			for _, k := range behind(lines, i, false) {
				said = append(said, strings.TrimSpace(lines[k]))
			}
			return strings.Join(said, ", ")
		}
	}
	return ""
}
