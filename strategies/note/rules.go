package note

import (
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// mustWords are how requirements are worded, in lower case.
var mustWords = newVocabulary("required")

// maxPasted is the length of a message, in bytes, over which its lists are
// taken for something pasted rather than asked for.
const maxPasted = 16 << 10

// required notes the lines in which a person says what must be, word for
// word: boxes to check, items of lists, and sentences with a word like must.
func (n *Note) required(text string) {
	for line := range unfenced(text) {
		if utf8.RuneCountInString(line) > 2*maxEntry {
			continue
		}
		_, item := listItem(line)
		if item && len(text) <= maxPasted || isBox(line) {
			n.must(line)
			continue
		}
		if strings.IndexByte("<>|{}#/`$", line[0]) >= 0 || len(text) > maxPasted {
			continue
		}
		for s := range sentences(line) {
			if mustWords.says(s + " ") {
				n.must(s)
			}
		}
	}
}

func (n *Note) must(line string) {
	if line, _ = listItem(line); utf8.RuneCountInString(line) >= 4 {
		n.musts = add(n.musts, clip.Words(line, maxEntry), maxMusts, true)
	}
}
