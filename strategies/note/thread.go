package note

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/excerpt"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// Lines of the thread. They are part of its form: a later compaction reads them
// back.
const (
	headThread = "## Thread"
	// aboutRepeats stands behind that where a harness recorded its conversation for each of its calls.
	aboutRepeats = "The recording repeats messages: some of those that are told here stand below once more."
	aboutThread  = "Words of persons stand behind \">\", oldest first; what came of them below, where there is room."
	staysAbove   = "its message stands above"
	staysBelow   = "its message stands below"
	agentMark    = "Agent: "
)

// sizes are how much of the words of a person is shown, in characters, most first.
var sizes = []int{6000, 2400, 1200, 400, maxFirst, 0}

// view is a thread as it is to be written: how much of each turn is shown.
type view struct {
	turns   []turn
	size    []int      // of the words, a place in sizes
	inPlace [][]place  // of the words, the rules that are told in them
	came    [][]string // the lines on what came of it, empty where one is not shown
	said    []string   // the words of the agent, empty where they are not shown
	binds   []bool     // the words bind what follows, correct what was done, or bear on what is asked for
	idle    []bool     // the words say nothing that somebody has to know
	cost    int        // of what is shown so far, in tokens
	count   func(string) int
	focus   *Focus
	memory  *Memory
	usage   *usage // of their words
	stood   string // what is told of how it stood at the end
	alone   bool   // nobody can search what is left out
	tight   bool   // there is no room to say what its marks are
	repeats bool   // messages that it tells stand in the session once more
}

// show chooses what of the words of persons is shown in so many tokens, and in more than these of what was typed. tight
// leaves out what their marks are, and that messages repeat.
func show(
	turns []turn, usage *usage, focus *Focus, memory *Memory, budget, more int, tight, repeats bool,
	count func(string) int,
) *view {
	v := &view{turns: turns, tight: tight, repeats: repeats && !tight, size: make([]int, len(turns)),
		inPlace: make([][]place, len(turns)), came: make([][]string, len(turns)), said: make([]string, len(turns)),
		count: count, usage: usage, focus: focus, memory: memory}
	for i := range turns {
		v.came[i] = make([]string, len(turns[i].came))
		words := turns[i].words
		v.binds = append(v.binds, memory.binding(words) || corrects(words) || focus.bears(words))
		v.idle = append(v.idle, turns[i].idles() && !v.binds[i] && (i == 0 || !turns[i].answersTo(&turns[i-1])))
	}
	if len(turns) > 0 {
		head := headThread
		if !tight {
			head += "\n" + aboutThread
		}
		if v.repeats {
			head += "\n" + aboutRepeats
		}
		v.cost = count(head)
		v.cost += v.shrink(budget-v.cost, more)
	}
	return v
}

// shrink makes the words fit, and returns what they cost. Long words shrink before short ones, but small talk goes
// before words that say something shrink to a sentence, and those that bind what follows shrink so last: of long ones
// the rules are told by themselves. Old ones shrink before new ones, and the newest when all others have. What was
// typed has more tokens than the budget, what was pasted has not.
func (v *view) shrink(budget, more int) (total int) {
	cost := make([]int, len(v.turns))
	for i := range v.turns {
		cost[i] = v.price(i)
		total += cost[i]
	}
	resize := func(i, to int) {
		if v.size[i] >= to {
			return
		}
		v.size[i] = to
		total -= cost[i]
		cost[i] = v.price(i)
		total += cost[i]
	}
	for i := range v.turns {
		if words := v.turns[i].words; total > budget && isLong(words) && len(typedOf(words)) < len(words)/2 {
			resize(i, 2)
		}
	}
	budget += more
	least, held := len(sizes)-1, heldLists(v, cost, budget)
	others := func(i int) bool { return !v.newest(i) && !held[i] }
	older := func(i int) bool { return !v.newest(i) }
	for _, of := range []func(i int) bool{others, older, func(int) bool { return true }} {
		for _, step := range []struct {
			to   int  // the size
			over int  // of turns that cost more, in tokens
			all  bool // of those that bind too
			idle bool // of small talk alone
		}{
			{1, 0, false, false}, {2, 0, false, false}, {3, 0, false, false}, {least, 0, false, true},
			{1, 0, true, false}, {2, 0, true, false}, {3, 0, true, false},
			{4, 0, false, false}, {4, 0, true, false}, {least, 40, false, false},
			{least, 20, false, false}, {least, 40, true, false}, {least, 0, false, false}, {least, 0, true, false},
		} {
			for i := range v.turns {
				if total <= budget {
					return total
				}
				if cost[i] > step.over && v.turns[i].words != "" && (step.all || !v.binds[i]) &&
					(!step.idle || v.idle[i]) && of(i) {
					resize(i, step.to)
				}
			}
		}
	}
	return total
}

// newest reports whether the words of a turn are among the last ones, and no page.
func (v *view) newest(i int) bool {
	return i >= len(v.turns)-maxNewest && len(v.turns[i].words) <= maxNewestWords
}

const (
	maxNewest      = 2   // turns whose words shrink last
	maxNewestWords = 600 // of one of them, in bytes
)

// foldPrice is what the line costs that stands for a turn of which nothing is shown, in tokens.
const foldPrice = 12

// answered adds what short answers speak of, the newest first: the entries that all of them name, and then what
// was asked, in short where there is no room for all of it. An answer of which nothing can be told
// folds: it says nothing by itself. A short one on which something was done stands. It returns what it costs.
func (v *view) answered(budget int) int {
	left, named := budget, make([]bool, len(v.turns))
	for i := len(v.turns) - 1; i > 0; i-- {
		t := &v.turns[i]
		for k, line := range t.came {
			if isAnswered(line) && !v.folded(i) {
				v.takeLine(i, k, &left, t.shortestListed(k))
				named[i] = named[i] || v.came[i][k] != ""
			}
		}
	}
	for i := len(v.turns) - 1; i > 0; i-- {
		t, asked := &v.turns[i], &v.turns[i-1]
		if v.folded(i) || !t.answersTo(asked) {
			continue
		}
		v.ask(i-1, &left, 3)
		if v.said[i-1] == "" && !named[i] && t.words != "" && (t.onlyTold() || v.count(t.words) > foldPrice) {
			v.size[i] = len(sizes) - 1
		}
	}
	return budget - left
}

// unfold shows short answers that stand alone among turns that are shown, where what they answer is told after all: the
// line that stands for one is longer.
func unfold(v *view) {
	for i := 1; i < len(v.turns); i++ {
		t := &v.turns[i]
		alone := v.folded(i) && !v.folded(i-1) && (i+1 == len(v.turns) || !v.folded(i+1))
		short := t.words != "" && v.count(t.words) <= foldPrice/2
		if alone && short && t.folded == 0 && t.again == 0 && asks(v.said[i-1]) {
			v.size[i] = 0
		}
	}
}

// listed are the forms in which line k on a turn tells what the answer speaks of, longest first.
func (t *turn) listed(k int) []string { return listedInShort(t.came[k], cmp.Or(t.words, t.opens)) }

// shortestListed is the shortest of them: older answers need room too, and what is left lengthens it.
func (t *turn) shortestListed(k int) string {
	return slices.MinFunc(t.listed(k), func(a, b string) int { return cmp.Compare(len(a), len(b)) })
}

// told adds what the agent answered where that is all that came of a question, the newest first: in short where there
// is no room for all of its words. It returns what it costs.
func (v *view) told(budget int) int {
	left := budget
	for i := len(v.turns) - 1; i >= 0; i-- {
		t := &v.turns[i]
		if t.said == "" || v.said[i] != "" || v.folded(i) || !t.onlyTold() || !t.questions() {
			continue
		}
		for _, form := range []string{t.said, firstSaid(t.said)} {
			if n := v.count(agentMark+form) + 2; n <= left && (n <= left/3 || form != t.said) {
				v.said[i], left = form, left-n
				break
			}
		}
	}
	return budget - left
}

// ask adds what the agent asked at the end of a turn, in short where all of its words take more than so large a part of
// the room. What it refused is not left out of them: the question would read as an offer to do it.
func (v *view) ask(i int, left *int, part int) {
	asked := v.turns[i].said
	refused := v.memory.refusals.of(asked, refusal).said
	for _, said := range append([]string{asked}, inShort(asked)...) {
		if !strings.Contains(said, refused) {
			continue
		}
		if n := v.count(agentMark+said) + 2; v.said[i] == "" && n <= *left && (n <= *left/part || said != asked) {
			v.said[i], *left = said, *left-n
		}
	}
}

// replied adds what answers that go on speak of, the newest first: what was asked, then what was said and is taken up.
// It returns what it costs.
func (v *view) replied(budget int) int {
	left := budget
	for i := len(v.turns) - 1; i > 0; i-- {
		if !v.folded(i) && v.turns[i].repliesTo(&v.turns[i-1]) {
			v.ask(i-1, &left, 2)
		}
	}
	for i := len(v.turns) - 1; i > 0; i-- {
		if !v.folded(i) && v.turns[i].takesUp(&v.turns[i-1]) {
			v.ask(i-1, &left, 1)
		}
	}
	return budget - left
}

// fill adds what else came of the turns, the newest first: what the agent answered where that is all that came of
// them, what failed and what was done, then the words of the agent, in at most said tokens, then what was only looked
// at. Left is for all of it, in a note of so large a budget: in a small one what was done comes before what was said.
// What failed is not said again where state tells it.
func (v *view) fill(budget, left, said int, state string) {
	part := func(hundredths int, add func(part *int)) {
		all := left * hundredths / 100
		part := all
		add(&part)
		left -= all - part
	}
	v.take(&left, v.focus.bears)
	v.agent(&left, &left, func(i int) bool { return v.focus.bears(v.turns[i].said) })
	part(50, func(half *int) { takeNewest(v, half) })
	failed := func(line string) bool {
		call, ok := strings.CutPrefix(line, work.Failed)
		call, _, _ = strings.Cut(call, ": ")
		return ok && !strings.Contains(state, call)
	}
	v.take(&left, failed)
	v.take(&left, isAnswered)
	part(50, func(half *int) {
		v.agent(half, half, func(i int) bool { return i+1 < len(v.turns) && v.turns[i+1].answers() })
		v.take(half, isDeed)
	})
	part(mix(budget, smallBudget, largeBudget, 0, toldShare), func(most *int) { *most -= v.lengthen(*most, isAnswered) })
	part(mix(budget, smallBudget, largeBudget, 0, toldShare), func(half *int) {
		v.agent(half, half, func(i int) bool { return v.turns[i].onlyTold() })
	})
	did := func(line string) bool {
		return !isDeed(line) && !isAside(line) && !strings.HasPrefix(line, work.Failed)
	}
	part(mix(budget, smallBudget, largeBudget, 100, didShare), func(most *int) { v.take(most, did) })
	part(50, func(half *int) {
		v.take(half, func(line string) bool { return isSaid(line) && !isReasoned(line) })
	})
	v.agent(&left, &said, func(int) bool { return true })
	v.take(&left, did)
	v.take(&left, isDeed)
	v.take(&left, func(line string) bool { return strings.HasPrefix(line, work.Besides) })
	left -= v.lengthen(left, isAnswered)
	left -= v.lengthen(left, tellsCall)
	v.take(&left, isReasoned)
	v.sayMore(&left)
}

const (
	// toldShare is how much of what is left in a large note goes to what the agent answered where that is all that came
	// of a turn, and didShare how much of the rest to what was done before its other words, in hundredths.
	toldShare = 40
	didShare  = 70
)

// takeNewest adds what the agent found and decided on the way in the last turns, and which files it changed: that holds
// over what stands above.
func takeNewest(v *view, left *int) {
	for i := max(0, len(v.turns)-maxNewest); i < len(v.turns); i++ {
		for k, line := range v.turns[i].came {
			if v.came[i][k] == "" && !v.folded(i) && !isReasoned(line) &&
				(strings.HasPrefix(line, foundMark) || strings.HasPrefix(line, work.ChangedFiles)) {
				v.takeLine(i, k, left, line)
			}
		}
	}
}

// isAside reports whether a line tells what was only looked at, or said on the way.
func isAside(line string) bool {
	return strings.HasPrefix(line, work.Besides) || isSaid(line)
}

// isSaid reports whether a line tells what the agent said beside its closing words.
func isSaid(line string) bool {
	return isFound(line) || strings.HasPrefix(line, harnessMark) ||
		strings.HasPrefix(line, work.Reported)
}

// isAnswered reports whether a line tells what a short answer speaks of.
func isAnswered(line string) bool {
	return strings.HasPrefix(line, choiceMark) || strings.HasPrefix(line, listedMark)
}

// onlyTold reports whether what the agent said is all that came of a turn.
func (t *turn) onlyTold() bool {
	return !slices.ContainsFunc(t.came, func(line string) bool { return !isAside(line) && !isOpen(line) })
}

// agent adds the words of the agent of the turns that are wanted, the newest first.
func (v *view) agent(left, said *int, wanted func(i int) bool) {
	for i := len(v.turns) - 1; i >= 0; i-- {
		t := &v.turns[i]
		if t.said == "" || len(v.said[i]) >= len(t.said) || v.folded(i) || !wanted(i) {
			continue
		}
		n := v.count(agentMark+t.said) + 2
		if v.said[i] != "" { // in short
			n -= v.count(agentMark+v.said[i]) + 2
		}
		if n <= min(*left, *said) {
			v.said[i] = t.said
			if *left -= n; said != left {
				*said -= n
			}
		}
	}
}

// take adds the lines that are wanted and fit, the newest first. A call that does not fit
// is told without arguments.
func (v *view) take(left *int, wanted func(line string) bool) {
	for i := len(v.turns) - 1; i >= 0; i-- {
		for k, line := range v.turns[i].came {
			if v.came[i][k] != "" || !wanted(line) || v.folded(i) && !isDeed(line) {
				continue
			}
			if isAnswered(line) {
				v.takeLine(i, k, left, v.turns[i].shortestListed(k))
				continue
			}
			forms := append([]string{line}, shorterCalls(line)...)
			if strings.HasPrefix(line, work.Reported) {
				forms = append(forms, shorterReports(line)...)
			}
			v.takeLine(i, k, left, forms...)
		}
	}
}

// takeLine shows a line on a turn in the first of these forms that fits.
func (v *view) takeLine(i, k int, left *int, forms ...string) {
	for _, text := range forms {
		if n := v.count(text) + 2; n <= *left {
			v.came[i][k], *left = text, *left-n
			return
		}
	}
}

// folded reports whether nothing of a turn is shown but that it was there.
func (v *view) folded(i int) bool {
	t := &v.turns[i]
	return t.folded > 0 || v.size[i] == len(sizes)-1 || t.again > 0 && len(t.came) == 0
}

// whole reports whether all words of a turn are shown.
func (v *view) whole(i int) bool {
	return v.turns[i].again > 0 || !v.folded(i) && !v.turns[i].cut && !strings.Contains(v.words(i), excerpt.LeftOut)
}

// wordsWhole reports whether all words of persons are shown.
func wordsWhole(v *view) bool {
	for i := range v.turns {
		if v.turns[i].folded == 0 && !v.whole(i) {
			return false
		}
	}
	return true
}

// complete reports whether all of the thread is shown.
func (v *view) complete() bool {
	for i := range v.turns {
		t := &v.turns[i]
		if t.folded == 0 && (!v.whole(i) || !tellsAll(v.came[i], t.came) || !sayable(v, i)) {
			return false
		}
	}
	return true
}

// worded is how many turns are shown with words of persons.
func worded(v *view) (n int) {
	for i := range v.turns {
		if v.words(i) != "" {
			n++
		}
	}
	return n
}

// words are those of a turn as they are shown.
func (v *view) words(i int) string {
	t := &v.turns[i]
	if v.folded(i) || t.words == "" || t.again > 0 {
		return ""
	}
	if t.cut && sizes[v.size[i]] > maxFirst {
		return t.words // it was cut before
	}
	return v.usage.shorter(t.words, sizes[v.size[i]], t.id, v.inPlace[i]...)
}

// price is what the head and the words of a turn cost, in tokens.
func (v *view) price(i int) int {
	if v.folded(i) {
		return 1
	}
	cost := v.count(strings.Join(v.head(i), "\n")) + 1
	switch {
	case slices.Contains(v.turns[i].came, workedOn):
		cost += v.count("- " + workedMute)
	case !v.turns[i].onlyTold():
		cost += untoldPrice
	}
	if v.turns[i].refuted {
		cost += v.count(refutedMark)
	}
	return cost
}

const (
	// untold stands where nothing is told of what was done in a turn, for it not to read as if nothing was.
	untold      = "[...]"
	untoldPrice = 3 // in tokens
)

// head are the number of a turn and its words.
func (v *view) head(i int) []string {
	t := &v.turns[i]
	head := "[" + strconv.Itoa(t.n) + "]"
	switch {
	case t.again > 0:
		head += fmt.Sprintf("%s%d]", sameMark, t.again)
	case t.opens != "":
		head += " " + t.stays + `: "` + t.opens + `"`
	case t.stays != "":
		head += " " + t.stays
	}
	lines := []string{head}
	if words := v.words(i); words != "" {
		lines = append(lines, asQuoted(words))
	}
	return lines
}

// asQuoted are the words of a person as they are written, a mark before each line.
func asQuoted(words string) string {
	var lines []string
	for line := range strings.SplitSeq(words, "\n") {
		lines = append(lines, strings.TrimRight(quoteMark+strings.TrimRight(line, "\r"), " "))
	}
	return strings.Join(lines, "\n")
}

// lines are the thread as it is written.
func (v *view) lines() []string {
	if len(v.turns) == 0 {
		return nil
	}
	var out []string
	for i := 0; i < len(v.turns); i++ {
		if v.folded(i) {
			end := i + 1
			for end < len(v.turns) && v.folded(end) {
				end++
			}
			out = append(out, v.fold(i, end))
			for ; i < end-1; i++ {
				out = append(out, v.shown(i)...)
			}
			out = append(out, withSaid(v, i)...) // what the next one answers
			continue
		}
		out = append(out, v.head(i)...)
		out = append(out, withSaid(v, i)...)
	}
	if v.repeats {
		out = slices.Insert(out, 0, aboutRepeats)
	}
	quotes := func(s string) bool { return strings.HasPrefix(s, quoteMark) }
	if !v.tight && slices.ContainsFunc(out, quotes) {
		out = slices.Insert(out, 0, aboutThread)
	}
	return slices.Insert(out, 0, headThread)
}

// withSaid is what is shown of a turn, and its closing words, in order: what the harness asked came behind these.
func withSaid(v *view, i int) []string {
	shown := slices.DeleteFunc(v.shown(i), func(line string) bool {
		return isToldBy(strings.TrimPrefix(line, "- "), v.said[i])
	})
	if v.said[i] == "" {
		return shown
	}
	at := slices.IndexFunc(shown, func(line string) bool { return strings.HasPrefix(line, "- "+harnessMark) })
	switch {
	case strings.HasPrefix(v.said[i], planMark): // what was done, and decided, came behind it
		at = 0
	case at < 0:
		at = len(shown)
	}
	return slices.Insert(shown, at, "- "+agentMark+v.turns[i].quoted(v.said[i]))
}

// shown are the lines on what came of a turn that are shown.
func (v *view) shown(i int) (lines []string) {
	worked, told := -1, v.said[i] != ""
	for k, line := range v.came[i] {
		if v.turns[i].came[k] == workedOn {
			worked, line = len(lines), workedOn // whether there is room or not: it would read as if nobody had
		}
		if line == toldAbove {
			told = true
			continue
		}
		if line != "" && line != untold {
			told = told || line != workedOn && !strings.HasPrefix(line, work.Besides)
			lines = append(lines, "- "+line)
		}
	}
	if worked >= 0 && !told {
		lines[worked] = "- " + workedMute
		if strings.Contains(v.stood, fmt.Sprintf("\n[%d]\n", v.turns[i].n)) {
			lines[worked] = "- " + workedBelow
		}
	}
	if !told && len(lines) == 0 && !v.turns[i].onlyTold() && !v.folded(i) {
		return []string{"- " + untold}
	}
	return lines
}
