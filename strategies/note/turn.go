package note

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// turn is a message of a person and what came of it.
type turn struct {
	n     int    // its number, over all compactions
	id    string // of the message
	words string // of the person, word for word; empty where the message itself stays
	stays string // where the message stays, as the note says it; empty where it went
	came  []string
	said  string // the closing words of the agent
	// folded is how many turns an earlier note left out in the place of this one,
	// which ends with number n.
	folded int
	// cut: an earlier note shortened the words.
	cut bool
}

// thread builds turns while the messages of a session go by.
type thread struct {
	turns   []turn
	harness outcome.Harness
	work    *work.Work
	closing string // what the agent said last in the turn
	asked   string // all of that message, for answers by number
	command string // a command that an agent runs by writing it down
	silent  bool   // nothing of the turn went
	calls   bool   // the session has calls: nothing runs by being written down
	goesOn  bool   // a part of the turn stays
	taken   bool   // the last turn is of an earlier note
	files   shortNames
}

func newThread(h outcome.Harness, modified []string) *thread {
	return &thread{harness: h, work: work.New(h), silent: true, files: newShortNames(modified)}
}

// shortNames count the files that have the same name in different folders.
type shortNames map[string]int

func newShortNames(paths []string) shortNames {
	s := make(shortNames)
	for _, p := range paths {
		s[path.Base(p)]++
	}
	return s
}

// of is the name of a file without its folder, where no other has that name: the
// list of files has the whole path.
func (s shortNames) of(file string) string {
	if base := path.Base(file); s[base] == 1 {
		return base
	}
	return file
}

// person begins a turn. Where the message stays, where says so.
func (t *thread) person(m *abi.Message, where string) {
	asked := t.asked
	t.end()
	next, k := turn{n: 1, id: m.ID, stays: where}, len(t.turns)
	if k > 0 {
		next.n = t.turns[k-1].n + 1
		if last := t.turns[k-1]; t.taken && last.stays == staysBelow { // the note speaks of this one
			last.id, last.stays = m.ID, where
			next = last
			next.came = slices.DeleteFunc(next.came, func(s string) bool { return s == goesOn })
			t.turns = t.turns[:k-1]
		}
	}
	t.taken = false
	if where == "" {
		next.words = m.Words()
	}
	if option := chosen(m.Words(), asked); option != "" {
		next.came = append(next.came, "That was: "+option)
	}
	t.turns = append(t.turns, next)
	t.silent = where != ""
}

// message takes what no person wrote, and went.
func (t *thread) message(m *abi.Message, origin abi.Origin) {
	switch {
	case m.Role == abi.RoleTool:
		t.work.Result(m)
		if _, words, ok := strings.Cut(m.Text(), toldInstead); ok {
			t.add("The person said: " + shortened(strings.Join(strings.Fields(words), " "), maxTold))
		}
	case m.Role == abi.RoleAssistant:
		t.closing = ""
		if text := strings.TrimSpace(m.Text()); len(m.ToolCalls) == 0 && text != "" {
			t.closing, t.asked = text, text
		}
		for i := range m.ToolCalls {
			t.work.Call(&m.ToolCalls[i])
		}
		t.command = ""
		if len(m.ToolCalls) == 0 {
			t.command = lastBlock(m.Text())
		}
	case origin == abi.FromInterruption:
		t.add("The person interrupted it here.")
	case origin == abi.FromCommand && t.command != "" && !t.calls:
		t.work.Ran(t.command, m)
		t.command = ""
	default:
		return
	}
	t.silent = false
}

// stays takes what no person wrote, and stays.
func (t *thread) stays(m *abi.Message) {
	if m.Role == abi.RoleAssistant && !t.silent {
		t.goesOn = true
	}
}

// add adds a line to the turn that goes on.
func (t *thread) add(line string) {
	if len(t.turns) == 0 {
		t.turns = append(t.turns, turn{})
	}
	last := &t.turns[len(t.turns)-1]
	last.came = slices.DeleteFunc(last.came, func(s string) bool { return s == goesOn })
	last.came = append(last.came[max(0, len(last.came)-maxCame):], line)
}

// end closes the turn that goes on.
func (t *thread) end() {
	for _, line := range t.work.Lines(t.files.of) {
		t.add(line)
	}
	switch said := closing(t.closing); {
	case t.goesOn:
		t.add(goesOn)
	case said != "" && len(t.turns) == 0:
		t.turns = append(t.turns, turn{said: said})
	case said != "":
		t.turns[len(t.turns)-1].said = said
	}
	if k := len(t.turns) - 1; k >= 0 && t.silent && t.turns[k].stays != "" && !t.taken {
		t.turns = t.turns[:k] // all of it stays
	}
	t.work, t.closing, t.asked, t.command, t.silent, t.goesOn = t.work.Next(), "", "", "", true, false
}

// maxCame is how many lines on a turn are carried through a chain of compactions,
// beside the one that is added.
const maxCame = 15

// goesOn says of a turn that a part of it stays.
const goesOn = "It goes on below."

// toldInstead stands before the words of a person in the result of a call that they
// did not allow.
const toldInstead = "To tell you how to proceed, the user said:\n"

// maxTold is how much of such words is kept, in characters.
const maxTold = 1200

// lastBlock is the last block of code that a text ends with.
func lastBlock(text string) string {
	text = strings.TrimSpace(text)
	body, ok := strings.CutSuffix(text, fence)
	if !ok {
		return ""
	}
	i := strings.LastIndex(body, fence)
	if i < 0 {
		return ""
	}
	_, code, _ := strings.Cut(body[i+len(fence):], "\n")
	return strings.TrimSpace(code)
}

const (
	maxSaid     = 220 // of the closing words of an agent, in characters
	maxQuestion = 160 // of a question that they end with
)

// closing are the words with which an agent ends a turn: how they begin, and the
// question that they end with. What is left out between is marked.
func closing(text string) string {
	said, last := "", ""
	gap, fenced, more := false, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, fence) {
			fenced = !fenced
		}
		bare, item := listItem(line)
		bare = plain(bare)
		switch {
		case line == "" || bare == "":
			continue
		case fenced, isHeading(line), strings.IndexByte("|<{-`", bare[0]) >= 0:
			gap = gap || said != ""
			continue
		}
		last = bare
		if more = more || utf8.RuneCountInString(said) >= maxSaid/2; more {
			continue
		}
		said, gap = joined(said, bare, gap, item), false
	}
	said = shortened(said, maxSaid)
	if (more || gap) && !strings.HasSuffix(said, leftOutHere) {
		said += leftOutHere
	}
	question := ""
	for s := range sentences(last) {
		if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") {
			question = s
		}
	}
	if question != "" && !strings.Contains(said, question) {
		said += " " + shortened(question, maxQuestion)
	}
	return said
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
	bold := strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimRight(line, ":"), "**")
	return line[0] == '#' || bold && len(line) < 60 && !strings.ContainsAny(line, ".?!")
}

// shortened is a line in at most so many characters, and a mark where words are left
// out.
func shortened(line string, runes int) string {
	if short := wholeWords(line, runes); len(short) < len(line) {
		return strings.TrimSpace(short) + leftOutHere
	}
	return line
}

// plain is a line without the marks of emphasis around words.
func plain(line string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.Trim(line, "#* "), "**", ""))
}

// chosen are the entries of a list that a short answer names by their numbers: "2" or
// "1+3".
func chosen(answer, list string) string {
	if strings.Trim(answer, "0123456789 +,&/.)!\n") != "" || len(answer) > maxChoice || list == "" {
		return ""
	}
	var options []string
	for _, number := range strings.FieldsFunc(answer, func(r rune) bool { return r < '0' || r > '9' }) {
		option := ""
		for line := range unfenced(list) {
			bare := plain(line)
			rest, ok := strings.CutPrefix(bare, number)
			if ok && rest != "" && strings.IndexByte(".):", rest[0]) >= 0 && (len(rest) == 1 || rest[1] == ' ') {
				option = shortened(bare, maxQuestion)
			}
		}
		if option != "" && !slices.Contains(options, option) {
			options = append(options, option)
		}
	}
	return strings.Join(options, " / ")
}

// maxChoice is how long an answer is at most, in bytes, that is a choice.
const maxChoice = 20

// repeated folds what a person said again later in the same words: the last one
// stands. What came of the earlier one stays.
func repeated(turns []turn) {
	last := make(map[string]int, len(turns))
	for i := range turns {
		last[turns[i].words] = i
	}
	for i := range turns {
		t := &turns[i]
		again := last[t.words]
		if again == i || len(t.words) < minRepeated {
			continue
		}
		t.said = ""
		t.came = slices.DeleteFunc(t.came, func(s string) bool { return strings.HasPrefix(s, besides) })
		if len(t.came) == 0 {
			t.words, t.folded = "", 1
		} else {
			t.words = fmt.Sprintf("[... said again in [%d] ...]", turns[again].n)
		}
	}
}

// minRepeated is how long words are, in bytes, that nobody says twice by chance.
const minRepeated = 40
