package note

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
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
	part  string   // the lines of the file that were read, "1-260"; empty where all were
	later bool     // the agent changed the file after it read it
	says  []string // its rules, see instructed.go
	left  int      // rules of it that are not among them
	rest  int      // its other lines
}

const (
	headLoaded  = "## What skills, files of rules and later messages of the system say"
	skillWho    = "skill "
	systemWho   = "message of the system"
	commandWho  = "command "
	fromMark    = " from "
	inMark      = ", message "
	aboutMark   = "description:"
	beginsMark  = "It begins:"
	askedMark   = "What was asked for:"
	partMark    = " (read of it: lines "
	partEnd     = " alone; what else stands in it is not known)"
	laterMark   = " (changed after it was read)"
	leftRules   = " more of its rules"
	leftBesides = " more of its lines"
	leftEnd     = " left out here"

	maxLoaded = 8 // that are told
	// They may cost loadedShare in hundredths of the budget, and littleShare where that is at most minLoaded tokens.
	loadedShare = 8
	littleShare = 30
	fewShare    = 3 // of a small budget, for the files of a project
	minLoaded   = 500
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
}

// hears takes what a person said, or the command of the harness that they gave alone.
func (l *loads) hears(m *abi.Message) {
	if m.Role != abi.RoleUser || m.Kind != "" {
		return
	}
	if l.words = m.Words(); l.words == "" {
		l.words, _ = inside(m.Text(), "<command-name>", "</command-name>")
	}
}

// message takes a message that no person wrote, and goes, in turn n.
func (l *loads) message(m *abi.Message, n int) {
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		delete(l.reads, c.ID)
		if r, ok := readingOf(c); ok {
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
	about := ""
	if r.skill {
		one.what = skillWho + path.Base(path.Dir(r.file))
		if _, rest, begins := strings.Cut(text, "---\n"); begins && !r.behind() {
			front, body, ended := strings.Cut(rest, "\n---\n")
			_, about, begins = strings.Cut("\n"+front, "\n"+aboutMark)
			if !ended || !begins {
				return
			}
			one.part, text = r.part("---\n"+rest), body
		}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	switch {
	case r.skill && about == "" && !r.behind() || line == "" || toolcall.IsFailure(line):
		return
	case about == "":
		one.part = r.part(text)
	}
	one = l.said(one, text)
	if about != "" {
		one.says = slices.Insert(one.says, 0, aboutSkill(about))
	}
	l.join(one, r.behind())
}

// join takes a file of rules, or a part of one: where that goes on behind what was read before, they are one.
func (l *loads) join(one loaded, behind bool) {
	i := slices.IndexFunc(l.list, func(o loaded) bool { return o.place == one.place })
	if i >= 0 && behind {
		before := l.list[i]
		part, ok := together(before.part, one.part)
		if !ok {
			return
		}
		one.part, one.left, one.rest = part, before.left+one.left, before.rest+one.rest
		one.says = slices.Concat(before.says, one.says)
	}
	one.part = strings.TrimSuffix(one.part, toEnd)
	l.add(one)
}

// changed notes that files were changed: what was read of one was so before.
func (l *loads) changed(files []string) {
	for i := range l.list {
		l.list[i].later = l.list[i].later || slices.Contains(files, l.list[i].place)
	}
}

// aboutSkill is what the file of a skill says it is for, and when, in its first sentence.
func aboutSkill(about string) string {
	about, _, _ = strings.Cut(about, "\n")
	for s := range sentences(strings.Trim(strings.TrimSpace(about), `"'`)) {
		return aboutMark + " " + shortened(s, maxSays)
	}
	return aboutMark
}

// said is what was loaded with what its text says.
func (l *loads) said(one loaded, text string) loaded {
	one.says, one.left, one.rest = instructed(text, ruled[one.what])
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
		one.says = slices.Insert(one.says, 0, beginsMark+" "+begins)
	}
	return one
}

const skillHead = "Base directory for this skill: "

// folder is where it stands, whether its file is known or its folder alone.
func (l *loaded) folder() string { return strings.TrimSuffix(l.place, "/"+skillName) }

// add takes one more. What was loaded before from the same place is not told twice.
func (l *loads) add(one loaded) {
	l.list = slices.DeleteFunc(l.list, func(o loaded) bool { return o.what == one.what && o.folder() == one.folder() })
	l.list = append(l.list, one)
	l.list = l.list[max(0, len(l.list)-maxLoaded):]
}

// head is the line on what was loaded, and where it can be read.
func (l *loaded) head() string {
	mark, more := fromMark, ""
	if l.isMessage() {
		mark = inMark
	}
	if l.part != "" {
		more = partMark + l.part + partEnd
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

// first reports whether a line on what was loaded comes before its rules.
func first(s string) bool { return strings.HasPrefix(s, askedMark) }

// loaded are the lines on what was loaded that fit: what and from where of all, then what a person asked for, then what
// they forbid, the newest first, and then what else they say. Files is what those of a project may cost.
func (p *parts) loaded(l *loads, budget, files int) (lines []string) {
	budget -= p.count(headLoaded) + 1
	told, from := make([][]bool, len(l.list)), len(l.list)
	for from > 0 {
		n := p.count("- "+l.list[from-1].head()) + p.count(leftLine(maxInstructed, maxInstructed)) + 2
		if n > budget {
			break
		}
		budget -= n
		from--
	}
	for _, wanted := range []func(string) bool{first, forbids, func(string) bool { return true }} {
		for i := len(l.list) - 1; i >= from; i-- {
			if told[i] == nil {
				told[i] = make([]bool, len(l.list[i].says))
			}
			for k, s := range l.list[i].says {
				n := p.count(moreLine+"- "+s) + 1
				if !told[i][k] && n <= budget && wanted(s) {
					if ruled[l.list[i].what] {
						if n > files {
							continue
						}
						files -= n
					}
					budget, told[i][k] = budget-n, true
				}
			}
		}
	}
	for i := from; i < len(l.list); i++ {
		if one := &l.list[i]; slices.Contains(told[i], true) || one.what != systemWho || !one.bare() {
			lines = append(lines, one.lines(told[i])...)
		}
	}
	if len(lines) > 0 {
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
		case !strings.HasPrefix(s, beginsMark) && !strings.HasPrefix(s, aboutMark) && !first(s):
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
		left = append(left, strconv.Itoa(rest)+leftBesides)
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
			l.add(loaded{n: n, what: what, place: place, part: strings.TrimSuffix(part, partEnd), later: later})
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
