package action

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
)

// changedLines are the lines that an edit changed: where the new text stands among
// the numbered lines that an editor shows after it ("   12→text" or "   12\ttext"),
// without what stood there before. They are zero where it does not stand there.
func changedLines(shown, before, after string) (from, last int) {
	first, show := numbered(shown)
	if len(show) == 0 {
		return 0, 0
	}
	old, text := textLines(before), textLines(after)
	for at := range show {
		if len(text) == 0 || at+len(text) > len(show) || !slices.Equal(show[at:at+len(text)], text) {
			continue
		}
		head, tail := 0, 0
		for head < min(len(old), len(text)) && old[head] == text[head] {
			head++
		}
		for tail < min(len(old), len(text))-head && old[len(old)-1-tail] == text[len(text)-1-tail] {
			tail++
		}
		from = first + at + head
		return from, max(from, first+at+len(text)-1-tail)
	}
	return 0, 0
}

// declares begin lines that say what is new in code, in whatever language.
var declares = set.Of("func", "fn", "def", "class", "type", "interface", "struct", "enum", "impl", "trait", "const",
	"let", "var", "export", "public", "private", "protected", "static", "async", "function", "module", "package",
	"create", "CREATE", "ALTER")

// minPut is how long a line is that says something, in bytes.
const minPut = 8

// Puts returns the line that says most of what an edit puts into a file: the first new one that declares something, or
// the first that is new. It is empty where none says something: where lines are taken away alone, too.
func (a *Action) Puts() (line string) {
	had := set.Of(textLines(a.before)...)
	for _, l := range textLines(a.after) {
		if len(l) < minPut || had[l] {
			continue
		}
		if word, _, _ := strings.Cut(l, " "); declares[word] {
			return l
		}
		if line == "" {
			line = l
		}
	}
	return line
}

// textLines are the lines of a text without the white space around each.
func textLines(text string) (lines []string) {
	if text == "" {
		return nil
	}
	lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// numbered are the lines of the first run of numbered ones, and the number of the first.
func numbered(text string) (first int, lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " ")
		n := clip.Digits(line)
		rest, ok := strings.CutPrefix(line[n:], "→")
		if !ok {
			rest, ok = strings.CutPrefix(line[n:], "\t")
		}
		number, err := strconv.Atoi(line[:n])
		switch {
		case !ok || err != nil || len(lines) > 0 && number != first+len(lines):
			if len(lines) > 0 {
				return first, lines
			}
			continue
		case len(lines) == 0:
			first = number
		}
		lines = append(lines, strings.TrimSpace(rest))
	}
	return first, lines
}
