package note

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lower"
)

// Focus is what instructions came to in a note: what bears on their terms is told before
// other things.
type Focus struct {
	// Terms are the words and names of the instructions on which something bears that
	// goes.
	Terms []string `json:"terms"`
	// Unused are those on which nothing bears, or so much that none of it stands out.
	Unused []string `json:"unused,omitempty"`
	// Lines is how many lines of the note bear on the terms.
	Lines int `json:"lines"`

	stems []string
}

// manyBear is the part of the messages on which a term may bear and still say what is
// meant, and fewBear how many that are in any case.
const (
	manyBear = 1.0 / 4
	fewBear  = 4
)

// instructing are words that say what a note should do, and not what about.
var instructing = newWordSet("instructing")

// focusOn finds the terms of instructions in the messages that go. It is nil where there
// are none.
func focusOn(instructions string, gone []abi.Message) *Focus {
	if strings.TrimSpace(instructions) == "" {
		return nil
	}
	f := &Focus{Terms: []string{}}
	said := make([]string, len(gone))
	for i := range gone {
		said[i] = lower.Text(gone[i].Text())
		for k := range gone[i].ToolCalls {
			said[i] += "\n" + lower.Text(gone[i].ToolCalls[k].Arguments)
		}
	}
	for _, term := range terms(instructions) {
		n, stem := 0, stemOf(term)
		for _, text := range said {
			if holds(text, stem) {
				n++
			}
		}
		if n == 0 || n > max(fewBear, int(manyBear*float64(len(gone)))) {
			f.Unused = append(f.Unused, term)
			continue
		}
		f.Terms, f.stems = append(f.Terms, term), append(f.stems, stem)
	}
	return f
}

// bears reports whether a text has to do with one of the terms.
func (f *Focus) bears(text string) bool {
	if f == nil || len(f.stems) == 0 {
		return false
	}
	text = lower.Text(text)
	return slices.ContainsFunc(f.stems, func(stem string) bool { return holds(text, stem) })
}

// Focus says what the instructions came to in the note as it was written; nil where there
// were none.
func (n *Note) Focus(text string) *Focus {
	if n.focus == nil {
		return nil
	}
	f := *n.focus
	for line := range strings.SplitSeq(text, "\n") {
		if f.bears(line) {
			f.Lines++
		}
	}
	return &f
}

// terms are the words and names of a text that may say what it is about, each once.
func terms(text string) (list []string) {
	words := strings.FieldsFunc(lower.Text(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/", r)
	})
	for _, w := range words {
		w = strings.Trim(w, "._-/")
		if short := utf8.RuneCountInString(w) < 3 && len(w) < 6; short || instructing.has(w) || slices.Contains(list, w) {
			continue
		}
		list = append(list, w)
	}
	return list
}

// stemOf is a term without the ending of a plural.
func stemOf(term string) string {
	for _, ending := range []string{"ies", "es", "s"} {
		if rest, ok := strings.CutSuffix(term, ending); ok && len(rest) >= 4 && !strings.HasSuffix(rest, "s") {
			return rest
		}
	}
	return term
}

const (
	// minInside is how long a term is that counts inside a word too, in bytes.
	minInside = 5
	// maxPrefix is how many letters before a term make another word of it: "renaming" has
	// not to do with naming, and "shadowbranch" has with a branch.
	maxPrefix = 3
)

// holds reports whether a text in lower case has a term: a short one where a word begins.
func holds(text, stem string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], stem)
		if i < 0 {
			return false
		}
		i += from
		if n := lettersBefore(text[:i]); n == 0 || n > maxPrefix && len(stem) >= minInside {
			return true
		}
		from = i + len(stem)
	}
}

// lettersBefore is how many letters of a word stand at the end of a text in lower case, as
// far as they matter. Scripts without case have no spaces to go by: there it is many.
func lettersBefore(text string) (n int) {
	for n <= maxPrefix {
		r, size := utf8.DecodeLastRuneInString(text)
		if !unicode.IsLetter(r) {
			return n
		}
		if !unicode.IsLower(r) {
			return maxPrefix + 1
		}
		n, text = n+1, text[:len(text)-size]
	}
	return n
}
