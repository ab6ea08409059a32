package note

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// A short answer says nothing without what it answers: "do it" orders the list that the agent ended its words with, and
// "let's go with the cheaper one" takes one of its offers. So what the agent asked or offered is told with the entries
// beside it: all of them, the long ones shortened, as the answer may mean each.

const (
	maxAsked = 700 // of what a short answer speaks of, in characters
	// minOffered is how much of an entry of an offer is told at least, in characters: its closing words say more else.
	minOffered = 70
	maxBefore  = 60 // of how the words began, to tell whether it is said
)

// entrySizes are how much of an entry is told, in characters, most first: as much as there is room for in all of them.
var entrySizes = []int{maxOption, 140, 100, 70, 50, 36}

// asked are the words with which an agent ends a turn that a short answer follows, where it asks something: the last
// line that does, with the list beside it, or the line before it, and how the words begin. A list is cut at its end,
// and whole entries are told. It is empty where nothing is asked; options says that a list stands beside the question.
func asked(text string) (said string, options bool) {
	lines, _ := sayings(text)
	at := -1
	for i, l := range lines {
		if asks(l.text) && !isHeading(l.text) && l.text[0] != '|' {
			at = i
		}
	}
	if at < 0 {
		return "", false
	}
	from, to := at, at+1
	for to < len(lines) && isEntry(lines[to].text) {
		to++
	}
	if to == at+1 {
		first, behind := listAbove(lines[:at])
		switch {
		case first < behind: // what stands between the list and the question is left out
			list := lists.Filter(lines[first:behind], func(l saying) bool { return isEntry(l.text) || !belongs(lines, l) })
			lines = slices.Concat(lines[:first], list, lines[at:])
			from, at = first, first+len(list)
			to = at + 1
		case at > 0 && !isHeading(lines[at-1].text):
			from--
		}
	}
	over := above(lines, lines[from])
	said = strings.TrimSpace(over + " " + block(lines[from:to], at-from))
	options = slices.ContainsFunc(lines[from:to], func(l saying) bool { return isEntry(l.text) })
	gap := strings.TrimSpace(leftOutHere)
	for first := range sentences(closing(text)) {
		first, _, _ = strings.Cut(first, leftOutHere)
		if heading := strings.TrimSuffix(over, leftOutHere); heading != "" {
			first = strings.TrimSpace(strings.TrimSuffix(first, heading)) // it stands over the question
		}
		bare, further := strings.CutPrefix(first, gap+" ")
		switch {
		case strings.Contains(said, clip.First(bare, maxBefore)):
			if further && lines[from].place > 0 {
				said = gap + " " + said
			}
		case before(text, plain(lines[from].text), bare):
			said = marked(said) + " " + bare
		default:
			said = startingWith(marked(first), said)
		}
		break
	}
	return strings.TrimSpace(strings.ReplaceAll(said, gap+" "+gap, gap)), options
}

// startingWith is how words begin and what else is told of them, which may begin within that.
func startingWith(first, said string) string {
	if i := strings.Index(first, clip.First(said, maxBefore)); i >= 0 {
		first = strings.TrimSpace(first[:i])
	}
	return strings.TrimSpace(first + " " + said)
}

// above is what a line that is told stands under: its heading, and the list of what is left to do before it.
func above(lines []saying, of saying) string {
	heading := headingOf(lines, of, true)
	left, ok := leftToDo(lines)
	if !ok || left.to >= of.place {
		return heading
	}
	if list := headings(lines, of); len(list) > 0 && list[len(list)-1].place == left.from {
		heading = ""
	}
	if heading != "" || left.to+1 < of.place {
		return strings.TrimSpace(left.told + leftOutHere + " " + heading)
	}
	return left.told
}

// listAbove is where the list with which lines end begins, with its heading, and where it ends: headings may follow it.
// A list that goes on under headings of one kind is one.
func listAbove(lines []saying) (first, behind int) {
	behind = len(lines)
	for behind > 0 && isHeading(lines[behind-1].text) && !isEntry(lines[behind-1].text) {
		behind--
	}
	first = behind
	for top := ""; ; {
		from := first
		for first > 0 && (isEntry(lines[first-1].text) || belongs(lines, lines[first-1])) {
			first--
		}
		if first == from || first == 0 {
			return first, behind
		}
		above := lines[first-1]
		if !isHeading(above.text) || top != "" && marksOf(above.text) != marksOf(top) {
			if top == "" && lines[first].under == above.place {
				first--
			}
			return first, behind
		}
		first, top = first-1, above.text
	}
}

// belongs reports whether a line is a part of an entry of a list and none itself.
func belongs(lines []saying, l saying) bool {
	return slices.ContainsFunc(headings(lines, l), func(h saying) bool {
		_, item := listItem(h.text)
		return item && !isHeading(h.text)
	})
}

// marksOf are the marks by which a line is a heading.
func marksOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, "#*"))] }

// asks reports whether a line asks something.
func asks(line string) bool {
	for s := range sentences(plain(line)) {
		if isQuestion(s) {
			return true
		}
	}
	return false
}

// isQuestion reports whether a sentence asks something: marks alone, as of a status, do not.
func isQuestion(s string) bool {
	before, ok := strings.CutSuffix(s, "?")
	return ok && before != "" && strings.IndexByte("?` ", before[len(before)-1]) < 0 || strings.HasSuffix(s, "？")
}

// isEntry reports whether a line is one of a list or a table.
func isEntry(line string) bool {
	_, item := listItem(line)
	number, _ := entryNumber(line)
	return item || number != "" || line[0] == '|'
}

// block is the question, a line of lines, with what stands beside it: all of it, the long entries shortened where there
// is little room. Of more entries than there is room for in any size the last are counted.
func block(lines []saying, question int) string {
	ask := lastAsked(plain(lines[question].text))
	room := maxAsked - utf8.RuneCountInString(ask)
	size, _ := fitting(slices.Concat(lines[:question], lines[question+1:]), room, beside)
	return onOneLine(lines, func(i int) (told string, ok bool) {
		switch {
		case i == question:
			return ask, true
		case isApart(lines[i].text):
			return asHeading(lines[i].text), true
		}
		told = beside(lines[i].text, size)
		room -= utf8.RuneCountInString(told)
		return told, room >= 0
	})
}

// offer is a text that a person takes up without having been asked, as with "let's go with the cheaper one": all of it
// but code, with long entries shortened. It is empty where it is too long for that.
func offer(text string) string {
	lines, _ := sayings(text)
	size, fits := fitting(lines, maxAsked, taken)
	if !fits || size < minOffered || len(lines) == 0 {
		return ""
	}
	return onOneLine(lines, func(i int) (told string, ok bool) {
		if isApart(lines[i].text) {
			return asHeading(lines[i].text), true
		}
		return taken(lines[i].text, size), true
	})
}

// taken is a line of an offer, in so many characters where it is an entry.
func taken(line string, size int) string {
	if isEntry(line) {
		return beside(line, size)
	}
	return shortened(plain(line), max(size, maxOption/2))
}

// fitting is the size of an entry, in characters, in which lines fit into so many as tell tells them; they may not fit
// in any.
func fitting(lines []saying, room int, tell func(line string, size int) string) (size int, fits bool) {
	for _, size = range entrySizes {
		n := 0
		for _, l := range lines {
			if !isApart(l.text) {
				n += utf8.RuneCountInString(tell(l.text, size))
			}
		}
		if n <= room {
			return size, true
		}
	}
	return size, false
}

// onOneLine are lines on one line, as tell tells each. Those that it does not are counted, and gaps are marked.
func onOneLine(lines []saying, tell func(i int) (told string, ok bool)) string {
	var b strings.Builder
	more := 0
	count := func() {
		if more > 0 {
			fmt.Fprintf(&b, "; [%d"+moreEntries, more)
		}
		more = 0
	}
	for i, l := range lines {
		told, ok := tell(i)
		if !ok {
			more++
			continue
		}
		count()
		switch {
		case b.Len() == 0:
		case !l.follows(lines[i-1]):
			b.WriteString(leftOutHere + " ")
		case isEntry(l.text) && isEntry(lines[i-1].text) && !strings.HasSuffix(b.String(), ":"):
			b.WriteString("; ")
		default:
			b.WriteString(" ")
		}
		b.WriteString(told)
	}
	count()
	return b.String()
}

// isApart reports whether a line is a heading that is no entry.
func isApart(line string) bool { return isHeading(line) && !isEntry(line) }

// moreEntries ends the mark that counts the entries that are left out.
const moreEntries = " more]"

// beside is a line that stands beside a question, in so many characters: an entry, or of a long line its last sentence.
func beside(line string, size int) string {
	told := plain(line)
	if strings.HasPrefix(line, "|") {
		told = strings.Trim(strings.ReplaceAll(told, " | ", ", "), "| ")
	} else if bare, item := listItem(line); item && clip.Digits(line) == 0 {
		told = plain(bare)
	}
	if !isEntry(line) && utf8.RuneCountInString(told) > maxOption {
		last := ""
		for last = range sentences(told) { // that stands beside the question
		}
		told = strings.TrimSpace(leftOutHere) + " " + last
	}
	return shortened(told, size)
}

// lastAsked is a line, or of a long one its last question with the sentence before it.
func lastAsked(line string) string {
	if utf8.RuneCountInString(line) <= maxAsked/2 {
		return line
	}
	before, ask := "", ""
	for s := range sentences(line) {
		if isQuestion(s) {
			ask = strings.TrimSpace(before + " " + s)
		}
		before = s
	}
	return strings.TrimSpace(leftOutHere) + " " + shortened(ask, maxAsked)
}
