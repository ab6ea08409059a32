package note

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// turn is a message of a person and what came of it.
type turn struct {
	n     int    // its number, over all compactions
	id    string // of the message
	words string // of the person, word for word; empty where the message itself stays
	stays string // where the message stays, as the note says it; empty where it went
	opens string // how the words of a message that stays below begin
	again int    // the number of the turn in which the same words stand
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
	silent  bool   // nothing of the turn went
	goesOn  bool   // a part of the turn stays
	taken   bool   // the last turn is of an earlier note
	n       int    // the number of the last message of a person
	waits   *turn  // of an earlier note, whose message is still to come
	files   shortNames
	steps   []step // what was said and done last, see state.go
	changes changes
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
	asked, words := t.asked, m.Words()
	t.end()
	t.n++
	next := turn{n: t.n, id: m.ID, stays: where}
	if p := t.waits; p != nil && p.opensWith(words) {
		next, t.waits = *p, nil
		next.id, next.stays, next.opens = m.ID, where, ""
		next.n, t.n = max(p.n, t.n), max(p.n, t.n)
		next.came = slices.DeleteFunc(next.came, func(s string) bool { return s == goesOn })
	}
	switch where {
	case "":
		next.words = words
	case staysBelow:
		next.opens = opening(words)
	}
	if line := refersTo(words, asked); line != "" && !slices.Contains(next.came, line) {
		next.came = append(next.came, line)
	}
	t.turns, t.taken = append(t.turns, next), false
	t.silent = where != ""
}

// opening is how words begin that stand elsewhere, for a reader to find them by.
func opening(words string) string {
	words = strings.ReplaceAll(clip.OneLine(clip.Chars(words, 4*maxOpening)), `"`, "'")
	if short := strings.TrimSpace(wholeWords(words, maxOpening)); len(short) < len(words) {
		return short + cutMark
	}
	return words
}

const (
	maxOpening = 60 // of how a message begins, in characters
	cutMark    = "…"
)

// opensWith reports whether words are those of a message that an earlier note left where
// it was.
func (t *turn) opensWith(words string) bool { return t.opens == "" || t.opens == opening(words) }

// message takes what no person wrote, and went.
func (t *thread) message(m *abi.Message, origin abi.Origin) {
	switch {
	case m.Role == abi.RoleTool:
		t.did(t.work.Result(m))
	case m.Role == abi.RoleAssistant:
		t.agent(m)
	case origin == abi.FromInterruption:
		t.add("The person interrupted it here.")
	default:
		return
	}
	t.silent = false
}

// noAnswer is what a harness has an agent say to a command of its own.
const noAnswer = "No response requested."

// agent takes what an agent said and called.
func (t *thread) agent(m *abi.Message) {
	text := strings.TrimSpace(m.Text())
	if text == noAnswer {
		return
	}
	t.closing = ""
	if len(m.ToolCalls) == 0 && text != "" {
		t.closing, t.asked = text, text
	}
	for i := range m.ToolCalls {
		t.work.Call(&m.ToolCalls[i])
	}
	if text != "" {
		t.step(step{said: clip.Chars(text, maxWords)})
	}
}

// did takes a call as it is told alone.
func (t *thread) did(s work.Step) {
	t.changes.take(s, t.files.of)
	if s.Text != "" {
		t.step(step{did: s.Text, looked: s.Looked})
	}
}

// step adds a step to those of the turn.
func (t *thread) step(s step) {
	s.turn = t.n
	t.steps = append(t.steps[max(0, len(t.steps)+1-maxSteps):], s)
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
	if last.came = append(last.came, line); len(last.came) > maxCame {
		last.came = fewer(last.came)
	}
}

// fewer are the lines of a turn without the first that tells no deed, or else without the
// first: one line counts those that went.
func fewer(came []string) []string {
	n := 0
	if rest, ok := strings.CutSuffix(came[0], goneMark); ok {
		n, _ = strconv.Atoi(rest)
		came = came[1:]
	}
	i := max(0, slices.IndexFunc(came, func(s string) bool { return !isDeed(s) }))
	return slices.Concat([]string{strconv.Itoa(n+1) + goneMark}, came[:i], came[i+1:])
}

// goneMark ends the line that counts lines that went.
const goneMark = " more lines on this are left out"

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
	if k := len(t.turns) - 1; k >= 0 && t.silent && !t.taken && t.turns[k].stays != "" && len(t.turns[k].came) == 0 {
		t.turns = t.turns[:k] // all of it stays
	}
	t.work, t.closing, t.asked, t.silent, t.goesOn = t.work.Next(), "", "", true, false
}

// finish closes the thread.
func (t *thread) finish() []turn {
	t.end()
	if t.waits != nil {
		t.turns, t.waits = append(t.turns, *t.waits), nil
	}
	repeated(t.turns)
	return t.turns
}

// maxCame is how many lines on a turn are carried through a chain of compactions.
const maxCame = 16

// goesOn says of a turn that a part of it stays.
const goesOn = "It goes on below."

const (
	maxSaid     = 220 // of the closing words of an agent, in characters
	maxQuestion = 160 // of a question that they end with
)

// closing are the words with which an agent ends a turn: how they begin, and the
// question that they end with, with the sentence before it: what the agent came to stands
// there. What is left out between is marked.
func closing(text string) string {
	said, last, result, question := "", "", "", ""
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
		question = ""
		for s := range sentences(bare) {
			if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") {
				question = s
			} else if question == "" && !item && strings.HasSuffix(s, ".") {
				result = s
			}
		}
		last = bare
		if said == "" {
			if bare = finding(bare); bare == "" {
				continue
			}
		}
		if more = more || utf8.RuneCountInString(said) >= maxSaid/2; more {
			continue
		}
		said, gap = joined(said, bare, gap, item), false
	}
	if said == "" {
		said = last
	}
	said = shortened(said, maxSaid)
	if (more || gap) && !strings.HasSuffix(said, leftOutHere) {
		said += leftOutHere
	}
	if question != "" && !strings.Contains(said, question) {
		if result != "" && !strings.Contains(said, result) {
			said += " " + shortened(result, maxQuestion)
		}
		said += " " + shortened(question, maxQuestion)
	}
	return said
}

// finding is a line without what an agent begins with that says nothing: praise of up to
// four words, "Great question!", and what it is about to look at, "Let me check:".
func finding(line string) string {
	for s := range sentences(line) {
		praise := strings.HasSuffix(s, "!") && strings.Count(s, " ") < 4 || s == "Exactly." || s == "Yes." || s == "Sure."
		if !praise && !strings.HasPrefix(s, "Let me ") {
			return line[strings.Index(line, s):]
		}
	}
	return ""
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
