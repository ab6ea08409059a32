package note

import (
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// What an agent says at the end of a turn that is left to do is worth more to who goes on than what it says it has
// done: the calls tell that. So the list below such a heading is told with the closing words, all of it.

// leftWords are how the heading of a list of what is left to do begins.
var leftWords = newVocabulary("left to do")

// maxLeft is how much of such a list is told, in characters.
const maxLeft = 300

// leftList is such a list, as it is told, and the places of its heading and of its last line.
type leftList struct {
	from, to int
	told     string
}

// leftToDo finds the last list in a text of what is left to do.
func leftToDo(lines []saying) (list leftList, ok bool) {
	for i := len(lines) - 1; i >= 0; i-- {
		head := lines[i]
		if !leftWords.begins(bareHeading(head.text)) || utf8.RuneCountInString(head.text) > maxHeading {
			continue
		}
		end := i + 1
		for end < len(lines) && (isEntry(lines[end].text) || belongs(lines, lines[end])) {
			end++
		}
		entries := lists.Filter(lines[i+1:end], func(l saying) bool { return l.under == head.place && isEntry(l.text) })
		if len(entries) == 0 {
			continue
		}
		room := maxLeft
		size, _ := fitting(entries, room, beside)
		told := append([]saying{head}, entries...)
		text := onOneLine(told, func(i int) (string, bool) {
			if i == 0 {
				return asHeading(head.text), true
			}
			entry := beside(told[i].text, size)
			room -= utf8.RuneCountInString(entry)
			return entry, room >= 0
		})
		return leftList{head.place, lines[end-1].place, text}, true
	}
	return list, false
}
