package note

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// A skill that an agent loaded and a message of the system that came later than the first bind what follows, as the
// instructions of a project do, and they go with the rest. So the note says what was loaded and from where, for it to
// be read again, and what it forbids and demands, word for word.

// loaded is what a skill or a later message of the system says.
type loaded struct {
	n     int      // the number of the message of a person that it followed
	what  string   // the name of the skill, or systemWho
	place string   // its file, or its folder; of a message its id
	part  string   // the lines of the file that were read, "1-260"; empty where all were
	says  []string // its rules, see instructed.go
	left  int      // rules of it that are not among them
}

const (
	headLoaded = "## What skills and later messages of the system say"
	skillWho   = "skill "
	systemWho  = "message of the system"
	fromMark   = " from "
	inMark     = ", message "
	aboutMark  = "description:"
	partMark   = " (read of it: lines "
	leftRules  = " more of its rules are left out here]"

	maxLoaded = 6 // that are told
	// They may cost loadedShare in hundredths of the budget, and littleShare where that is at most minLoaded tokens.
	loadedShare = 8
	littleShare = 30
	minLoaded   = 500
)

// loadedRoom is what they may cost in a note of so many tokens.
func loadedRoom(budget int) int {
	return max(budget*loadedShare/100, min(budget*littleShare/100, minLoaded))
}

// loads are the skills and messages of the system of a session that go, the last of each.
type loads struct {
	list  []loaded
	reads map[string]reading // files of skills that are being read, by the call
}

// message takes a message that no person wrote, and goes, in turn n.
func (l *loads) message(m *abi.Message, n int) {
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		delete(l.reads, c.ID)
		if file := skillFile(c.Arguments); file != "" {
			if l.reads == nil {
				l.reads = make(map[string]reading)
			}
			l.reads[c.ID] = readingOf(file, c.Arguments)
		}
	}
	switch {
	case m.Role == abi.RoleTool:
		r, ok := l.reads[m.ToolCallID]
		if _, text, begins := strings.Cut(m.Text(), "---\n"); ok && begins {
			front, body, ended := strings.Cut(text, "\n---\n")
			if _, about, described := strings.Cut("\n"+front, "\n"+aboutMark); ended && described {
				one := loadedOf(n, skillWho+path.Base(path.Dir(r.file)), r.file, r.part("---\n"+text), body)
				one.says = slices.Insert(one.says, 0, aboutSkill(about))
				l.add(one)
			}
		}
	case m.Role == abi.RoleUser && m.Kind == abi.KindMeta:
		if rest, ok := strings.CutPrefix(m.Text(), skillHead); ok {
			folder, body, _ := strings.Cut(rest, "\n")
			folder = strings.TrimSpace(folder)
			l.add(loadedOf(n, skillWho+path.Base(folder), folder, "", body))
		}
	case m.Role == abi.RoleSystem && m.Kind == "" && n > 0:
		one := loadedOf(n, systemWho, m.ID, "", m.Text())
		if len(one.says) == 0 {
			one.says = []string{shortened(clip.OneLine(clip.Chars(m.Text(), 4*maxSays)), maxSays)}
		}
		l.add(one)
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

// loadedOf is what a text says that was loaded in turn n.
func loadedOf(n int, what, place, part, text string) loaded {
	says, left := instructed(text)
	return loaded{n, what, place, part, says, left}
}

// reading is a call that reads the file of a skill.
type reading struct {
	file     string
	from, to int // lines, where it asks for some of them
}

var (
	linesOfSed  = regexp.MustCompile(`\bsed -n ['"\\]*(\d+),(\d+)p`)
	linesOfHead = regexp.MustCompile(`\bhead -n? ?(\d+) `)
)

// readingOf is a call with such arguments, which reads a file.
func readingOf(file, args string) reading {
	r := reading{file: file}
	var asked struct{ Offset, Limit int }
	if m := linesOfSed.FindAllStringSubmatch(args, -1); len(m) == 1 {
		r.from, r.to = number(m[0][1]), number(m[0][2])
	} else if m := linesOfHead.FindAllStringSubmatch(args, -1); len(m) == 1 {
		r.from, r.to = 1, number(m[0][1])
	} else if json.Unmarshal([]byte(args), &asked) == nil && asked.Limit > 0 {
		r.from = max(asked.Offset, 1)
		r.to = r.from + asked.Limit - 1
	}
	return r
}

// number is what digits say; 0 where it is too much.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// part are the lines that were read where the file may have more of them: as many as the call asked for.
func (r *reading) part(text string) string {
	if n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; r.to == 0 || n < r.to-r.from+1 {
		return ""
	}
	return fmt.Sprintf("%d-%d", r.from, r.to)
}

const (
	skillHead = "Base directory for this skill: "
	skillName = "SKILL.md"
)

// skillFile is the file of a skill that the arguments of a call name, if they name one that agents load: it lies
// below a hidden folder, as their settings do. One that lies among the sources of a project is what the work is
// about.
func skillFile(args string) string {
	before, _, ok := strings.Cut(args, "/"+skillName)
	folder := before[strings.LastIndexAny(before, " \"'=(")+1:]
	if !ok || !strings.Contains("/"+folder, "/.") {
		return ""
	}
	return folder + "/" + skillName
}

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
	mark, part := fromMark, ""
	if l.what == systemWho {
		mark = inMark
	}
	if l.part != "" {
		part = partMark + l.part + ")"
	}
	return fmt.Sprintf("[%d] %s%s%s%s", l.n, l.what, mark, l.place, part)
}

// loaded are the lines on what was loaded that fit: what and from where of all, then what they forbid, the newest
// first, and then what else they say.
func (p *parts) loaded(l *loads, budget int) (lines []string) {
	budget -= p.count(headLoaded) + 1
	told, from := make([][]bool, len(l.list)), len(l.list)
	for from > 0 {
		n := p.count("- "+l.list[from-1].head()) + 1
		if len(l.list[from-1].says) > 0 {
			n += p.count(leftLine(maxInstructed)) + 1
		}
		if n > budget {
			break
		}
		budget -= n
		from--
	}
	for _, all := range []bool{false, true} {
		for i := len(l.list) - 1; i >= from; i-- {
			if told[i] == nil {
				told[i] = make([]bool, len(l.list[i].says))
			}
			for k, s := range l.list[i].says {
				if n := p.count(moreLine+"- "+s) + 1; !told[i][k] && n <= budget && (all || forbids(s)) {
					budget, told[i][k] = budget-n, true
				}
			}
		}
	}
	for i := from; i < len(l.list); i++ {
		lines = append(lines, l.list[i].lines(told[i])...)
	}
	if len(lines) > 0 {
		lines = slices.Concat([]string{headLoaded}, lines)
	}
	return lines
}

// lines are the lines on what was loaded, with the rules that are told.
func (l *loaded) lines(told []bool) []string {
	lines, left := []string{"- " + l.head()}, l.left
	for k, s := range l.says {
		if told[k] {
			lines = append(lines, moreLine+"- "+s)
		} else {
			left++
		}
	}
	if len(lines) > 1 {
		lines[0] += ":"
	}
	if left > 0 {
		lines = append(lines, leftLine(left))
	}
	return lines
}

// leftLine says how many rules are left out.
func leftLine(n int) string { return fmt.Sprintf("%s- [%d%s", moreLine, n, leftRules) }

// line reads a line of the note back.
func (l *loads) line(line string) {
	if s, ok := strings.CutPrefix(line, moreLine+"- "); ok {
		if k := len(l.list) - 1; k >= 0 {
			l.list[k].read(s)
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
			place, part, _ := strings.Cut(place, partMark)
			l.add(loaded{n: n, what: what, place: place, part: strings.TrimSuffix(part, ")")})
			return
		}
	}
}

// read takes a rule back, or how many are left out.
func (l *loaded) read(said string) {
	if n, ok := strings.CutSuffix(strings.TrimPrefix(said, "["), leftRules); ok {
		l.left, _ = strconv.Atoi(n)
		return
	}
	l.says = append(l.says, said)
}
