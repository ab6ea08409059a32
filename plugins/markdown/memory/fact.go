package memory

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/sum"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// kind is what sort of fact it is.
type kind string

const (
	preference  kind = "preference"  // what a person always or never wants
	decision    kind = "decision"    // what was settled
	requirement kind = "requirement" // what a person asked for, of a list or by name
	finding     kind = "finding"     // what the assistant concluded
	fix         kind = "fix"         // an error, and what was done before it went away
)

// fact is one thing worth keeping.
type fact struct {
	kind    kind
	created string    // RFC 3339
	said    []mention // at least one, the first as it was noted
	against []string  // names of notes that it may contradict
	key     string    // of the note
	title   string    // a line of it
	about   string    // what else front matter says of it

	score int // how much it is worth keeping
	order int // where in the session
}

// mention is one time that a fact was said.
type mention struct {
	text     string // one paragraph
	day      string // 2026-11-21
	session  string // where it was said
	messages []string
}

// text is the fullest way in which the fact was said.
func (f *fact) text() string {
	best := f.said[0].text
	for _, m := range f.said[1:] {
		if len(m.text) > len(best) {
			best = m.text
		}
	}
	return best
}

// has reports whether the fact knows a mention already: another compaction of
// the same session sees the same messages.
func (f *fact) has(m mention) bool {
	return slices.ContainsFunc(f.said, func(s mention) bool {
		return s.session == m.session && (slices.Equal(s.messages, m.messages) || normalize(s.text) == normalize(m.text))
	})
}

// normalize is the text by which facts are the same: words alone, in lower
// case, with a space around each.
func normalize(s string) string {
	norm := append(make([]byte, 0, len(s)+2), ' ')
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			norm = append(norm, byte(r))
		case r == '\'' || r == '’':
			// don't is one word, whichever way it is written
		case clip.IsHan(r):
			norm = utf8.AppendRune(norm, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			norm = utf8.AppendRune(norm, unicode.ToLower(r))
		case norm[len(norm)-1] != ' ':
			norm = append(norm, ' ')
		}
	}
	if norm[len(norm)-1] != ' ' {
		norm = append(norm, ' ')
	}
	return string(norm)
}

const (
	slugBytes = 40
	hashBytes = 5
)

// noteKey is derived from what a fact says alone, so that the same fact has
// the same note wherever it is met. Files whose names begin with a date are
// logs: a slug begins with a word.
func noteKey(k kind, text string) string {
	slug := ""
	rank.Terms(text, func(_ []byte, start, end int) bool {
		word := strings.ToLower(text[start:end])
		if !isASCII(word) || strings.ContainsAny(word, "./:\\@#+_-") || slug == "" && word[0] <= '9' ||
			strings.Contains("-"+slug, "-"+word+"-") {
			return true
		}
		if len(slug)+len(word) >= slugBytes {
			return false
		}
		slug += word + "-"
		return true
	})
	slug = cmp.Or(slug, string(k)+"-")
	return notesPrefix + slug + digest(text) + ".md"
}

// digest is the part of a note's name by which it is known. It is the same in
// every version of the plugin.
func digest(text string) string {
	whole := sum.Of(normalize(text))
	return hex.EncodeToString(whole[:hashBytes])
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

const (
	maxTitle = 80
	maxText  = 400 // of a fact, in characters
)
