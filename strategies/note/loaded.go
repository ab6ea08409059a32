package note

import (
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
// be read again, and what it forbids, word for word.

// loaded is what a skill or a later message of the system says.
type loaded struct {
	n     int    // the number of the message of a person that it followed
	what  string // the name of the skill, or systemWho
	place string // its file, or its folder; of a message its id
	says  []string
}

const (
	headLoaded = "## What skills and later messages of the system say"
	skillWho   = "skill "
	systemWho  = "message of the system"
	fromMark   = " from "
	inMark     = ", message "
	saysMark   = ": "

	maxLoaded    = 6   // that are told
	maxForbidden = 6   // sentences of one
	maxSays      = 200 // of a sentence, in characters
	maxCondition = 40  // that a line begins with, in bytes
	// They may cost loadedShare in hundredths of the budget, and littleShare where that is at most minLoaded tokens.
	loadedShare = 5
	littleShare = 25
	minLoaded   = 200
)

// loadedRoom is what they may cost in a note of so many tokens.
func loadedRoom(budget int) int {
	return max(budget*loadedShare/100, min(budget*littleShare/100, minLoaded))
}

// forbiddingWords are how rules say what must not be done.
var forbiddingWords = newVocabulary("forbidding")

// loads are the skills and messages of the system of a session that go, the last of each.
type loads struct {
	list  []loaded
	reads map[string]string // files of skills that are being read, by the call
}

// message takes a message that no person wrote, and goes, in turn n.
func (l *loads) message(m *abi.Message, n int) {
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		delete(l.reads, c.ID)
		if file := skillFile(c.Arguments); file != "" {
			if l.reads == nil {
				l.reads = make(map[string]string)
			}
			l.reads[c.ID] = file
		}
	}
	switch {
	case m.Role == abi.RoleTool:
		file, ok := l.reads[m.ToolCallID]
		if _, text, begins := strings.Cut(m.Text(), "---\n"); ok && begins {
			if front, body, ended := strings.Cut(text, "\n---\n"); ended && strings.Contains("\n"+front, "\ndescription:") {
				l.add(loaded{n, skillWho + path.Base(path.Dir(file)), file, forbidden(body)})
			}
		}
	case m.Role == abi.RoleUser && m.Kind == abi.KindMeta:
		if rest, ok := strings.CutPrefix(m.Text(), skillHead); ok {
			folder, body, _ := strings.Cut(rest, "\n")
			folder = strings.TrimSpace(folder)
			l.add(loaded{n, skillWho + path.Base(folder), folder, forbidden(body)})
		}
	case m.Role == abi.RoleSystem && m.Kind == "" && n > 0:
		said := forbidden(m.Text())
		if len(said) == 0 {
			said = []string{shortened(clip.OneLine(clip.Chars(m.Text(), 4*maxSays)), maxSays)}
		}
		l.add(loaded{n, systemWho, m.ID, said})
	}
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

// forbidden are the sentences of a text that say what must not be done, with what they stand under.
func forbidden(text string) (list []string) {
	lines, _ := sayings(text)
	for _, l := range lines {
		if isHeading(l.text) || isCode(l.text) || len(list) == maxForbidden {
			continue
		}
		bare, item := listItem(l.text)
		above := headingOf(lines, l, true)
		if item && above != "" && forbiddingWords.says(above+" ") {
			list = append(list, shortened(strings.TrimSuffix(above, leftOutHere)+" "+plain(bare), maxSays))
			continue
		}
		where := condition(plain(bare))
		for s := range sentences(plain(bare)) {
			if forbids(s) && !isQuestion(s) && !strings.HasSuffix(s, ":") && len(list) < maxForbidden {
				if where != "" && !strings.HasPrefix(s, where) {
					s = where + leftOutHere + " " + s
				}
				list = append(list, shortened(s, maxSays))
			}
		}
	}
	return list
}

// condition is what all of a line holds for, where it begins with that: "In Claude Code:".
func condition(line string) string {
	lead, _, ok := strings.Cut(line, ": ")
	if !ok || len(lead) > maxCondition || strings.ContainsAny(lead, ".!?") {
		return ""
	}
	return lead + ":"
}

// forbids reports whether a sentence says what must not be done, and not what need not be: "you don't need it".
func forbids(s string) bool {
	return forbiddingWords.in(needless.ReplaceAllString(strings.ToLower(s), "") + " ")
}

// needless are words that forbid, where they do not.
var needless = regexp.MustCompile(`(do not|don't|don’t) (need|have|want|worry|hesitate|mind|know|think|like|understand|believe|exist|work)`)

// head is the line on what was loaded, and where it can be read.
func (l *loaded) head() string {
	mark := fromMark
	if l.what == systemWho {
		mark = inMark
	}
	return fmt.Sprintf("[%d] %s%s%s", l.n, l.what, mark, l.place)
}

// loaded are the lines on what was loaded that fit: what and from where of all, then what they say, the newest first.
func (p *parts) loaded(l *loads, budget int) (lines []string) {
	budget -= p.count(headLoaded) + 1
	told, from := make([][]string, len(l.list)), len(l.list)
	for from > 0 {
		n := p.count("- "+l.list[from-1].head()) + 1
		if n > budget {
			break
		}
		budget -= n
		from--
	}
	for i := len(l.list) - 1; i >= from; i-- {
		for _, s := range l.list[i].says {
			n := p.count(moreLine+"- "+s) + 1
			if n > budget {
				break
			}
			budget -= n
			told[i] = append(told[i], moreLine+"- "+s)
		}
	}
	for i := from; i < len(l.list); i++ {
		head := "- " + l.list[i].head()
		if len(told[i]) > 0 {
			head += strings.TrimSpace(saysMark)
		}
		lines = append(append(lines, head), told[i]...)
	}
	if len(lines) > 0 {
		lines = slices.Concat([]string{headLoaded}, lines)
	}
	return lines
}

// line reads a line of the note back.
func (l *loads) line(line string) {
	if s, ok := strings.CutPrefix(line, moreLine+"- "); ok {
		if k := len(l.list) - 1; k >= 0 {
			l.list[k].says = append(l.list[k].says, s)
		}
		return
	}
	number, rest, ok := strings.Cut(strings.TrimPrefix(line, "- ["), "] ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return
	}
	for _, mark := range []string{fromMark, inMark} {
		if what, place, ok := strings.Cut(strings.TrimSuffix(rest, strings.TrimSpace(saysMark)), mark); ok {
			l.add(loaded{n: n, what: what, place: place})
			return
		}
	}
}
