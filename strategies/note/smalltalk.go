package note

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
)

// Small talk asks for nothing and tells nothing: it goes first where there is no room for all words. Each word counts:
// what is asked for may stand behind any greeting, in one sentence with it. A word that is not known as polite makes
// more of it, in whatever language.

var (
	politePhrases = newVocabulary("small talk")
	politeFillers = newVocabulary("polite") // beside these
)

// smallTalk reports whether words of a person are small talk. One that asks something waits for an answer.
func smallTalk(words string) bool { return onlyPolite(words) && !asks(words) }

// maxGreeting is how long words are that only greet, in bytes.
const maxGreeting = 300

// greets reports whether an agent's words only greet: nothing came of the message that they answer.
func greets(text string) bool {
	greeting := false
	if text = strings.TrimSpace(text); len(text) > maxGreeting {
		return false
	}
	for line := range strings.Lines(text) {
		for s := range sentences(plain(line)) {
			polite := onlyPolite(s)
			if greeting = greeting || polite; !polite && telling(s) != "" {
				return false
			}
		}
	}
	return greeting
}

// onlyPolite reports whether a text is made of polite phrases alone. What stands beside one stands right behind it: in
// a clause of its own it may be an answer ("ok, today").
func onlyPolite(text string) (polite bool) {
	if strings.ContainsAny(text, "`/_@#0123456789") {
		return false
	}
	beside := false
	for low := lower.Text(text); low != ""; {
		if r, size := utf8.DecodeRuneInString(low); !unicode.IsLetter(r) && !unicode.IsMark(r) {
			low, beside = low[size:], beside && r == ' '
			continue
		}
		phrase, filler := politePhrases.longest(low), politeFillers.longest(low)
		switch {
		case phrase > 0 && phrase >= filler:
			low, polite, beside = low[phrase:], true, true
		case filler > 0 && beside:
			low = low[filler:]
		default:
			return false
		}
	}
	return polite
}

// longest is how long the longest of the words is that a text in lower case begins with, in bytes, and ends in it: no
// letter goes on behind it but in scripts without spaces. It is 0 where there is none.
func (v *vocabulary) longest(low string) (size int) {
	for _, w := range v.from(low[0]) {
		rest, ok := strings.CutPrefix(low, w)
		if !ok || len(w) <= size {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(w)
		next, _ := utf8.DecodeRuneInString(rest)
		if !unicode.IsLetter(next) && !unicode.IsMark(next) || clip.Separate(last) {
			size = len(w)
		}
	}
	return size
}
