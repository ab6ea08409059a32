package note

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Of what an agent says the thread has what it ended a turn with: what it came to, and what it asks. Where a short
// answer follows, what it asks is told with the options beside it: a "yes" says nothing without them.

const (
	maxSaid     = 220  // of the closing words of an agent, in characters
	maxFuller   = 700  // of those where a note has room left
	maxWritten  = 3000 // of those that are told as they were written
	maxQuestion = 160  // of a question that they end with
)

// closing are the words with which an agent ends a turn: how they begin, or what it found where that stands further
// down, and the question that they end with, with the sentence before it: what the agent came to stands there. What
// is left out between is marked.
func closing(text string) string { return closingIn(maxSaid, text, findings) }

// fullerClosing is more of them, for a note that has room left: what decides may stand behind how they begin.
func fullerClosing(text string) string { return closingIn(maxFuller, text, findings) }

// writtenClosing are their lines as they were written, for a note that has much room left: a plan or a table says
// little in one line, and code nothing.
func writtenClosing(text string) string { return asWritten(text, maxWritten) }

// asWritten are the lines of an agent's words in about so many characters.
func asWritten(text string, runes int) string {
	return strings.TrimPrefix(lastWordsOf(text, runes), agentMark)
}

// closingIn are closing words in so many characters, and a question. Found are the findings of a text.
func closingIn(most int, text string, found func(text string) []finding) string {
	if greets(text) {
		return ""
	}
	all, places := sayings(text)
	c := closingWords{quotation: quotation{lines: all, most: most, last: -1, told: make(map[int]bool)}, places: places,
		list: lists.Filter(all, func(l saying) bool { return !isHeading(l.text) && !isCode(l.text) })}
	c.left, c.isLeft = leftToDo(all)
	c.begin()
	c.find(text, found)
	if c.isLeft {
		c.leave()
	}
	c.ask(text)
	return c.said
}

// closingWords are closing words as they come to be told, one stage after the other.
type closingWords struct {
	quotation
	places int      // of the text
	list   []saying // its lines but for headings and code
	left   leftList
	isLeft bool    // a list of what is left to do is there
	found  finding // what the agent found, where that is told in the place of how the words begin
}

// begin tells how the words begin.
func (c *closingWords) begin() {
	first, begins := -1, true // the place that the words begin at, and whether nothing stands before them
	for _, l := range c.list {
		if c.isLeft && l.place >= c.left.from {
			break
		}
		bare, item := listItem(l.text)
		if bare = plain(bare); c.said == "" {
			rest := telling(bare)
			if begins = begins && rest == bare; rest == "" {
				c.told[l.place] = true // it says nothing
			}
			bare, first = rest, l.place
		}
		if bare != "" && utf8.RuneCountInString(c.said)-c.rows < c.most/2 && !c.add(l, bare, item) {
			break
		}
	}
	if c.said == "" && len(c.list) > 0 && !c.isLeft {
		l := c.list[len(c.list)-1]
		last, _ := listItem(l.text)
		c.said, c.last, first = plain(last), l.place, l.place
		begins = len(c.list) == 1
	}
	if !begins || c.skips(first) {
		c.said = goingOn(c.said)
	}
	c.said = shortened(c.said, c.most+c.rows)
	if c.last >= 0 && c.last+1 < c.places {
		c.said = marked(c.said)
	}
}

// find tells what the agent found in the place of how the words begin, where that stands further down.
func (c *closingWords) find(text string, found func(text string) []finding) {
	if !strings.HasSuffix(c.said, leftOutHere) {
		return
	}
	end := c.places
	if c.isLeft {
		end = c.left.from
	}
	f, l, ok := firstFinding(found(text), c.lines, end)
	if !ok || strings.Contains(c.said, f.text) {
		return
	}
	if c.most > maxSaid { // there is room for both
		c.further(f, l)
		return
	}
	c.found, c.last = f, l.place
	if c.said = marked(f.String()); !strings.HasPrefix(plain(text), clip.First(f.text, maxBefore)) {
		c.said = goingOn(c.said)
	}
}

// further tells what the agent found behind how the words begin. The last line may ask something before it: that
// stands as it is told there.
func (c *closingWords) further(f finding, l saying) {
	if l.place <= c.last || l.place == c.places-1 {
		return
	}
	before, _ := c.pointedAt(saying{l.place, l.under, f.text})
	c.said, c.last = marked(c.said+" "+f.behind(before)), l.place
}

// backward is how a sentence begins that says little without the one before it.
var backward = lazy.Regexp(`^(But|However|This|These|That|Those|Such|Both|So|Therefore|Thus|Instead|Otherwise|` +
	`The (others?|latter|former|same))\b`)

// pointedAt is the sentence before another one that says little without it, in short and with a blank behind it, where
// that is not told yet; and the place at which what is told begins.
func (c *closingWords) pointedAt(sentence saying) (text string, from saying) {
	if !backward().MatchString(sentence.text) {
		return "", sentence
	}
	var last saying
	for _, l := range c.list {
		bare, _ := listItem(l.text)
		for s := range sentences(plain(bare)) {
			switch {
			case l.place != sentence.place || s != sentence.text:
			case last.text == "" || strings.Contains(c.said, clip.First(last.text, maxBefore)):
				return "", sentence
			default:
				text = shortened(last.text, maxSaid) + " "
				if l.place > last.place+1 && !strings.HasSuffix(text, leftOutHere+" ") { // a heading, or code
					text += strings.TrimSpace(leftOutHere) + " "
				}
				return text, last
			}
			last = saying{l.place, l.under, s}
		}
	}
	return "", sentence
}

// leave tells what is left to do.
func (c *closingWords) leave() {
	gap := c.last+1 != c.left.from
	c.said = strings.TrimSpace(joined(strings.TrimSuffix(c.said, leftOutHere), c.left.told, gap, false))
	c.last, c.told[c.left.from] = c.left.to, true
	if c.said = strings.TrimSuffix(c.said, leftOutHere); c.last+1 < c.places {
		c.said = marked(c.said)
	}
}

// ask tells the question that the words end with, and the sentence before it, or what stands behind what is left to do.
func (c *closingWords) ask(text string) {
	result, question, gap := question(c.list)
	switch {
	case question == "":
		if last, ok := c.left.behind(c.list); c.isLeft && ok {
			if last.place == c.left.to+1 {
				c.said = strings.TrimSuffix(c.said, leftOutHere)
			}
			bare, _ := listItem(last.text)
			c.said += " " + c.untold(last) + shortened(plain(bare), maxQuestion)
		}
	case strings.Contains(c.said, question):
	case c.found.text != "" && before(text, question, c.found.text):
		found := strings.TrimPrefix(strings.TrimPrefix(c.said, strings.TrimSpace(leftOutHere)+" "), c.found.under+" ")
		c.said = goingOn(marked(shortened(question, maxQuestion)) + " " + found)
	default:
		if result.text != "" && result.place >= c.last && !strings.Contains(c.said, result.text) {
			if i := strings.Index(c.said, clip.First(result.text, maxBefore)); i >= 0 { // it was cut there
				c.said = strings.TrimSpace(c.said[:i])
			}
			before, from := c.pointedAt(result)
			c.said += " " + c.untold(from) + before + shortened(result.text, maxQuestion)
			if gap {
				c.said = marked(c.said)
			}
		}
		c.said += " " + shortened(question, maxQuestion)
	}
}

// goingOn is what is told with a mark that something stands before it.
func goingOn(said string) string {
	gap := strings.TrimSpace(leftOutHere) + " "
	return gap + strings.TrimPrefix(said, gap)
}

// maxLookedFor is how many findings are looked for in the lines of a text: a long one may be full of them.
const maxLookedFor = 20

// firstFinding is the first of the findings of a text in which an agent says what it found, before a place, and its
// line. One that only says that something failed is none: beside what else came of a turn that is no summary of it.
func firstFinding(all []finding, lines []saying, end int) (f finding, line saying, ok bool) {
	list := lists.Filter(all, func(f finding) bool { return saysFinding(f.text) })
	for _, f := range list[:min(len(list), maxLookedFor)] {
		for _, l := range lines {
			if l.place >= end {
				break
			}
			if strings.Contains(plain(l.text), f.text) {
				return f, l, true
			}
		}
	}
	return f, line, false
}

// before reports whether one sentence of a text stands before another one.
func before(text, one, other string) bool {
	flat := clip.OneLine(plain(text))
	i, k := strings.Index(flat, clip.OneLine(one)), strings.Index(flat, clip.OneLine(other))
	return i >= 0 && i < k
}

// quotation is what is told of a text, line by line.
type quotation struct {
	lines []saying // of the text
	most  int      // how much of it is told, in characters
	said  string
	last  int          // the place of the last line that is told
	told  map[int]bool // the places of those that are
	rows  int          // how much of it are small tables, in characters
}

// skips reports whether more than headings that say nothing stands before a place and is not told.
func (q *quotation) skips(place int) bool {
	n := 0
	for _, l := range q.lines {
		if l.place < place && (q.told[l.place] || isHeading(l.text) && isGeneral(l.text)) {
			n++
		}
	}
	return n < place
}

// add tells a line that says so much, with what it stands under. It reports whether there was room for both.
func (q *quotation) add(l saying, bare string, item bool) bool {
	before := *q
	for _, h := range headings(q.lines, l) {
		if !q.told[h.place] && !isGeneral(h.text) {
			q.put(h, asHeading(h.text), false)
		}
	}
	if before.said != "" && utf8.RuneCountInString(q.said)-q.rows > q.most-minFinding && q.last != before.last {
		*q = before
		return false
	}
	q.put(l, bare, item)
	return true
}

// put tells a line. Where it is not the first entry of a list that is told, what is left out before it is marked.
func (q *quotation) put(l saying, text string, item bool) {
	i := slices.IndexFunc(q.lines, func(o saying) bool { return o.place == l.place })
	if q.said == "" && item && i > 0 && isEntry(q.lines[i-1].text) {
		text = strings.TrimSpace(leftOutHere) + " " + text
	}
	heads := slices.ContainsFunc(q.lines, func(o saying) bool { return o.under == l.place })
	if heads && item && utf8.RuneCountInString(text) <= maxHeading {
		text = asHeading(l.text)
	}
	behind := slices.ContainsFunc(q.lines, func(o saying) bool { return o.place == q.last && o.place == l.under })
	q.said, q.told[l.place] = joined(q.said, text, q.last >= 0 && l.place != q.last+1, item && !behind && !heads), true
	q.last = l.place
	q.table(i + 1)
}

// maxTable is how long a table is, in characters, that is told whole with what it stands behind.
const maxTable = 160

// table tells a small table that begins with line i: who said "here is what I found:" said it there.
func (q *quotation) table(i int) {
	end := i
	for end > 0 && end < len(q.lines) && q.lines[end].text[0] == '|' && q.lines[end].follows(q.lines[end-1]) {
		end++
	}
	if end-i < 2 || !strings.HasSuffix(plain(q.lines[i-1].text), ":") {
		return
	}
	rows := strings.Join(lists.Map(q.lines[i:end], func(l saying) string { return beside(l.text, maxTable) }), "; ")
	if n := utf8.RuneCountInString(rows); n <= maxTable {
		q.said, q.rows, q.last = q.said+" "+rows, q.rows+n, q.lines[end-1].place
	}
}

// untold is what a sentence of a line stands under and is not told, for it to stand before that.
func (q *quotation) untold(l saying) string {
	begins := slices.ContainsFunc(q.lines, func(o saying) bool {
		return o.place == l.place && strings.HasPrefix(plain(o.text), l.text)
	})
	text, place := "", -1
	for _, h := range append(headings(q.lines, l), l) {
		if text != "" && (h.place != place+1 || h.place == l.place && !begins) {
			text += strings.TrimSpace(leftOutHere) + " "
		}
		if h.place != l.place && !q.told[h.place] && !isGeneral(h.text) {
			text += asHeading(h.text) + " "
			q.told[h.place], place = true, h.place
		}
	}
	return text
}

// question is what the last line asks, and the last sentence before it that is no entry of a
// list; gap says that something stands between them.
func question(list []saying) (result saying, question string, gap bool) {
	at, of := 0, 0 // places of sentences
	for i, l := range list {
		if i > 0 && !l.follows(list[i-1]) {
			at++
		}
		bare, item := listItem(l.text)
		question = ""
		for s := range sentences(plain(bare)) {
			if at++; isQuestion(s) {
				question, gap = s, at > of+1
			} else if question == "" && !item && strings.HasSuffix(s, ".") {
				result, of = saying{l.place, l.under, s}, at
			}
		}
	}
	return result, question, gap
}

// isCode reports whether a line is one of a table, or of code.
func isCode(line string) bool {
	bare, item := listItem(line)
	if bare = plain(bare); bare == "" || item {
		return bare == ""
	}
	return strings.IndexByte("|<{-", bare[0]) >= 0 || strings.Count(bare, "`") == 2 && bare == "`"+strings.Trim(bare, "`")+
		"`"
}

// marked is what was said with a mark at its end that more was.
func marked(said string) string { return strings.TrimSuffix(said, leftOutHere) + leftOutHere }

// telling is a line without what an agent begins with that says nothing: praise of up to
// four words, "Great question!", and what it is about to look at, "Let me check:".
func telling(line string) string {
	for s := range sentences(line) {
		if !isPraise(s) && !strings.HasPrefix(s, "Let me ") && !strings.HasPrefix(s, "Now let me ") {
			return line[strings.Index(line, s):]
		}
	}
	return ""
}

// isPraise reports whether all sentences of a line are praise, or say yes alone.
func isPraise(line string) bool {
	for s := range sentences(line) {
		if !(strings.HasSuffix(s, "!") && strings.Count(s, " ") < 4) && s != "Exactly." && s != "Yes." && s != "Sure." {
			return false
		}
	}
	return true
}

// leftOutHere marks what is left out of a line.
const leftOutHere = " [...]"

// joined adds a line to what was said. A gap is marked.
func joined(said, line string, gap, item bool) string {
	switch {
	case said == "":
		return line
	case gap:
		return said + leftOutHere + " " + line
	case item && !strings.HasSuffix(said, ":"):
		return said + "; " + line
	}
	return said + " " + line
}

// isHeading reports whether a line is one: marked as such, or short and all of it bold.
func isHeading(line string) bool {
	if line[0] == '#' {
		return true
	}
	bold := strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimRight(line, ":"), "**")
	if !bold || len(line) >= 60 {
		return false
	}
	said := plain(strings.TrimRight(line, ":"))
	if entry, ok := listItem(said); ok { // a number before it ends no sentence
		said = entry
	}
	return strings.IndexByte(".?!", lastByte(said)) < 0 && !strings.Contains(said, ". ") &&
		!strings.ContainsAny(said, "?!")
}

// lastByte is the last byte of a text, 0 where it is empty.
func lastByte(text string) byte {
	if text == "" {
		return 0
	}
	return text[len(text)-1]
}

// shortened is a line in at most so many characters, and a mark where words are left
// out.
func shortened(line string, runes int) string {
	if short := clip.First(line, runes); len(short) < len(line) {
		return strings.TrimSpace(short) + leftOutHere
	}
	return line
}

// plain is a line without the marks of emphasis around words.
func plain(line string) string {
	line = strings.Trim(line, "#* ")
	if strings.IndexByte(line, '*') >= 0 {
		line = strings.ReplaceAll(line, "**", "")
	}
	return strings.TrimSpace(line)
}
