package note

import (
	"cmp"
	"slices"
	"strings"
)

// A list of what has to hold is a person's once they agreed to it, whoever wrote it down.

// headAgreed stands above the entries of such a list.
const headAgreed = "Agreed to, as the agent wrote it:"

// criteriaWords name what has to hold, in the heading of a list. agreeingWords say yes, changingWords that something
// is to be otherwise.
var (
	criteriaWords = newVocabulary("criteria")
	agreeingWords = newVocabulary("agreeing")
	changingWords = newVocabulary("changing")
)

// agrees reports whether words begin by saying yes, and change nothing: an order alone may be another one than what was
// proposed.
func agrees(words string) bool {
	if len(words) > maxAccepted || corrects(words) || takesBack(words) || changingWords.says(words+" ") {
		return false
	}
	for s := range sentences(strings.TrimSpace(words)) {
		return acceptingWords.begins(s) || agreeingWords.begins(s)
	}
	return false
}

// agreedTo are the boxes, and the entries under a heading of criteria, of what an agent asked or proposed, where the
// words of a person in turn n agree to it.
func agreedTo(asked, words string, n int) (list []rule) {
	if asked == "" || !agrees(words) {
		return nil
	}
	under := "" // the heading of the entries that follow
	for line := range unfenced(asked) {
		entry, item := listItem(line)
		if title, ok := heading(line); ok || !item && strings.HasSuffix(plain(line), ":") {
			under = cmp.Or(title, line)
		} else if isBox(line) || item && criteriaWords.says(under+" ") {
			list = append(list, rule{n: n, text: entry, binds: true})
		}
	}
	if len(list) == 0 {
		return nil
	}
	return slices.Insert(list, 0, rule{n: n, text: headAgreed, binds: true, heads: true})
}
