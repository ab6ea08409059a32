package note

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// The state is where the work stood at the end of the messages: what the agent said and
// did last, one by one, and how things stand, see standing.go. The thread tells all of a turn in a few lines; who
// goes on has to know what the last step was, how it ended and what was to come.

const (
	headState = "## Where it stood at the end"
	// headBefore stands there where agents go on in what stays: what is told is not the end.
	headBefore = "## Where it stood before the messages below"
	// headLast stands there where some of them came before what is told.
	headLast = "## Where it stood before the last messages below"
	// belowLine stands above how things stand where messages stay below: it holds with these.
	belowLine = "## How it stands at the end of the messages below"
	moreLine  = "  "
)

// step is one thing that the agent said or did.
type step struct {
	turn   int    // the number of the message that it followed
	said   string // all of it, or
	did    string // a call in one line
	looked bool   // it only looked
}

const (
	maxSteps = 60   // that are remembered
	minSteps = 4    // of the last turn: where it has fewer the one before it is told too
	maxWords = 4000 // of what an agent said that is remembered, in characters
	maxLast  = 1500 // of the agent's last words that is shown, in characters
)

// stateShare is what the state may cost in tokens: a tenth of a large budget, and of a
// small one what it takes to tell a few steps. With less nothing is told.
func stateShare(budget int) int {
	const few, least = 200, 100
	if share := max(budget/10, min(few, budget/4)); share >= least {
		return share
	}
	return 0
}

// withoutReports are steps without what another agent reported where the thread tells it: it does where that fits into
// so many tokens, as the next note forgets steps. It returns what that costs.
func withoutReports(steps []step, v *view, budget int) (without []step, cost int) {
	without = slices.Clone(steps)
	left := budget
	for n := range without {
		call, said, ok := strings.Cut(without[n].did, work.Result)
		if !ok {
			continue
		}
		for i := range v.turns {
			k := slices.IndexFunc(v.turns[i].came, func(line string) bool {
				return strings.HasPrefix(line, work.Reported) &&
					(strings.HasSuffix(line, ": "+said) || strings.HasSuffix(line, ": "+v.memory.longer(said)))
			})
			if k < 0 || v.folded(i) {
				continue
			}
			if v.came[i][k] == "" {
				line := v.turns[i].came[k]
				v.takeLine(i, k, &left, append([]string{line}, shorterReports(line)...)...)
			}
			if v.came[i][k] != "" {
				without[n].did = call
			}
		}
	}
	return without, budget - left
}

// state is what is shown in so many tokens of the last steps and of how things stand, under its heading.
func (n *Note) state(steps []step, budget int, count func(string) int) []string {
	heading := headState
	if len(steps) == 1 && steps[0].said != "" &&
		(greets(steps[0].said) || closing(steps[0].said) == clip.OneLine(steps[0].said)) {
		steps = nil // the thread says all of it
	}
	switch {
	case n.follows && n.older > 0:
		heading = headLast + "\n" + olderLine(n.older)
	case n.follows:
		heading = headBefore
	}
	held, left := holding(n.turns), budget-count(heading+"\n[10]")-2
	stood, cost := n.stood(slices.Concat(held, n.standing.lines("")), left, count)
	lines := n.stateLines(lastShown(steps, left-cost, count))
	now := lists.Filter(slices.Concat(held, n.standing.lines(strings.Join(lines, "\n"))), func(line string) bool {
		return slices.Contains(stood, line)
	})
	entries := func(list []string) {
		lines = append(lines, lists.Map(list, func(line string) string { return "- " + line })...)
	}
	before := func(line string) bool { return strings.HasPrefix(line, rejectedMark) } // it tells of what went alone
	entries(lists.Filter(now, before))
	now = lists.Filter(now, func(line string) bool { return !before(line) })
	if n.follows && len(now) > 0 {
		lines = append(lines, belowLine)
	}
	entries(now)
	if len(lines) > 0 {
		lines = slices.Concat([]string{heading}, lines)
	}
	return lines
}

// olderLine says how many of the messages below came before the last one that went.
func olderLine(n int) string {
	if n == 1 {
		return "The last message that went stood after the first message below."
	}
	return fmt.Sprintf("The last message that went stood after the first %d messages below.", n)
}

// stood are the lines on how things stand that fit into so many tokens, and what they cost: what does not fit goes from
// the end.
func (n *Note) stood(lines []string, left int, count func(string) int) (fit []string, cost int) {
	if n.follows && len(lines) > 0 {
		cost = count(belowLine) + 1
	}
	for i, line := range lines {
		if cost += count("- "+line) + 1; cost > left {
			return lines[:i], cost
		}
	}
	return lines, cost
}

// lastShown is what is shown of each step in so many tokens, the newest first: the last words of the agent, then what
// it did and said before, then what it only looked at since the first of these, then more of what it said.
func lastShown(steps []step, left int, count func(string) int) []string {
	shown := make([]string, len(steps))
	take := func(i int, text string) bool {
		cost := count("- "+text) + 1
		if cost > left {
			return false
		}
		left -= cost
		shown[i] = text
		return true
	}
	last := len(steps) - 1
	for last > 0 && steps[last].said == "" {
		last--
	}
	for i := len(steps) - 1; i >= 0 && i != last; i-- {
		if i < len(steps)-maxAfter || !take(i, steps[i].String()) {
			break
		}
	}
	if last >= 0 && steps[last].said != "" {
		for _, size := range []int{maxLast, 1000, 700, 500, 300} {
			if shown[last] == "" {
				take(last, lastWordsOf(steps[last].said, size))
			}
		}
		if shown[last] == "" && !take(last, steps[last].String()) {
			take(last, agentMark+shortened(clip.OneLine(steps[last].said), maxFirst))
		}
	}
	from := 0 // no step from here on is left out but those that looked
	for _, looked := range []bool{false, true} {
		for i := len(steps) - 1; i >= from; i-- {
			if shown[i] == "" && steps[i].looked == looked && !steps[i].announces() && !take(i, steps[i].String()) {
				from = i + 1
				break
			}
		}
	}
	tellMore(steps, shown, left, count)
	countAll(steps, shown)
	return shown
}

// tellMore tells more of what the agent said with what is left once all steps are told, the newest first.
func tellMore(steps []step, shown []string, left int, count func(string) int) {
	for i, s := range slices.Backward(steps) {
		if s.said == "" || shown[i] != s.String() || !strings.Contains(shown[i], leftOutHere) {
			continue
		}
		fuller := agentMark + fullerClosing(s.said)
		if n := count(fuller) - count(shown[i]); n <= left && len(fuller) > len(shown[i]) {
			shown[i], left = fuller, left-n
		}
	}
}

// countAll shows the steps that are the same as the next one that is shown: they are counted there, and take no room.
func countAll(steps []step, shown []string) {
	next := ""
	for i, s := range slices.Backward(steps) {
		switch {
		case shown[i] != "":
			next = shown[i]
		case s.did != "" && s.did == next:
			shown[i] = next
		}
	}
}

// maxAfter is how many calls behind the agent's last words come before these.
const maxAfter = 4

// announces reports whether a step only says what the next one is: the call below tells it.
func (s step) announces() bool {
	said := strings.TrimSpace(s.said)
	return said != "" && !strings.Contains(said, "\n") && (strings.HasSuffix(said, ":") || telling(said) == "")
}

// String is a step in one line.
func (s step) String() string {
	if s.did != "" {
		return s.did
	}
	return agentMark + closing(s.said)
}

// lastWordsOf are the last words of an agent in about so many characters: their lines as
// they are, of long ones the first and the last: what it found stands there, and what it
// was about to do. A line is told with those that it stands under.
func lastWordsOf(said string, runes int) string {
	lines := wordLines(said)
	from, to, room := 0, len(lines), runes
	before := 0 // what is told of the beginning
	for from < to {
		next := utf8.RuneCountInString(lines[from].text)
		k := from // the end counts twice as much as the beginning
		if 3*(before+next) > runes {
			k = to - 1
		}
		if room -= utf8.RuneCountInString(lines[k].text); room < 0 {
			break
		}
		if k == from {
			before += next
			from++
		} else {
			to--
		}
	}
	if from == 0 && to == len(lines) && to > 0 { // one line that is too long
		return agentMark + shortened(strings.TrimSpace(lines[0].text), runes)
	}
	above := headingsAbove(lines, from, to)
	for to < len(lines) && runesOf(lines[:from])+runesOf(above)+runesOf(lines[to:]) > runes {
		to++
		above = headingsAbove(lines, from, to)
	}
	shown := slices.Concat(lines[:from], above, lines[to:])
	return agentMark + strings.Join(withGaps(shown, lines), "\n"+moreLine)
}

// withGaps are lines of a text as they are told, with a mark where others are left out, and the headings among those.
// A block of code ends before such a mark, and begins again behind it.
func withGaps(shown, all []saying) (told []string) {
	within := make([]bool, len(all)+1) // a block of code, before each line
	for i, l := range all {
		within[i+1] = within[i] != isFence(l.text)
	}
	open, place := false, -1
	end := func() {
		switch n := len(told) - 1; {
		case open && isFence(told[n]): // nothing of the block is told
			told = told[:n]
		case open:
			told = append(told, fence)
		}
		open = false
	}
	for _, l := range shown {
		if l.place != place+1 {
			end()
			told, open = append(told, gapMark(all[place+1:l.place], within[place+1])), within[l.place] && !isFence(l.text)
			if open {
				told = append(told, fence)
			}
			if place = l.place; isFence(l.text) && within[l.place] {
				continue // the end of what is left out
			}
		}
		told, place, open = append(told, l.text), l.place, open != isFence(l.text)
	}
	if end(); place+1 < len(all) {
		told = append(told, gapMark(all[place+1:], within[place+1]))
	}
	return told
}

// gapMark stands for lines that are left out, and names the headings among them: who looks for a part that was agreed
// to knows by them that it was there. Code: the lines begin within a block of code.
func gapMark(left []saying, code bool) string {
	return markOf(headingsIn(left, code), maxGapHeads)
}

// markOf is the mark of what stands under headings: so many of them at most are named, and the others counted.
func markOf(heads []string, most int) string {
	if len(heads) == 0 {
		return strings.TrimSpace(leftOutHere)
	}
	if more := len(heads) - most; more > 0 {
		heads = append(slices.Clone(heads[:most]), fmt.Sprintf("%d more", more))
	}
	return gapBegins + strings.Join(heads, "; ") + ")"
}

// headingsIn are the headings among lines, as a mark names them.
func headingsIn(lines []saying, code bool) (heads []string) {
	for _, l := range lines {
		line := strings.TrimSpace(l.text)
		code = code != isFence(line)
		if inner, ok := strings.CutPrefix(line, gapBegins); ok { // it was cut before
			heads = append(heads, strings.TrimSuffix(inner, ")"))
		} else if !code && line != "" && isHeading(line) {
			heads = append(heads, strings.TrimSuffix(clip.Line(plain(line), maxGapHead), ":"))
		}
	}
	return heads
}

// withoutGapHeads is a text in which marks stand alone for what is left out.
func withoutGapHeads(text string) string {
	if !strings.Contains(text, gapBegins) {
		return text
	}
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), gapBegins) {
			line = strings.TrimSpace(leftOutHere) + "\n"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

const (
	gapBegins   = "[...] (left out: " // a mark, and the headings of what it stands for behind that
	maxGapHeads = 8
	maxGapHead  = 60 // of a heading, in characters
)

// isFence reports whether a line begins or ends a block of code.
func isFence(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), fence)
	return ok && !strings.Contains(rest, fence) // not a block of one line
}

// padding is white space that draws a table or a box.
var padding = lazy.Regexp(` {3,}`)

// drawn is what lines between others are drawn with.
const drawn = "-|: ─━═│┌┐└┘├┤┬┴┼╭╮╰╯"

// wordLines are the lines of an agent's words as they are shown, with the white space before them, without rules
// between others. Their places are those in the list.
func wordLines(said string) (lines []saying) {
	var o outline
	code := false
	for raw := range strings.Lines(said) {
		line := strings.TrimSpace(raw)
		if strings.Trim(line, drawn) == "" {
			continue
		}
		code = code != isFence(line)
		if rest, quotes := strings.CutPrefix(line, ">"); quotes && !code { // words of persons stand behind ">"
			line = "»" + rest
		}
		if first, _ := utf8.DecodeRuneInString(line); strings.ContainsRune("│|┃║", first) {
			line = padding().ReplaceAllString(line, "  ")
		}
		shown := strings.TrimRight(raw[:len(raw)-len(strings.TrimLeft(raw, " \t"))], "\r\n") + shortened(line, maxLine)
		lines = append(lines, saying{len(lines), o.under(raw, line, len(lines)), shown})
	}
	return lines
}

// headingsAbove are the lines between from and to that those from to on stand under.
func headingsAbove(lines []saying, from, to int) (list []saying) {
	if to == len(lines) {
		return nil
	}
	return lists.Filter(headings(lines, lines[to]), func(l saying) bool { return l.place >= from })
}

// runesOf is how long lines are, without what stands between them, in characters.
func runesOf(lines []saying) (n int) {
	for i := range lines {
		n += utf8.RuneCountInString(lines[i].text)
	}
	return n
}

// maxLine is how much of a line of an agent's last words is shown, in characters.
const maxLine = 400

// stateLines are the lines of the state: calls in a row that only looked share one, and
// the same call again is counted.
func (n *Note) stateLines(shown []string) (out []string) {
	turn, looked, same, times := -1, false, "", 1
	for i, text := range shown {
		if text != "" && n.steps[i].turn != turn {
			turn, looked, same = n.steps[i].turn, false, ""
			out = append(out, fmt.Sprintf("[%d]", turn))
		}
		k := len(out) - 1
		switch {
		case text == "":
			continue
		case text == same:
			times++
			out[k] = strings.TrimSuffix(out[k], fmt.Sprintf(" ×%d", times-1)) + fmt.Sprintf(" ×%d", times)
			continue
		case looked && n.steps[i].looked:
			out[k] += "; " + text
		default:
			out = append(out, "- "+text)
		}
		looked, same, times = n.steps[i].looked, text, 1
	}
	return out
}

// lastSteps are those of the last turn, and of turns before it where it has few, without what the agent said in these
// but for its last words: the thread has it.
func lastSteps(steps []step) []step {
	from := max(0, len(steps)-minSteps)
	for from > 0 && steps[from-1].turn == steps[from].turn {
		from--
	}
	said := len(steps) - 1
	for said > from && steps[said].said == "" {
		said--
	}
	var last []step
	for i, s := range steps[from:] {
		if s.said == "" || s.turn == steps[len(steps)-1].turn || from+i == said {
			last = append(last, s)
		}
	}
	return last
}

// readState reads the steps of an earlier note back.
func readState(lines []string) (steps []step, s standing) {
	turn := 0
	s.unsure, s.use.Acted = true, true
	for _, line := range lines {
		if head, ok := readHead(line); ok {
			turn = head.n
			continue
		}
		entry, ok := strings.CutPrefix(line, "- ")
		if !ok {
			if more, ok := strings.CutPrefix(line, moreLine); ok && len(steps) > 0 && steps[len(steps)-1].said != "" {
				steps[len(steps)-1].said += "\n" + more
			}
			continue
		}
		if s.read(entry) {
			continue
		}
		if words, ok := strings.CutPrefix(entry, agentMark); ok {
			steps = append(steps, step{turn: turn, said: words})
		} else {
			steps = append(steps, step{turn: turn, did: entry})
		}
	}
	return steps, s
}
