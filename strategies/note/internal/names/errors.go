package names

import (
	"strings"
)

// failure is an error text, word for word, and what was being done.
type failure struct {
	text  string
	doing string
	about string // the file it was done to, if any
	at    int
}

// maxErrorLines is how many lines of one result are kept.
const maxErrorLines = 3

// fail notes error lines; a text met before moves to the end.
func (b *builder) fail(lines []string, doing, about string) {
	for _, text := range lines {
		f := failure{text: text, doing: doing, about: about, at: b.at}
		b.errors = putLast(b.errors, f, maxKept, func(o failure) bool { return untimed(o.text) == untimed(text) })
	}
}

// untimed is an error line without the time it took: "--- FAIL: TestA (0.31s)".
func untimed(line string) string {
	rest := strings.TrimRight(line, ")")
	rest, ok := strings.CutSuffix(rest, "s")
	if short := strings.TrimRight(rest, "0123456789."); ok && len(short) < len(rest) {
		return strings.TrimRight(short, " (\t")
	}
	return line
}
