package note

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
)

// A wish may be taken back by its name, long after it: "forget the endpoint". Where the message that it stood in is
// shortened it is listed among the rules, and there the words that may take it back stand behind it, as a quote:
// whether they do is for the reader to say.

// droppingWords take back what is named behind them.
var droppingWords = newVocabulary("dropping")

// dropped is a sentence that takes back what it names, in words of a message.
type dropped struct {
	n     int
	said  string
	names []string
}

const (
	seeMark    = " (but see ["
	minName    = 4  // letters of a word that names something
	maxDropped = 90 // of what is quoted, in characters
)

// drops are the sentences of a text that take back what they name, of no message yet.
func drops(text string) (list []dropped) {
	for line, printed := range typed(text) {
		if printed {
			continue
		}
		entry, _ := listItem(line)
		for s := range sentences(entry) {
			if names := namesDropped(s); len(names) > 0 && !isQuestion(s) {
				list = append(list, dropped{0, s, names})
			}
		}
	}
	return list
}

// namesDropped are the words behind the one that takes back, up to the end of the clause: "forget the endpoint, ..."
// names the endpoint.
func namesDropped(s string) (names []string) {
	lower := lower.Text(withoutNegated(s))
	rest := droppingWords.behind(lower + " ")
	if i := strings.IndexAny(rest, ",;:.!?()"); i >= 0 {
		rest = rest[:i]
	}
	for w := range strings.FieldsFuncSeq(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if clauses[w] {
			break
		}
		if len([]rune(w)) >= minName && !instructing.has(w) {
			names = append(names, stemOf(w))
		}
	}
	return names[:min(len(names), maxNames)]
}

// maxNames is how many words name what is taken back.
const maxNames = 3

// clauses are words with which another clause begins.
var clauses = set.Of("and", "but", "for", "because", "since", "until", "if", "then", "instead", "now", "from",
	"in", "on", "i", "we", "it", "und", "et", "y")

// behind is what stands behind the first of the words in a text in lower case, empty where none stands there.
func (v *vocabulary) behind(lower string) string {
	for i := 0; i < len(lower); i++ {
		if i > 0 && lower[i-1] >= 'a' && lower[i-1] <= 'z' {
			continue
		}
		for _, w := range v.from(lower[i]) {
			if rest, ok := strings.CutPrefix(lower[i:], strings.TrimSuffix(w, " ")+" "); ok {
				return rest
			}
		}
	}
	return ""
}

// seeDropped points from each rule to the later words that may take it back by what they name.
func (v *view) seeDropped(list []rule) {
	var all []dropped
	add := func(n int, text string) {
		for _, d := range v.memory.drops.of(text, drops) {
			d.n = n
			all = append(all, d)
		}
	}
	for i := range v.turns {
		if t := &v.turns[i]; t.words != "" {
			add(t.n, t.words)
		}
	}
	for i := range list {
		text, _, _ := strings.Cut(list[i].text, seeMark)
		add(list[i].n, text)
	}
	for i := range list {
		r := &list[i]
		if r.heads || r.left > 0 || strings.Contains(r.text, seeMark) || strings.Contains(r.text, takenBack) {
			continue
		}
		lower := lower.Text(r.text)
		k := slices.IndexFunc(all, func(d dropped) bool {
			return d.n > r.n && !slices.ContainsFunc(d.names, func(name string) bool { return !holds(lower, name) })
		})
		if k >= 0 {
			r.text += fmt.Sprintf("%s%d]: \"%s\")", seeMark, all[k].n, shortened(all[k].said, maxDropped))
		}
	}
}
