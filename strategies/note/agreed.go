package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// A list of what has to hold is a person's once they agreed to it, whoever wrote it down.

const (
	// headAgreed stands above the entries of such a list, headWritten above those that a person let stand.
	headAgreed  = "Agreed to, as the agent wrote it"
	headWritten = "As the agent wrote it, and nobody objected"
)

// criteriaWords name what has to hold, in the heading of a list. agreeingWords say yes, changingWords that something
// is to be otherwise.
var (
	criteriaWords = newVocabulary("criteria")
	agreeingWords = newVocabulary("agreeing")
	changingWords = newVocabulary("changing")
	// supposingWords are those of a heading above what might be.
	supposingWords = newVocabulary("supposing")
)

// agrees reports whether words that do not object begin by saying yes: an order alone may be another one than what was
// proposed.
func agrees(words string) bool {
	if len(words) > maxAccepted {
		return false
	}
	for s := range sentences(strings.TrimSpace(words)) {
		return acceptingWords.begins(s) || agreeingWords.begins(s)
	}
	return false
}

// objects reports whether words say that something is to be otherwise.
func objects(words string) bool {
	return corrects(words) || takesBack(words) || changingWords.says(words+" ")
}

// agreedTo are the criteria of what an agent asked or proposed, where the words of a person in turn n agree to it, or
// say nothing against it: boxes alone may tell what was done, and stand for no criteria unless somebody agreed.
func agreedTo(asked, words string, n int) []rule {
	switch {
	case asked == "" || objects(words):
		return nil
	case agrees(words):
		list, _ := criteria(asked, true)
		return under(headAgreed, list, n)
	default:
		list, _ := criteria(asked, false)
		return under(headWritten, slices.DeleteFunc(list, func(c criterion) bool {
			return supposingWords.says(c.heading + " ")
		}), n)
	}
}

// criterion is an entry of a list of what has to hold, and the heading that it stands under.
type criterion struct{ heading, text string }

// criteria are the entries of a text under a heading of what has to hold, with boxes all of these too, and what else
// the text says.
func criteria(text string, boxes bool) (list []criterion, rest string) {
	var others strings.Builder
	var titles [maxLevels + 2]string      // of the headings that a line stands under, by their level
	title, under, fenced := "", "", false // the heading of the entries that follow, and with that above it
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		fenced = fenced != isFence(line)
		_, item := listItem(line)
		if _, ok := heading(line); !fenced && (ok || !item && strings.HasSuffix(plain(line), ":")) {
			level := len(line) - len(strings.TrimLeft(line, "#"))
			if level == 0 || level > maxLevels { // a line of its own stands under all of them
				level = maxLevels + 1
			}
			title = bareTitle(line)
			titles[level] = title
			clear(titles[level+1:])
			under = title
			above := titles[min(2, level):level] // the title of the whole says nothing of a part
			if above = lists.Filter(above, func(s string) bool { return s != "" }); len(above) > 0 {
				under = above[len(above)-1] + ": " + title
			}
		} else if !fenced && (boxes && isBox(line) || item && criteriaWords.says(title+" ")) {
			list = append(list, criterion{under, entryOf(line)})
			continue
		}
		others.WriteString(raw)
	}
	return list, others.String()
}

// maxLevels is how deep headings are.
const maxLevels = 6

// under are criteria as rules of turn n. Where they come from stands above them, with their heading.
func under(source string, list []criterion, n int) (rules []rule) {
	for i, c := range list {
		if i == 0 || c.heading != list[i-1].heading {
			head := source
			if c.heading != "" {
				head += " (" + c.heading + ")"
			}
			rules = append(rules, rule{n: n, text: head + ":", binds: true, heads: true})
		}
		rules = append(rules, rule{n: n, text: c.text, binds: true})
	}
	return rules
}

// bareTitle is a heading as it is written, without its marks.
func bareTitle(line string) string {
	return strings.TrimSpace(strings.TrimRight(strings.TrimLeft(plain(line), "# "), ": "))
}
