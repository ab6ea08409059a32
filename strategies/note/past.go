package note

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// A summary that another program wrote says how things were when it was written: what it calls open may be done
// since, and a rule in it taken back. So it is told as of then, with what it says in that order: what was open, what
// bound, and the rest.

// past is a summary that somebody else wrote, line by line.
type past struct {
	// n is the message of a person before which it was written, or within which; 0 where nobody knows.
	n                 int
	within            bool
	open, bound, rest []string
	// became is what earlier notes say became of what a line names, see became.go.
	became map[string]string
}

// retold reports whether it sums up messages that the note tells of too.
func (p *past) retold() bool { return p.n > 1 || p.within }

// none reports whether there is none.
func (p *past) none() bool { return len(p.open)+len(p.bound)+len(p.rest) == 0 }

// maxEarlier is how much of a summary that somebody else wrote is remembered,
// in bytes.
const maxEarlier = 12 << 10

// openTitles are words in the titles of sections that say what was still to be done, boundTitles of those that say how.
var (
	openTitles  = []string{"pending", "current", "next", "remaining", "open", "todo", "in progress", "blocked"}
	boundTitles = []string{"preference", "constraint", "rule", "decision", "requirement", "guideline", "convention"}
)

// pastOf parts a summary by the titles of its sections.
func pastOf(text string) (p past) {
	into, level := &p.rest, 0 // of the heading of what goes there
	var code []string         // of the block that goes on
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, fence) && into != &p.rest {
			if fenced = !fenced; !fenced && len(code) <= maxCode {
				*into = append(*into, code...)
			} else if !fenced {
				quoteInto(into, leftLines(len(code)))
			}
			code = nil
			continue
		}
		if fenced {
			quoteInto(&code, line)
			continue
		}
		if slices.ContainsFunc(asides, func(s string) bool { return strings.HasPrefix(line, s) }) {
			continue
		}
		marks := len(line) - len(strings.TrimLeft(line, "#"))
		if title, ok := sectionTitle(line); ok && (level == 0 || marks <= level) { // not one below it
			into, level = p.section(title), 0
			if into != &p.rest {
				level = marks
			}
		}
		quoteInto(into, line)
	}
	p.open, p.bound, p.rest = ends(p.open), ends(p.bound), ends(p.rest)
	return p
}

// section are the lines that go with those of a section of this title.
func (p *past) section(title string) *[]string {
	switch title = lower.Text(title); {
	case toolcall.HasAny(title, openTitles):
		return &p.open
	case toolcall.HasAny(title, boundTitles):
		return &p.bound
	}
	return &p.rest
}

// ends are the first and the last lines of many, in half of maxEarlier, and between them how many are left out.
func ends(lines []string) []string {
	from := endOfPart(lines, maxEarlier/4)
	back := slices.Clone(lines[from:])
	slices.Reverse(back)
	to := len(lines) - endOfPart(back, maxEarlier/4)
	if from == to {
		return lines
	}
	left := 0
	for _, line := range lines[from:to] {
		left += linesIn(line)
	}
	return slices.Concat(lines[:from], []string{leftLines(left)}, lines[to:])
}

// endOfPart is how many of the first lines fit into so many bytes.
func endOfPart(lines []string, bytes int) int {
	for i, line := range lines {
		if bytes -= len(line) + 1; bytes < 0 {
			return i
		}
	}
	return len(lines)
}

// quoteInto adds one line of a summary. Headings in it are none of the note's.
func quoteInto(lines *[]string, line string) {
	line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#"))
	if n := len(*lines); line != "" && n > 0 && linesLeft(line) > 0 && linesLeft((*lines)[n-1]) > 0 {
		(*lines)[n-1] = leftLines(linesLeft((*lines)[n-1]) + linesLeft(line))
	} else if line != "" {
		*lines = append(*lines, clip.Words(line, 4*maxEntry))
	}
}

// leftLines stands for so many lines of a summary that there is no room for.
func leftLines(n int) string {
	if n == 1 {
		return "[1 more line]"
	}
	return fmt.Sprintf("[%d%s", n, moreLines)
}

// linesLeft is how many lines such a mark stands for; 0 where it is none.
func linesLeft(line string) int {
	digits, ok := strings.CutSuffix(strings.TrimPrefix(line, "["), moreLines)
	if line == leftLines(1) {
		return 1
	}
	if n := number(digits); ok && line == leftLines(n) {
		return n
	}
	return 0
}

// linesIn is how many lines of a summary a line of what was taken over stands for. Marks of blocks of code are none:
// where a block is told without them they would be missed.
func linesIn(line string) int {
	if isFence(line) {
		return 0
	}
	return max(1, linesLeft(line))
}

const moreLines = " more lines]"

// written says when a summary was written that follows message n of a person: before the next one, or in the middle
// of n where the agent goes on with that first.
func (p *past) written(n int, next []abi.Message, origins []abi.Origin) {
	p.n, p.within = n+1, false
	for i := range next {
		if origins[i] == abi.FromPerson {
			return
		}
		if n > 0 && (next[i].Role == abi.RoleAssistant || next[i].Role == abi.RoleTool) {
			p.n, p.within = n, true
			return
		}
	}
}

const (
	// beforeMark and withinMark say when a summary was written, by the message of a person.
	beforeMark = "It was written before ["
	withinMark = "It was written in the middle of ["
	// thenMark follows where something came after it: how much persons said is put in, where they did.
	thenMark  = "What it says was so then, or before. What %sthe agent did after it holds over it."
	sinceThen = "%d messages of persons said and "
	oneSince  = "1 message of a person said and "
	// openMark, boundMark and restMark stand above its lines: what was open, what bound, and the rest.
	openMark  = "What it says was open then is put first."
	boundMark = "Its rules and decisions:"
	restMark  = "What else it says:"
	// retoldShare is how much of its share the rest of a summary has whose messages the thread tells, in hundredths.
	retoldShare = 25
	// maxCode is how long a block of code is, in lines, that is told of what was open or bound.
	maxCode = 3
	// firstPart is how much of what is shown of a summary is its beginning, in hundredths.
	firstPart = 70
)

// line reads a line of the note back. Into are the lines that a quote is added to.
func (p *past) line(line string, into **[]string) {
	text, quotes := strings.CutPrefix(line, quoteMark)
	switch {
	case strings.HasPrefix(line, nowMark):
		if l := *into; l != nil && len(*l) > 0 {
			if p.became == nil {
				p.became = make(map[string]string)
			}
			p.became[(*l)[len(*l)-1]] = strings.TrimPrefix(line, nowMark)
		}
	case quotes && *into == nil:
		*into = &p.rest
		fallthrough
	case quotes:
		quoteInto(*into, text)
	case line == openMark:
		*into = &p.open
	case line == boundMark:
		*into = &p.bound
	case line == restMark:
		*into = &p.rest
	default:
		for _, mark := range []string{beforeMark, withinMark} {
			if n, ok := strings.CutPrefix(line, mark); ok {
				n, _, _ = strings.Cut(n, "]")
				p.n, _ = strconv.Atoi(n)
				p.within = mark == withinMark
			}
		}
	}
}

// quoted adds the beginning and the end of what a summary says that somebody else wrote, and when it was written. What
// was open then comes first, as where there is little room it is what counts.
func (p *parts) quoted(n *Note, budget int) {
	if n.past.none() {
		return
	}
	lines, became := append([]string{headEarlier}, n.age()...), n.becomes()
	budget -= p.count(strings.Join(lines, "\n"))
	told := false
	for _, part := range []struct {
		mark  string
		lines []string
		share int // of what is left
	}{{openMark, n.past.open, 50}, {boundMark, n.past.bound, 60}, {restMark, n.past.rest, 100}} {
		if part.mark == restMark && n.past.retold() {
			part.share = part.share * retoldShare / 100
		}
		cost := p.count(part.mark) + 1
		quotes := p.middleOut(lists.Map(part.lines, func(line string) string {
			if now := with(n.past.became[line], became.of(line, part.mark == openMark)); now != "" {
				return line + "\n" + nowMark + now
			}
			return line
		}), budget*part.share/100-cost)
		if len(quotes) == 0 {
			continue
		}
		if told || part.mark != restMark {
			lines, budget = append(lines, part.mark), budget-cost
		}
		lines, told = append(lines, quotes...), true
		budget -= p.count(strings.Join(quotes, "\n")) + 1
	}
	if told {
		p.put(lines...)
	}
}

// age are the lines on when the summary was written, and what came since.
func (n *Note) age() []string {
	since, mark, ago := "", beforeMark, n.heard-n.past.n+1
	if n.past.within {
		mark, ago = withinMark, ago-1
	}
	if ago == 1 {
		since = oneSince
	} else if ago > 0 {
		since = fmt.Sprintf(sinceThen, ago)
	}
	switch {
	case n.past.n == 0:
		return nil
	case ago > 0 || n.past.within:
		return []string{mark + strconv.Itoa(n.past.n) + "]", fmt.Sprintf(thenMark, since)}
	}
	return []string{mark + strconv.Itoa(n.past.n) + "]"}
}

// middleOut are quotes of the first and the last of some lines that fit, with a mark between them that counts the
// others.
func (p *parts) middleOut(list []string, budget int) (quotes []string) {
	price := func(s string) int { return p.count(quoteMark+s) + 1 }
	all := 0
	for _, s := range list {
		all += price(s)
	}
	part := budget
	if all > budget {
		budget -= price(leftLines(len(list) + 100))
		part = budget * firstPart / 100
	}
	from, to, left := 0, len(list), budget
	for ; from < len(list) && price(list[from]) <= part; from++ {
		part, left = part-price(list[from]), left-price(list[from])
	}
	for ; to > from && price(list[to-1]) <= left; to-- {
		left -= price(list[to-1])
	}
	if from == 0 && to == len(list) {
		return nil
	}
	for from > 0 && from < to && linesLeft(list[from-1]) > 0 {
		from--
	}
	for from < to && to < len(list) && linesLeft(list[to]) > 0 {
		to++
	}
	quoted := func(s string) string { return quoteMark + s }
	quotes = lists.Map(list[:from], quoted)
	over := titleOver(list, from, to)
	for over >= 0 && price(list[over])+price(leftLines(len(list))) > left && (from > 0 || to+1 < len(list)) {
		left += price(list[to])
		if to++; to == len(list) || isTitle(list[to]) {
			over = -1
		}
	}
	if over >= 0 {
		quotes = append(append(quotes, marksLeft(list[from:over])...), quoted(list[over]))
		from = over + 1
	}
	return slices.Concat(quotes, marksLeft(list[from:to]), lists.Map(list[to:], quoted))
}

// titleOver is where the title stands, of lines that are left out, that the first line behind them is an entry under;
// -1 where there is none. Without it what was open reads as done, or the other way round.
func titleOver(list []string, from, to int) int {
	if to == len(list) || isTitle(list[to]) {
		return -1
	}
	for i := to - 1; i >= from; i-- {
		if isTitle(list[i]) {
			return i
		}
		if _, item := listItem(list[i]); !item {
			break // it may be a heading, whose marks went
		}
	}
	return -1
}

// isTitle reports whether a line of a summary stands over others.
func isTitle(line string) bool { return strings.HasSuffix(plain(line), ":") }

// marksLeft is the mark that stands for lines that are left out, where there are any.
func marksLeft(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	n := 0
	for _, s := range list {
		n += linesIn(s)
	}
	if n == 0 {
		return nil
	}
	return []string{quoteMark + leftLines(n)}
}
