package note

import (
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lower"
)

// A skill, or a command, may do several things, by what stands behind its name: a table or a list says which. What the
// person asked for is the entry that names their words; where nothing stands behind the name, it is the one that says
// what it does then. It is quoted.

// askedFor is what a text says of what a person asked for who called it by its name: "/collab start notes.md", or
// "$collab" alone. It is empty where they did not call it, or nothing says that.
func askedFor(text, words, name string) string {
	rest, ok := behindName(words, name)
	if !ok {
		return ""
	}
	lines, _ := sayings(text)
	best, most := "", 0
	for _, l := range lines {
		if !isEntry(l.text) {
			continue
		}
		if n := serves(l.text, name, rest); n > most {
			best, most = beside(l.text, maxOption), n
		}
	}
	if best != "" || len(rest) > 0 {
		return best
	}
	for _, l := range lines {
		bare, _ := listItem(l.text)
		for s := range sentences(plain(bare)) {
			switch {
			case isHeading(l.text) || !withoutWords().MatchString(s):
			case isEntry(l.text):
				return beside(l.text, maxOption)
			default:
				return shortened(s, maxSays)
			}
		}
	}
	return ""
}

// withoutWords is how what is done is said where nothing stands behind a name.
var withoutWords = lazy.Regexp(
	`(?i)\b(no|without|without any|empty) (sub-?commands?|arguments?|args|parameters?)\b|` +
		`\barguments? (is|are) (empty|missing|not given|not provided|omitted)\b`)

// behindName are the words that stand behind the name of what a person called: "/name", "$name" or "/plugin:name". A
// plugin's may stand before it ("$entire collab").
func behindName(words, name string) (rest []string, ok bool) {
	fields := strings.Fields(words)
	if len(fields) == 0 || !isCall(fields[0]) {
		return nil, false
	}
	for i := range fields[:min(2, len(fields))] {
		if bareName(fields[i]) == bareName(name) {
			return fields[i+1:], true
		}
	}
	return nil, false
}

// isCall reports whether a word is the name of a command as a person writes it.
func isCall(word string) bool {
	return len(word) > 1 && (word[0] == '/' || word[0] == '$') && unicode.IsLetter(rune(word[1])) &&
		!strings.Contains(word[1:], "/")
}

// bareName is a name without its mark and its plugin, in lower case.
func bareName(word string) string {
	return lower.Text(word[strings.LastIndexAny(word, "/$:")+1:])
}

// serves is how many words of a call an entry names, its name among them, where it serves that: "`/collab join <path>`"
// does with a path behind it. Else it is 0.
func serves(entry, name string, rest []string) int {
	_, form, _ := strings.Cut(entry, "`")
	form, _, ok := strings.Cut(form, "`")
	fields := strings.Fields(form)
	if !ok || len(fields) == 0 || !isCall(fields[0]) || bareName(fields[0]) != bareName(name) {
		return 0
	}
	n := 0
	for _, f := range fields[1:] {
		if strings.IndexByte("<[{(", f[0]) >= 0 {
			if f[0] == '<' && len(rest) == n {
				return 0
			}
			return n + 1
		}
		if n == len(rest) || f != rest[n] {
			return 0
		}
		n++
	}
	if n == 0 && len(rest) > 0 {
		return 0
	}
	return n + 1
}
