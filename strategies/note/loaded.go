package note

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// A skill that an agent loaded and a message of the system that came later than the first bind what follows, as the
// instructions of a project do, and they go with the rest; so do files of rules that the agent read. So the note says
// what was loaded and from where, for it to be read again, what it forbids and demands, word for word, and how much
// else it says.

// loaded is what a skill, a file of rules or a later message of the system says.
type loaded struct {
	n     int      // the number of the message of a person that it followed
	what  string   // the name of the skill or of the file, systemWho, or the command of a person
	place string   // its file, or its folder; of a message its id
	parts pieces   // the lines of the file that were read; none where all were
	later bool     // the agent changed the file after it read it
	says  []string // its rules, see instructed.go
	left  int      // rules of it that are not among them
	rest  int      // its other lines
}

const (
	headLoaded  = "## What skills, files of rules, documents that persons named and later messages of the system say"
	wasLoaded   = "## What skills, files of rules and later messages of the system say" // in earlier versions
	skillWho    = "skill "
	systemWho   = "message of the system"
	commandWho  = "command "
	fromMark    = " from "
	inMark      = ", message "
	aboutMark   = "description:"
	toolsMark   = "allowed-tools:"
	beginsMark  = "It begins:"
	askedMark   = "What was asked for:"
	partMark    = " (read of it: lines "
	partEnd     = " alone; what else stands in it is not known)"
	laterMark   = " (changed after it was read)"
	leftRules   = " more of its rules"
	leftBesides = " more of its lines"
	ofText      = " of text" // behind that: headings count not
	leftEnd     = " left out here"
	// othersLine says what lines may hold of which it is told how many are left out.
	othersLine = "Lines left out may hold more rules."

	maxLoaded = 8 // that are told
	// They may cost loadedShare in hundredths of the budget, and littleShare where that is at most minLoaded tokens.
	loadedShare = 8
	littleShare = 50
	fewShare    = 3 // of a small budget, for the files of a project
	minLoaded   = 480
)

// loadedRoom is what they may cost in a note of so many tokens, and of that the files of a project: these can be read
// again by their names, and many harnesses show them by themselves.
func loadedRoom(budget int) (all, files int) {
	files = budget * mix(budget, smallBudget, largeBudget, fewShare, loadedShare) / 100
	return max(budget*loadedShare/100, min(budget*littleShare/100, minLoaded)), files
}

// loads are the skills, files of rules and messages of the system of a session that go, the last of each.
type loads struct {
	list  []loaded
	reads map[string]reading // files of rules that are being read, by the call
	words string             // of a person, last
	named map[string]bool    // documents that persons named for what they say to be done
	lists []rule             // what has to hold by these, word for word
	// modified are the files that calls change: what an agent writes itself does not bind it.
	modified []string
	// memory has what was read off calls and texts before; it may be nil.
	memory *Memory
}

// hears takes what a person said, or the command of the harness that they gave alone.
func (l *loads) hears(m *abi.Message) {
	if m.Role != abi.RoleUser || m.Kind != "" {
		return
	}
	if l.words = m.Words(); l.words != "" {
		l.names(l.words)
	} else {
		l.words, _ = inside(m.Text(), "<command-name>", "</command-name>")
	}
}

// names remembers the documents that words of a person name who wants done what they say.
func (l *loads) names(words string) {
	if !strings.Contains(words, ".md") && !strings.Contains(words, ".txt") && !strings.Contains(words, ".rst") ||
		!carryingOut.says(words) && !criteriaWords.says(words) && !bindsByName.says(words) {
		return
	}
	for word := range strings.FieldsSeq(clip.Head(words, maxNaming)) {
		name := path.Base(strings.Trim(word, "@`'\"()[]<>,;:.!?*"))
		if slices.Contains(documents, path.Ext(name)) && len(l.named) < maxNamed {
			if l.named == nil {
				l.named = make(map[string]bool)
			}
			l.named[name] = true
		}
	}
}

// carryingOut are how people ask for what a document says to be done: others are named to be looked at, or replaced.
var carryingOut = newVocabulary("carrying out")

// bindsByName are how people say that a document binds.
var bindsByName = newVocabulary("binding by name")

// documents are the ends of the names of files in which people write what is to be done.
var documents = []string{".md", ".txt", ".rst"}

const (
	maxNaming = 16 << 10 // of the words of a person that are searched for documents, in bytes
	maxNamed  = 50       // documents that are remembered
)

// readingOf is a call that reads a file of rules, or a document that a person named.
func (l *loads) readingOf(c *abi.ToolCall) (r reading, ok bool) {
	if r, ok = l.memory.readingOf(c); ok || len(l.named) == 0 {
		return r, ok
	}
	for name := range l.named {
		if strings.Contains(c.Arguments, name) {
			r, ok = readingIn(c, shownFile(c, l.named, l.memory), false)
			own := func(file string) bool { return action.SameFile(file, r.file) }
			return r, ok && !slices.ContainsFunc(l.modified, own)
		}
	}
	return r, false
}

// message takes a message that no person wrote, and goes, in turn n.
func (l *loads) message(m *abi.Message, n int) {
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		delete(l.reads, c.ID)
		if r, ok := l.readingOf(c); ok {
			if l.reads == nil {
				l.reads = make(map[string]reading)
			}
			l.reads[c.ID] = r
		}
	}
	switch {
	case m.Role == abi.RoleTool:
		if r, ok := l.reads[m.ToolCallID]; ok && !m.IsError {
			l.read(&r, shown(m.Text()), n)
		}
	case m.Role == abi.RoleUser && m.Kind == abi.KindMeta:
		if rest, ok := strings.CutPrefix(m.Text(), skillHead); ok {
			folder, body, _ := strings.Cut(rest, "\n")
			folder = strings.TrimSpace(folder)
			l.add(l.said(loaded{n: n, what: skillWho + path.Base(folder), place: folder}, body))
		} else if called := strings.Fields(l.words); len(called) > 0 && called[0][0] == '/' && isCall(called[0]) &&
			!strings.HasPrefix(m.Text(), "<") {
			l.words = ""
			l.add(l.begun(loaded{n: n, what: commandWho + called[0], place: m.ID}, m.Text()))
		}
	case m.Role == abi.RoleSystem && m.Kind == "" && n > 0:
		l.add(l.begun(loaded{n: n, what: systemWho, place: m.ID}, m.Text()))
	}
}

// read takes what a file of rules says, or a part of one. Of a skill it says at its beginning what it is.
func (l *loads) read(r *reading, text string, n int) {
	one := loaded{n: n, what: path.Base(r.file), place: r.file}
	about, tools := "", ""
	if r.skill {
		one.what = skillWho + path.Base(path.Dir(r.file))
		if _, rest, begins := strings.Cut(text, "---\n"); begins && r.first() == 1 {
			text = "---\n" + rest
		}
	}
	lines, known := r.lines(text), pieces(nil)
	i := slices.IndexFunc(l.list, one.isOf)
	part := lines.from > 1 || !lines.ends
	if i >= 0 && l.list[i].later && lines.from <= l.list[i].parts.first() {
		i = -1 // it was changed, and is read again from there on: what it said before holds no longer
	}
	switch {
	case part && i >= 0 && l.list[i].parts.whole():
		return // a part of what is known
	case part && i >= 0:
		known = l.list[i].parts
		fallthrough
	case part:
		one.parts = known.with(lines)
	}
	if len(one.parts) > maxPieces {
		return
	}
	if text = known.unread(text, lines.from); r.skill && lines.from == 1 && !known.has(1) {
		front, body, ended := strings.Cut(text, "\n---\n")
		_, said, begins := strings.Cut("\n"+front, "\n"+aboutMark)
		if !ended || !begins {
			return
		}
		about, tools, text = said, toolsOf(front), body
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" || toolcall.IsFailure(line) {
		return
	}
	if l.named[one.what] {
		text = l.listed(r.file, text, n)
	}
	one = l.said(one, text)
	if about != "" {
		one.says = slices.Insert(one.says, 0, aboutSkill(about))
	}
	if tools != "" {
		one.says = append(one.says, tools)
	}
	if len(known) > 0 {
		one.joins(&l.list[i], lines.from < known[0].from)
	}
	l.add(one)
}

// listed takes the criteria out of a document that a person named: they stand with those that persons write
// themselves. It returns what else the document says. Boxes alone are steps of a plan, and a very long list is none of
// what has to hold.
func (l *loads) listed(file, text string, n int) string {
	entries, rest := criteria(text, false)
	if len(entries) > maxCriteria {
		return text
	}
	l.lists = append(l.lists, under(fmt.Sprintf(headCriteria, file), entries, n)...)
	return rest
}

const (
	// headCriteria stands above the criteria of a file.
	headCriteria = "What has to hold by %s, as it was read"
	maxCriteria  = 40 // entries of one document
)

// isOf reports whether two are of one skill, or of one file.
func (l *loaded) isOf(o loaded) bool { return l.what == o.what && l.folder() == o.folder() }

// joins takes what other lines of the file say that were read before. Above: what is read now stands above them.
func (l *loaded) joins(before *loaded, above bool) {
	first, second := before.says, l.says
	if above {
		first, second = second, first
	}
	says := slices.Clone(first)
	for _, s := range second {
		if !slices.Contains(says, s) {
			says = append(says, s)
		}
	}
	l.says, l.left, l.rest, l.later = says, before.left+l.left, before.rest+l.rest, before.later
	if l.parts.whole() {
		l.parts = nil
	}
}

// changed notes that files were changed: what was read of one was so before.
func (l *loads) changed(files []string) {
	for i := range l.list {
		one := &l.list[i]
		one.later = one.later || !one.isMessage() && slices.ContainsFunc(files, one.isFile)
	}
}

// isFile reports whether it is a file of this path.
func (l *loaded) isFile(file string) bool {
	if strings.HasPrefix(l.what, skillWho) {
		return action.SameFile(file, l.folder()+"/"+skillName)
	}
	return action.SameFile(file, l.place)
}

// aboutSkill is what the file of a skill says it is for, and when, in its first sentence.
func aboutSkill(about string) string {
	about, _, _ = strings.Cut(about, "\n")
	for s := range sentences(strings.Trim(strings.TrimSpace(about), `"'`)) {
		return aboutMark + " " + shortened(s, maxSays)
	}
	return aboutMark
}

// toolsOf are the tools that the head of a skill says may be used, empty where it says nothing of them.
func toolsOf(front string) string {
	_, list, ok := strings.Cut("\n"+front, "\n"+toolsMark)
	if !ok {
		return ""
	}
	said := instructions{group: -1}
	for line := range strings.Lines(list) {
		entry, item := listItem(strings.TrimSpace(line))
		if !item && len(said.list) > 0 || !item && strings.HasSuffix(entry, ":") {
			break
		}
		if entry = strings.Trim(entry, "\"' "); entry != "" {
			said.entry(0, toolsMark, entry)
		}
	}
	return strings.Join(said.list, "")
}

// said is what was loaded with what its text says.
func (l *loads) said(one loaded, text string) loaded {
	project := ruled[one.what] || slices.Contains(documents, path.Ext(one.what))
	one.says, one.left, one.rest = l.memory.instructed(text, project, agentOf(one.place))
	name := one.what[strings.LastIndexByte(one.what, ' ')+1:]
	if s := askedFor(text, l.words, name); s != "" {
		one.says = slices.Insert(one.says, 0, askedMark+" "+s)
	}
	return one
}

// begun is a message that was loaded: where it says no rules, or says what a person asked for, it tells how it begins.
func (l *loads) begun(one loaded, text string) loaded {
	one = l.said(one, text)
	if len(one.says) == 0 || one.what != systemWho {
		begins := shortened(clip.OneLine(clip.Chars(text, 4*maxSays)), maxSays)
		if len(one.says) == 0 && !strings.Contains(begins, leftOutHere) {
			one.rest = 0 // that is all of it
		}
		one.says = slices.Insert(one.says, 0, beginsMark+" "+begins)
	}
	return one
}

const skillHead = "Base directory for this skill: "

// folder is where it stands, whether its file is known or its folder alone.
func (l *loaded) folder() string { return strings.TrimSuffix(l.place, "/"+skillName) }

// add takes one more. What was loaded before from the same place is not told twice.
func (l *loads) add(one loaded) {
	l.list = slices.DeleteFunc(l.list, one.isOf)
	l.list = append(l.list, one)
	l.list = l.list[max(0, len(l.list)-maxLoaded):]
}

// head is the line on what was loaded, and where it can be read.
func (l *loaded) head() string {
	mark, more := fromMark, ""
	if l.isMessage() {
		mark = inMark
	}
	if len(l.parts) > 0 {
		more = partMark + l.parts.String() + partEnd
	}
	if l.later {
		more += laterMark
	}
	return fmt.Sprintf("[%d] %s%s%s%s", l.n, l.what, mark, l.place, more)
}

// isMessage reports whether it is a message, and no file.
func (l *loaded) isMessage() bool {
	return l.what == systemWho || strings.HasPrefix(l.what, commandWho)
}

// first reports whether a line on what was loaded comes before its rules: what a person asked for, and how a message of
// the system begins that says none.
func (l *loaded) first(s string) bool {
	return strings.HasPrefix(s, askedMark) || l.what == systemWho && l.bare()
}

// entry is a line on what was loaded, by its place.
type entry struct{ of, at, worth int }

// ranked are the lines on what was loaded from a place on, what counts most first: see strength.go. Of those that count
// the same it is the last one that was loaded, and its first.
func (l *loads) ranked(from int, e *enforcing) (list []entry) {
	for i := len(l.list) - 1; i >= from; i-- {
		one := &l.list[i]
		for k, s := range one.says {
			said := entry{i, k, math.MaxInt}
			switch isRule := !strings.HasPrefix(s, aboutMark) && !strings.HasPrefix(s, beginsMark); {
			case one.first(s):
			case isRule:
				said.worth = e.worth(s)
			default:
				said.worth = -1
			}
			list = append(list, said)
		}
	}
	lists.SortStable(list, func(x, y entry) int { return cmp.Compare(y.worth, x.worth) })
	return list
}

// loaded are the lines on what was loaded that fit: what and from where of all, and then what they say, by its worth.
// Files is what those of a project may cost.
func (p *parts) loaded(l *loads, e *enforcing, budget, files int) (lines []string) {
	budget -= p.count(headLoaded) + 1
	others := p.count(othersLine) + 1
	if others > budget/10 {
		others = 0 // rules take all the room there is
	}
	budget -= others
	told, from := make([][]bool, len(l.list)), len(l.list)
	for from > 0 {
		n := p.count("- "+l.list[from-1].head()) + p.count(leftLine(maxInstructed, maxInstructed)) + 2
		if n > budget || from < len(l.list) && n > budget/2 { // a file without any of its rules says little
			break
		}
		budget -= n
		from--
	}
	rules := make([]int, len(l.list)) // that are told of each
	for i := from; i < len(l.list); i++ {
		told[i] = make([]bool, len(l.list[i].says))
	}
	for _, said := range l.ranked(from, e) {
		one := &l.list[said.of]
		n, isRule := p.count(moreLine+"- "+one.says[said.at])+1, said.worth >= 0
		if n > budget || isRule && rules[said.of] == maxInstructed || ruled[one.what] && n > files {
			continue
		}
		if ruled[one.what] {
			files -= n
		}
		if isRule {
			rules[said.of]++
		}
		budget, told[said.of][said.at] = budget-n, true
	}
	rest := 0
	for i := from; i < len(l.list); i++ {
		one := &l.list[i]
		lines = append(lines, one.lines(told[i])...)
		rest += one.rest
	}
	switch {
	case rest > 0 && others > 0:
		lines = slices.Concat([]string{headLoaded, othersLine}, lines)
	case len(lines) > 0:
		lines = slices.Concat([]string{headLoaded}, lines)
	}
	return lines
}

// bare reports whether it says no rules.
func (l *loaded) bare() bool {
	return l.left == 0 && !slices.ContainsFunc(l.says, func(s string) bool { return !strings.HasPrefix(s, beginsMark) })
}

// lines are the lines on what was loaded, with the rules that are told.
func (l *loaded) lines(told []bool) []string {
	lines, left := []string{"- " + l.head()}, l.left
	for k, s := range l.says {
		switch {
		case told[k]:
			lines = append(lines, moreLine+"- "+s)
		case !strings.HasPrefix(s, beginsMark) && !strings.HasPrefix(s, aboutMark) && !l.first(s):
			left++
		}
	}
	if left+l.rest > 0 {
		lines = append(lines, leftLine(left, l.rest))
	}
	if len(lines) > 1 {
		lines[0] += ":"
	}
	return lines
}

// leftLine says how many rules are left out, and how many other lines.
func leftLine(rules, rest int) string {
	var left []string
	if rules > 0 {
		left = append(left, strconv.Itoa(rules)+leftRules)
	}
	if rest > 0 {
		left = append(left, strconv.Itoa(rest)+leftBesides+ofText)
	}
	verb := " are"
	if rules+rest == 1 {
		verb = " is"
	}
	return moreLine + "- [" + strings.Join(left, " and ") + verb + leftEnd + "]"
}

// line reads a line of the note back.
func (l *loads) line(line string) {
	if s, ok := strings.CutPrefix(line, moreLine+"- "); ok {
		if k := len(l.list) - 1; k >= 0 {
			l.list[k].take(s)
		}
		return
	}
	number, rest, ok := strings.Cut(strings.TrimPrefix(line, "- ["), "] ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return
	}
	for _, mark := range []string{fromMark, inMark} {
		if what, place, ok := strings.Cut(strings.TrimSuffix(rest, ":"), mark); ok {
			place, later := strings.CutSuffix(place, laterMark)
			place, part, _ := strings.Cut(place, partMark)
			l.add(loaded{n: n, what: what, place: place, parts: readPieces(strings.TrimSuffix(part, partEnd)), later: later})
			return
		}
	}
}

// take takes a rule back, or how much is left out.
func (l *loaded) take(said string) {
	inner, ok := strings.CutSuffix(said, leftEnd+"]")
	if inner, begins := strings.CutPrefix(inner, "["); ok && begins {
		for part := range strings.SplitSeq(inner, " and ") {
			digits, what, _ := strings.Cut(part, " ")
			switch n := number(digits); {
			case strings.HasPrefix(" "+what, leftRules):
				l.left = n
			case strings.HasPrefix(" "+what, leftBesides):
				l.rest = n
			}
		}
		return
	}
	l.says = append(l.says, said)
}
