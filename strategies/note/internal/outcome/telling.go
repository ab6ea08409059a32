package outcome

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
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
// Of a long text the ends are read, as by [Reason].
func Telling(lines []string) (places []int) {
	head, tail := ends(lines)
	if head == tail {
		return telling(lines)
	}
	places = telling(slices.Concat(lines[:head], []string{""}, lines[tail:]))
	for k, i := range places {
		if i > head {
			places[k] = i - head - 1 + tail
		}
	}
	return places
}

// ends says up to which line, and from which one on, the ends of a text are read: from the same one where all is.
func ends(lines []string) (head, tail int) {
	cost := func(line string) int { return min(len(line), maxLine) + 1 }
	for left := maxReasons; head < len(lines) && cost(lines[head]) <= left; head++ {
		left -= cost(lines[head])
	}
	tail = len(lines)
	for left := maxReasons; tail > head && cost(lines[tail-1]) <= left; tail-- {
		left -= cost(lines[tail-1])
	}
	return head, tail
}

// tells are lines that say what failed.
type tells struct {
	places []int
	text   string
	test   string // of Go, in which they stand, until it is known to have failed
	summed bool
}

func telling(lines []string) (places []int) {
	quiet := slices.ContainsFunc(lines, func(line string) bool { return sumsUp(strings.TrimSpace(line)) })
	found, summed, seen := 0, 0, make(map[string]bool)
	for _, t := range tellsIn(lines, quiet) {
		switch {
		case t.summed && summed < maxSummed:
			places, summed = append(places, t.places...), summed+1
		case !t.summed && found < maxTelling && !seen[t.text]: // some say all again at the end
			places, found, seen[t.text] = append(places, t.places...), found+1, true
		}
	}
	return places
}

// tellsIn are all lines that say what failed, without what [blocks] finds where it is to be quiet.
func tellsIn(lines []string, quiet bool) (list []tells) {
	b := blocks{lines: lines, file: -1, quiet: quiet}
	test := "" // that goes on
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(clip.Head(lines[i], maxLine))
		if word, name := goMark(lines[i]); word != "" {
			test, list = marks(list, word, name)
		} else if sumsUp(line) {
			list = append(list, tells{places: []int{i}, summed: true})
		} else if block := b.read(i, line); len(block) > 0 {
			t := tells{places: block, test: test}
			for _, k := range block {
				t.text += strings.TrimSpace(lines[k]) + "\n"
			}
			b.ended, i = block[len(block)-1]+1, block[len(block)-1]
			list = append(list, t)
		}
	}
	return list
}

// goMark reads a line in which a test of Go begins, goes on or ends: how it does, and which one. A case of a test is
// told as the test.
func goMark(line string) (word, test string) {
	if !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
		return "", ""
	}
	words := strings.Fields(clip.Head(line, maxLine))
	if len(words) < 3 || !goMarks[words[1]] {
		return "", ""
	}
	test, sub, _ := strings.Cut(words[2], "/")
	if sub != "" { // the test around it goes on
		return "CONT", test
	}
	return words[1], test
}

// goMarks are the words with which go test tells of a test.
var goMarks = set.Of("RUN", "PAUSE", "CONT", "NAME", "PASS:", "FAIL:", "SKIP:")

// marks takes such a line, and returns the test that goes on behind it. What a test said that passed goes: it may have
// logged what it expected. Tests that run at the same time say theirs in between.
func marks(list []tells, word, name string) (string, []tells) {
	switch word {
	case "CONT", "NAME":
		return name, list
	case "PAUSE":
		return "", list
	case "PASS:":
		return "", slices.DeleteFunc(list, func(t tells) bool { return t.test == name })
	}
	for i := range list { // it failed, or another of this name begins
		if list[i].test == name {
			list[i].test = ""
		}
	}
	if word == "RUN" {
		return name, list
	}
	return "", list
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
	name = lower.Text(name)
	return ok && rest != "" && (wanted[name] || got[name])
}

// panicked are where Rust panicked and why, in parts; none where it did not.
func panicked(lines []string) (parts []string) {
	for i, line := range lines {
		if _, at, ok := strings.Cut(line, rustPanics); ok {
			parts = append(parts, strings.TrimSpace(at))
			for _, k := range behind(lines, i, true) {
				parts = append(parts, strings.TrimSpace(lines[k]))
			}
			return parts
		}
	}
	return nil
}

// expected are what a test of Jest expected, and what it got; none where none says so.
func expected(lines []string) (parts []string) {
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), jestExpects) {
			for _, k := range behind(lines, i, false) {
				parts = append(parts, strings.TrimSpace(lines[k]))
			}
			return parts
		}
	}
	return nil
}
