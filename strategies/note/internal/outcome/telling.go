package outcome

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
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
// panicked, and what a test of Rust or of Jest expected and got; and where pytest sums up nothing, what [blocks] finds.
func Telling(lines []string) (places []int) {
	b := blocks{lines: lines, file: -1}
	b.quiet = slices.ContainsFunc(lines, func(line string) bool { return sumsUp(strings.TrimSpace(line)) })
	found, summed, seen := 0, 0, make(map[string]bool)
	begun, before := 0, 0 // what was found when the test of Go began that goes on
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(clip.Head(lines[i], maxLine))
		switch {
		case sumsUp(line):
			if summed < maxSummed {
				places, summed = append(places, i), summed+1
			}
		case strings.HasPrefix(lines[i], "=== RUN") && !strings.Contains(line, "/"):
			begun, before = len(places), found
		case strings.HasPrefix(lines[i], "--- PASS"): // it may have logged what it expected
			places, found = places[:begun], before
		case found < maxTelling:
			block := b.read(i, line)
			text := ""
			for _, k := range block {
				text += strings.TrimSpace(lines[k]) + "\n"
			}
			if len(block) == 0 {
				continue
			}
			if b.ended, i = block[len(block)-1]+1, block[len(block)-1]; !seen[text] { // some say all again at the end
				places, found, seen[text] = append(places, block...), found+1, true
			}
		}
	}
	return places
}

// read is the block that begins with a line, or that of a test of Rust or of Jest.
func (b *blocks) read(i int, line string) []int {
	rust := strings.Contains(line, rustPanics)
	if rust || strings.HasPrefix(strings.TrimPrefix(line, "error: "), jestExpects) {
		return append([]int{i}, behind(b.lines, i, rust)...)
	}
	if b.quiet {
		return nil
	}
	return b.at(i)
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
