package note

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// Options say how a note is written.
type Options struct {
	// Summary is what a model or a plugin wrote. It stands first and does not
	// count; lines of it that look like the host's own are quoted.
	Summary string
	// Budget is what the note may cost beside Summary, in tokens.
	Budget int
	// Failures is what the last 20 commands that failed and errors may cost
	// beside Budget, in tokens, for them to stand there word for word.
	Failures int
	// Recall says how what went can be read and searched, in one line. Empty: the
	// note says nothing of it.
	Recall string
	// Count counts the tokens of a text. Required.
	Count func(string) int
}

// What the other parts of a note may cost, in hundredths: the words of the agent of the
// whole budget, the others of what the parts before them leave. What they do not need
// is for names, and what those leave for the thread.
const (
	saidShare    = 15
	rulesShare   = 95
	todosShare   = 25
	earlierShare = 15
	commandShare = 5
	// namesShare is what names have of the whole budget whatever the others need.
	namesShare = 15
)

// threadShare is what the words of persons may cost, in hundredths of the budget: a
// part of a small one, in which names go furthest, and most of a large one. What came
// of them may cost cameShare more: in a small one it says most to those who go on.
func threadShare(budget int) int {
	const low, high = 1000, 4000
	return 35 + 25*(min(max(budget, low), high)-low)/(high-low)
}

func cameShare(budget int) int { return max(8, min(25, 12_000/max(1, budget))) }

const (
	// minBudget is the least that is worth writing in, in tokens.
	minBudget = 40
	// worthMore is what a thread must get more for it to be written once more.
	worthMore = 64
	// maxSmallState is what the state of a small note may cost where persons said little.
	maxSmallState = 250
	// maxCommands is how many of the last commands are listed.
	maxCommands = 6
)

// Write returns the note, and the tokens of what stands in it beside
// [Options.Summary]. The text is empty where there is nothing to say, or no room
// to say it in.
func (n *Note) Write(o Options) (text string, tokens int) {
	summary := quote(strings.TrimSpace(o.Summary))
	added := n.added(o, summary)
	if summary != "" && added != "" {
		added = "\n\n" + added
	}
	return summary + added, o.Count(added)
}

// added is what the note says beside a summary, within the budget.
func (n *Note) added(o Options, summary string) string {
	if n.empty() {
		return ""
	}
	text, _ := names.Fit(o.Budget, o.Failures, minBudget, o.Count, func(budget int) string {
		text, more := n.render(o, budget, 0, summary)
		if more >= worthMore {
			text, _ = n.render(o, budget, more, summary)
		}
		return text
	})
	return text
}

// render writes the parts in order, with so many tokens more for the thread than its
// share. More is what a thread that is not whole could have besides.
func (n *Note) render(o Options, budget, extra int, summary string) (text string, more int) {
	p := parts{left: budget, count: o.Count}
	p.put(append([]string{intro}, n.transcript(o.Recall)...)...)
	reserved := max(0, min(budget*namesShare/100, p.left))
	p.left -= reserved
	whole := p.left
	share := threadShare(budget)
	least := stateShare(budget)
	p.left -= least
	v := show(n.turns, min(budget*share/100+extra, p.left), o.Count)
	unused := max(0, budget*share/100-v.cost) // by persons: a small state gets some of it
	p.left += least - v.cost
	deeds := v.deeds(min(budget*cameShare(budget)/100, p.left-least/2))
	p.left -= deeds
	state := n.state(min(max(least, min(least+unused/2, maxSmallState))+extra/4, p.left), o.Count)
	stood := strings.Join(state, "\n")
	p.left -= o.Count(stood)
	rules := p.rules(n.lost(v), p.share(rulesShare))
	came := budget*(share+cameShare(budget))/100 - v.cost - deeds
	v.fill(min(came+extra, p.left-o.Count(strings.Join(rules, "\n"))), budget*saidShare*share/6000+extra, stood)
	p.left = whole
	p.put(v.lines()...)
	p.put(rules...)
	p.put(state...)
	p.entries(headTodos, n.todos.lines(), max(p.share(todosShare), min(p.left, minBudget)))
	p.quoted(n.earlier, n.earlierBefore, p.share(earlierShare))
	p.failures(n.names.Failures(), o.Failures)
	p.entries(names.HeadCommands, n.names.Commands(maxCommands, p.String()), p.share(commandShare))
	p.left += reserved
	p.names(n.names, summary)
	if !v.complete() {
		more = extra + p.left
	}
	return p.String(), more
}

// transcript says where all of what went can be found, for each of the transcripts
// that it went from.
func (n *Note) transcript(recall string) []string {
	list := n.transcripts
	if recall != "" && !slices.Contains(list, recall) {
		list = append(slices.Clone(list), recall)
	}
	return lists.Map(list[max(0, len(list)-maxTranscripts):], func(s string) string { return recallMark + s })
}

// maxTranscripts bounds how many transcripts of a chain a note names.
const maxTranscripts = 3

// String is the rule as it is written, with the number of its turn.
func (r rule) String() string { return fmt.Sprintf("[%d] %s", r.n, r.text) }
