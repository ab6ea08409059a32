package note

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
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
	// refuted: the person answered that these are wrong.
	refuted bool
	// fuller is more of them, for a note that has room left; empty where there is no more.
	fuller string
	// lines are still more of them, as they were written, for one that has much room left; empty where fuller is all.
	lines string
	// folded is how many turns an earlier note left out in the place of this one,
	// which ends with number n.
	folded int
	// cut: an earlier note shortened the words.
	cut bool
}

// thread builds turns while the messages of a session go by.
type thread struct {
	turns       []turn
	harness     outcome.Harness
	memory      *Memory
	work        *work.Work
	kept        *work.Work // what messages that stay did, for the standing alone
	closing     string     // what the agent said last in the turn
	talked      int        // how much of that was said in all turns, in bytes
	asked       string     // all of that message, for answers by number
	interrupted string     // how it is told that the person interrupted the agent; empty where nobody did
	aside       bool       // a harness wrote after the closing words, and the agent answers that
	toHarness   string     // what it said to that last
	silent      bool       // nothing of the turn went
	begun       bool       // an earlier note tells a part of it
	worked      bool       // an earlier note says that nothing else of the turn stays
	goesOn      bool       // a part of the turn stays behind what went of it
	shown       bool       // a part of the turn stays, wherever
	taken       bool       // the last turn is of an earlier note
	n           int        // the number of the last message of a person
	// waits are turns of an earlier note whose messages are still to come, used the numbers of its others.
	waits    []turn
	used     map[int]bool
	known    int // the number of the last message that went of which an earlier note tells
	files    shortNames
	steps    []step // what was said and done last, see state.go
	standing standing
	since    became    // the last summary of another program
	found    []finding // what the agent found in the turn
	undone   []string  // arguments of calls of the turn that took others back
	media    []string  // that went with the turn, see media.go
	plan     string    // that the person approved in the turn, see plan.go
	own      ownCommands
	read     *loads // files of rules that were read
}

func newThread(h outcome.Harness, memory *Memory, read *loads, modified []string) *thread {
	w, files := work.New(h), newShortNames(modified)
	w.Name, w.Report = files.brief, memory.report
	return &thread{harness: h, memory: memory, read: read, work: w, kept: w.Beside(), silent: true, files: files}
}

// shortNames count the files that have the same name in different folders, and in folders of the same name.
type shortNames map[string]int

func newShortNames(paths []string) shortNames {
	s := make(shortNames)
	for _, p := range paths {
		s[path.Base(p)]++
		if folder := inFolder(p); folder != path.Base(p) {
			s[folder]++
		}
	}
	return s
}

// inFolder is the name of a file with the last of its folders.
func inFolder(file string) string { return path.Join(path.Base(path.Dir(file)), path.Base(file)) }

// of is the name of a file without its folder, where no other has that name, or with the last of its folders where no
// other has that: the list of files has the whole path.
func (s shortNames) of(file string) string {
	switch base := path.Base(file); {
	case s[base] == 1:
		return base
	case s[base] > 1 && s[inFolder(file)] == 1:
		return inFolder(file)
	}
	return file
}

// brief is the name of a file without its folder, or with the last of its folders where others have that name.
func (s shortNames) brief(file string) string {
	if base := path.Base(file); s[base] < 2 || strings.IndexByte(file, '/') < 0 {
		return base
	}
	return inFolder(file)
}

// person begins a turn. Where the message stays, where says so.
func (t *thread) person(m *abi.Message, where string) {
	asked, words := t.asked, m.Words()
	t.end(words)
	for t.n++; t.used[t.n]; t.n++ {
	}
	next := turn{n: t.n, id: m.ID, stays: where}
	if i := slices.IndexFunc(t.waits, func(w turn) bool { return w.n <= t.n && w.opensWith(words) }); i >= 0 {
		next = t.waits[i]
		next.id, next.stays, next.opens = m.ID, where, ""
		next.n, t.n = max(next.n, t.n), max(next.n, t.n)
		t.begun = len(next.came) > 0
		t.worked = slices.ContainsFunc(next.came, isWorked)
		next.came = slices.DeleteFunc(next.came, isOpen)
		t.waits = slices.Delete(t.waits, i, i+1)
	}
	switch where {
	case "":
		next.words = words
	case staysBelow:
		next.opens = opening(words)
	}
	if line := t.memory.refersTo(words, asked); line != "" && !slices.Contains(next.came, line) {
		next.came = append(next.came, line)
	}
	t.turns, t.taken = append(t.turns, next), false
	t.silent = where != ""
	if where == "" {
		t.shows(m)
	}
}

// isOpen reports whether a line says where the rest of a turn stands: it holds until the turn goes on.
func isOpen(line string) bool { return isGoesOn(line) || isWorked(line) }

// isGoesOn reports whether a line says that a part of a turn stays, in the words of earlier versions too.
func isGoesOn(line string) bool {
	return line == goesOn || line == "What followed stands below." || line == "It goes on below."
}

func isWorked(line string) bool { return line == workedOn || line == workedBelow || line == workedMute }

// opening is how words begin that stand elsewhere, for a reader to find them by.
func opening(words string) string {
	words = strings.ReplaceAll(clip.OneLine(clip.Chars(words, 4*maxOpening)), `"`, "'")
	if short := strings.TrimSpace(clip.First(words, maxOpening)); len(short) < len(words) {
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
	t.shows(m)
	t.standing.sees(m.Text())
	switch {
	case m.Role == abi.RoleTool:
		t.plan = cmp.Or(work.PlanOf(m.Text()), t.plan)
		t.did(t.work.Result(m))
	case m.Role == abi.RoleAssistant:
		t.agent(m)
	case origin == abi.FromInterruption:
		t.interrupted = interruptedLast
	default:
		t.aside = t.aside || t.closing != "" && origin == abi.FromHarness
		t.ran(m, true)
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
	if t.interrupted != "" {
		t.interrupted = interruptedOnce
	}
	t.goesOn = false // what stays came before this
	switch {
	case len(m.ToolCalls) > 0:
		t.closing, t.aside = "", false
	case t.aside && text != "":
		t.asked, t.toHarness = text, text // for what the person says to it; the closing words of the turn stand
	default:
		t.closing, t.asked = text, cmp.Or(text, t.asked)
	}
	for i := range m.ToolCalls {
		t.work.Call(&m.ToolCalls[i])
	}
	for _, f := range t.memory.findingsOf(text) {
		t.found = withFinding(t.found, f)
	}
	if text != "" {
		t.step(step{said: clip.CutChars(text, maxWords, "\n"+strings.TrimSpace(leftOutHere))})
	}
}

// did takes a call as it is told alone.
func (t *thread) did(s work.Step) {
	t.stood(s)
	t.undone = append(t.undone, s.Undone...)
	if s.Text != "" {
		t.step(step{did: s.Text, looked: s.Looked})
	}
}

// stood takes how things stand behind a call.
func (t *thread) stood(s work.Step) {
	t.standing.take(s, t.n, t.files.of)
	t.since.take(s)
	t.read.changed(s.Changed)
}

// step adds a step to those of the turn.
func (t *thread) step(s step) {
	s.turn = t.n
	t.steps = append(t.steps[max(0, len(t.steps)+1-maxSteps):], s)
}

// stays takes what no person wrote, and stays.
func (t *thread) stays(m *abi.Message) {
	if m.Role != abi.RoleAssistant || t.aside { // what answers a harness is no part of the turn
		return
	}
	if t.shown = true; !t.silent || t.begun {
		t.goesOn = true
		if t.interrupted != "" {
			t.interrupted = interruptedOnce
		}
	}
}

// stands takes what no person wrote and stays: how things stand comes of it too, before what goes and behind it. Of a
// result that was shortened it is given all: what another agent reported is found nowhere else, and told.
func (t *thread) stands(m *abi.Message, shortened bool) {
	for i := range m.ToolCalls {
		t.kept.Call(&m.ToolCalls[i])
	}
	t.standing.sees(m.Text())
	switch m.Role {
	case abi.RoleTool:
		step := t.kept.Stays(m)
		if step.Check.Passed {
			work.PassedLater(t.work, step.Check.Checks)
		}
		if shortened && step.Report != "" {
			t.add(step.Report)
		}
		if shortened {
			t.plan = cmp.Or(work.PlanOf(m.Text()), t.plan)
		}
		t.stood(step)
		t.undone = append(t.undone, step.Undone...)
	case abi.RoleUser:
		t.ran(m, false)
	}
}

// add adds a line to the turn that goes on.
func (t *thread) add(line string) {
	if strings.HasPrefix(line, work.Reported) && slices.ContainsFunc(slices.Concat(t.turns, t.waits), func(o turn) bool {
		return slices.Contains(o.came, line)
	}) {
		return // its result was shortened before, and goes now
	}
	if len(t.turns) == 0 {
		t.turns = append(t.turns, turn{})
	}
	last := &t.turns[len(t.turns)-1]
	last.came = slices.DeleteFunc(last.came, isOpen)
	if i := slices.IndexFunc(last.came, isCount); i >= 0 && isCount(line) { // an earlier note has it
		line = work.Together(last.came[i], line)
		last.came = slices.Delete(last.came, i, i+1)
	}
	if last.came = append(last.came, line); len(last.came) > maxCame {
		last.came = fewer(last.came)
	}
}

// isCount reports whether a line counts what is not told of a turn.
func isCount(line string) bool { return strings.HasPrefix(line, work.Besides) }

// fewer are the lines of a turn without the first that tells no deed, and nothing that the agent decided or tried in
// vain, or else without the first: one line counts those that went.
func fewer(came []string) []string {
	n := 0
	if rest, ok := strings.CutSuffix(came[0], goneMark); ok {
		n, _ = strconv.Atoi(rest)
		came = came[1:]
	}
	i := max(0, slices.IndexFunc(came, func(s string) bool { return !isDeed(s) && !tellsMore(s) }))
	return slices.Concat([]string{strconv.Itoa(n+1) + goneMark}, came[:i], came[i+1:])
}

// goneMark ends the line that counts lines that went.
const goneMark = " more lines on this are left out"

// end closes the turn that goes on. Answer is what a person says next.
func (t *thread) end(answer string) {
	if line := mediaLine(t.media); line != "" {
		t.add(line)
	}
	t.media = nil
	t.standing.lost(t.work.Unanswered())
	t.standing.lost(t.kept.Unanswered())
	t.standing.use = t.standing.use.Or(t.work.Use).Or(t.kept.Use)
	for _, line := range t.work.Lines(t.files.of) {
		t.add(line)
	}
	for _, line := range t.own.lines {
		t.add(line)
	}
	t.own = ownCommands{}
	if t.interrupted != "" {
		t.add(t.interrupted)
	}
	t.takeBack()
	t.talked += len(t.closing)
	said, fuller, written := t.closed(answer)
	t.finds(said)
	if utf8.RuneCountInString(t.toHarness) >= minFinding && len(t.turns) > 0 {
		t.add(harnessMark + t.memory.closingOf(t.toHarness))
	}
	if k := len(t.turns) - 1; k >= 0 && t.turns[k].stays == staysBelow && !t.shown && (t.worked || !t.silent) {
		t.add(workedOn)
	}
	if k := len(t.turns) - 1; k >= 0 && t.plan != "" && (t.goesOn || said == "") {
		t.turns[k].plans(t.plan)
	}
	switch {
	case t.goesOn:
		t.add(goesOn)
	case said != "" && len(t.turns) == 0:
		t.turns = append(t.turns, turn{said: said, fuller: fuller, lines: written})
	case said != "":
		last := &t.turns[len(t.turns)-1]
		last.came = slices.DeleteFunc(last.came, isGoesOn) // it has ended
		last.said, last.fuller, last.lines = said, fuller, written
	}
	if k := len(t.turns) - 1; k >= 0 && !t.goesOn && t.turns[k].said != "" {
		t.turns[k].refuted = t.turns[k].refuted && said == "" || refutes(answer)
	}
	if k := len(t.turns) - 1; k >= 0 && t.silent && !t.taken && t.turns[k].stays != "" && len(t.turns[k].came) == 0 &&
		t.turns[k].said == "" {
		t.turns = t.turns[:k] // all of it stays
	}
	t.work, t.closing, t.asked, t.silent, t.goesOn = t.work.Next(), "", "", true, false
	t.kept = t.work.Beside()
	t.undone, t.found, t.aside, t.interrupted, t.toHarness, t.shown, t.plan = nil, nil, false, "", "", false, ""
	t.begun, t.worked = false, false
}

// closed are the closing words of the turn that goes on as they are told, and more of them where there is more, in one
// line and as they were written. What was asked is told with its options, and what was offered as it was, where the
// answer is to that.
func (t *thread) closed(answer string) (said, fuller, written string) {
	said = t.memory.closingOf(t.closing)
	list := t.memory.refersTo(answer, t.asked)
	listed := strings.HasPrefix(list, listedMark) && !strings.Contains(list, moreEntries) // beside the answer
	if strings.Contains(said, leftOutHere) {
		fuller, written = t.memory.fullerOf(t.closing), t.memory.written.of(t.closing, writtenClosing)
	}
	if strings.Contains(said, leftOutHere) && !listed {
		if ask := t.memory.asked.of(t.closing, askedOf); ask.said != "" && (ask.options || isAnswer(answer)) {
			said, fuller = ask.said, ""
		} else if offered := t.memory.offers.of(t.closing, offer); offered != "" && accepts(answer) {
			said, fuller = offered, ""
		}
	}
	told := func(said string) string { return t.standing.dated(t.memory.withRefusal(said, t.closing)) }
	if said = told(said); fuller != "" {
		fuller = told(fuller)
	}
	if len(fuller) <= len(said) {
		fuller = ""
	}
	if written != "" && !strings.HasSuffix(written, fence) {
		written = t.standing.dated(written)
	}
	return said, fuller, written
}

// finds adds lines on what the agent found, decided and tried in vain on the way, in the order in which it said so, and
// on what it decided in its closing words where that is left out of them as they are told. Reasons in a question are
// what it offers, and no decisions.
func (t *thread) finds(said string) {
	closing, told := plain(t.closing), clip.OneLine(said)
	offers := func() bool { return t.memory.asked.of(t.closing, askedOf).options }
	var way, left, beside []finding
	for _, f := range t.found {
		closes := strings.Contains(closing, f.text)
		switch missing := closes && !strings.Contains(told, f.text); {
		case missing && f.weight == decided && saysFinding(f.text):
			left = append(left, f)
		case missing && f.weight == reasoned && !offers():
			beside = append(beside, f)
		case !closes:
			way = append(way, f)
		}
	}
	for _, line := range slices.Concat(onTheWay(way), foundLines(alsoMark, left), foundLines(alsoMark, beside)) {
		t.add(line)
	}
}

// sayOnce leaves out what the agent said to its harness where a later turn has it too: a recording may hold one
// conversation several times.
func sayOnce(turns []turn) {
	said := make(map[string]bool)
	for i := range slices.Backward(turns) {
		turns[i].came = slices.DeleteFunc(turns[i].came, func(line string) bool {
			if !strings.HasPrefix(line, harnessMark) {
				return false
			}
			again := said[line]
			said[line] = true
			return again
		})
	}
}

// finish closes the thread.
func (t *thread) finish() []turn {
	t.end("")
	sayOnce(t.turns)
	for _, w := range t.waits {
		t.missed(w)
	}
	lists.SortStable(t.turns, func(a, b turn) int { return cmp.Compare(a.n, b.n) })
	repeated(t.turns)
	return t.turns
}

// missed takes in a turn of an earlier note whose message came with another number than was expected, or did not come.
func (t *thread) missed(w turn) {
	i := slices.IndexFunc(t.turns, func(o turn) bool {
		return o.n < w.n && w.opens != "" && w.opens == cmp.Or(o.opens, opening(o.words))
	})
	if i < 0 {
		t.turns = append(t.turns, w)
		return
	}
	last := &t.turns[i]
	last.came = slices.Concat(slices.DeleteFunc(w.came, isOpen), last.came)
	if last.said == "" {
		last.said, last.fuller, last.lines, last.refuted = w.said, w.fuller, w.lines, w.refuted
	}
}

// takenBack marks a call of which a later one took back what it made: it is told by the same id.
const takenBack = " (taken back in ["

// maxBack is how many turns back a call is looked for that was taken back.
const maxBack = 200

// takeBack marks the calls that the turn took back.
func (t *thread) takeBack() {
	mark := func(line *string) {
		_, made, ok := strings.Cut(*line, work.Result)
		if !ok || strings.Contains(*line, takenBack) {
			return
		}
		for _, found := range strings.Split(made, ", ") {
			key, value, _ := strings.Cut(found, " ")
			if strings.HasSuffix(key, "id") && slices.Contains(t.undone, value) {
				*line += takenBack + strconv.Itoa(t.n) + "])"
				return
			}
		}
	}
	if len(t.undone) == 0 {
		return
	}
	for i := max(0, len(t.turns)-maxBack); i < len(t.turns); i++ {
		for k := range t.turns[i].came {
			if line := &t.turns[i].came[k]; strings.HasPrefix(*line, work.Called) {
				mark(line)
			}
		}
	}
	for i := range t.steps {
		mark(&t.steps[i].did)
	}
}

// maxCame is how many lines on a turn are carried through a chain of compactions.
const maxCame = 24

const (
	// goesOn says of a turn that a part of it stays, workedOn of one whose message stays that nothing else does.
	goesOn   = "More of it stands below."
	workedOn = "The agent has worked on it: what came of it is told here alone."
	// workedBelow and workedMute stand for that where none of it is told beside the words.
	workedBelow = "The agent has worked on it: what came of it is told below, where it stood at the end."
	workedMute  = "The agent has worked on it: there is no room here to tell what came of it."
	// interruptedLast says of a turn that it ended so, and interruptedOnce that the agent went on.
	interruptedLast = "In the end the person interrupted the agent."
	interruptedOnce = "On the way the person interrupted the agent."
	// harnessMark begins what an agent said to what its harness asked behind that.
	harnessMark = "Agent, asked by its harness: "
)
