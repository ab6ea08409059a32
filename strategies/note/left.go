package note

import (
	"slices"
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
	end := len(lines) // of the list below a line
	for i := len(lines) - 1; i >= 0; i-- {
		head, first := lines[i], i+1
		if first < len(lines) && !isEntry(lines[first].text) && !belongs(lines, lines[first]) {
			end = first
		}
		if first >= end || lines[first].under != head.place ||
			!leftWords.begins(bareHeading(head.text)) || utf8.RuneCountInString(head.text) > maxHeading {
			continue
		}
		entries := lists.Filter(lines[first:end], func(l saying) bool { return l.under == head.place && isEntry(l.text) })
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

// behind is what an agent says last behind such a list, but for offers: it may be that all of it was done by now.
func (l *leftList) behind(lines []saying) (last saying, ok bool) {
	for _, line := range slices.Backward(lines) {
		if line.place <= l.to {
			break
		}
		if !helpingWords.begins(line.text) && !isPraise(line.text) {
			return line, true
		}
	}
	return last, false
}
