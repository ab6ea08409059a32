package note

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/lower"
)

// What stands under a heading says something else without it: of a flight out and a flight back the numbers of one
// are taken for those of the other, and of a list of what is forbidden each entry reads as a wish. So where a part of a
// text is told, what it stands under is told with it: headings, lines that end with a colon above a list, and entries
// with others below them.

// Levels of what other lines stand under: a heading of markdown has its own, 1 to 6.
const (
	levelBold  = 7 // a line that is all bold
	levelColon = 8 // a line that ends with a colon
	levelTable = 9 // the first row of a table
	levelEntry = 10
)

// opened is a line that others stand under, as long as none of its level or above follows.
type opened struct{ level, place int }

// outline finds what lines stand under while they go by, in order.
type outline struct {
	opened []opened
	row    bool // the line before is one of a table
	colon  int  // the place of the line before where it ends with a colon, else -1
	code   bool // a block of code goes on: a comment in it is no heading
}

// above is the place of the line that the next one stands under where it opens nothing; -1 where there is none.
func (o *outline) above() int {
	if n := len(o.opened); n > 0 {
		return o.opened[n-1].place
	}
	return -1
}

// under takes the next line, with the white space before it, and returns the place of the one that it stands under; -1
// where it stands under none.
func (o *outline) under(raw, line string, place int) int {
	fence := isFence(line)
	if o.code && !fence {
		o.row, o.colon = false, -1
		return o.above()
	}
	o.code = o.code != fence
	indent := 0
	for _, r := range raw[:len(raw)-len(strings.TrimLeft(raw, " \t"))] {
		if indent++; r == '\t' {
			indent += 3
		}
	}
	_, item := listItem(line)
	level, opens, behind := 0, false, o.colon == place-1 && place > 0
	row := line[0] == '|'
	switch {
	case line[0] == '#' && isHeading(line):
		level, opens = min(len(line)-len(strings.TrimLeft(line, "#")), levelBold-1), true
	case item:
		level, opens = levelEntry+2*indent, true
		if line[0] < '0' || line[0] > '9' {
			level++ // below a number, wherever it begins
		}
	case isHeading(line):
		level, opens = levelBold, true
	case row && o.row:
		level = levelTable + 1
	case row:
		level, opens = levelTable, true
	case indent > 0:
		level = levelEntry + 2*indent
	case behind:
		level = levelTable
	default:
		level, opens = levelColon, strings.HasSuffix(plain(line), ":")
	}
	for n := len(o.opened); n > 0 && o.opened[n-1].level >= level; n-- {
		o.opened = o.opened[:n-1]
	}
	above := o.above()
	if opens {
		o.opened = append(o.opened, opened{level, place})
	}
	if o.row, o.colon = row, -1; opens && level == levelColon {
		o.colon = place
	}
	return above
}

// headings are the lines that a line of a text stands under, outermost first. The lines of the text are in order.
func headings(lines []saying, of saying) (list []saying) {
	for of.under >= 0 {
		i, ok := slices.BinarySearchFunc(lines, of.under, func(l saying, place int) int {
			return cmp.Compare(l.place, place)
		})
		if !ok {
			break
		}
		of = lines[i]
		list = append(list, of)
	}
	slices.Reverse(list)
	return list
}

// headingOf is the innermost line that a line of a text stands under, as it stands before that, with a mark where
// something is left out between them. It is empty where there is none that says something.
func headingOf(lines []saying, of saying, first bool) string {
	list := headings(lines, of)
	if len(list) == 0 || isGeneral(list[len(list)-1].text) {
		return ""
	}
	last := list[len(list)-1]
	if !first || !of.follows(last) {
		return asHeading(last.text) + leftOutHere
	}
	return asHeading(last.text)
}

// asHeading is a line as it stands before what it is the heading of, on one line with that. Of a long one its last
// sentence is told.
func asHeading(line string) string {
	bare, _ := listItem(line)
	if bare, _ = listItem(plain(bare)); strings.HasPrefix(bare, "|") {
		bare = strings.Trim(strings.ReplaceAll(bare, " | ", ", "), "| ")
	}
	if utf8.RuneCountInString(bare) > maxHeading {
		last := bare
		for last = range sentences(bare) { // that stands above what follows
		}
		if bare = shortened(last, maxHeading); len(last) < len(line) {
			bare = strings.TrimSpace(leftOutHere) + " " + bare
		}
	}
	if bare == "" || strings.IndexByte(".:!?", bare[len(bare)-1]) >= 0 || strings.HasSuffix(bare, leftOutHere) {
		return bare
	}
	return "**" + bare + "**"
}

// maxHeading is how much of a heading is told, in characters.
const maxHeading = 100

// Headings that say nothing of what stands under them, and those that say that it is to be done.
var (
	general = newWordSet("general")
	wishes  = newWordSet("wishes")
)

// isGeneral reports whether a heading says nothing of what stands under it.
func isGeneral(line string) bool { return general.has(bareHeading(line)) }

// bareHeading is a heading in lower case without its marks.
func bareHeading(line string) string {
	bare, _ := listItem(line)
	return lower.Text(strings.Trim(plain(bare), ":. "))
}
