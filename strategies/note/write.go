package note

import (
	"strings"

	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// Options say how a note is written.
type Options struct {
	// Summary is what a model or a plugin wrote. It stands first and does not
	// count; lines of it that look like the host's own are quoted. Empty: the
	// note fills the sections of Outline itself.
	Summary string
	// Outline is the set of sections. Default the first of [Outlines].
	Outline Outline
	// Budget is what the note may cost beside Summary, in tokens.
	Budget int
	// Failures is what the last 20 commands that failed and errors may cost
	// beside Budget, in tokens, for them to stand there word for word.
	Failures int
	// Count counts the tokens of a text. Required.
	Count func(string) int
}

// MinBudget is the budget, in tokens, below which there are no sections, but
// names alone: headings would cost more than they say.
const MinBudget = 300

// Write returns the note, and the tokens of what stands in it beside
// [Options.Summary]. The text is empty where there is nothing to say, or no room
// to say it in.
func (n *Note) Write(o Options) (text string, tokens int) {
	if o.Outline.Sections == nil {
		o.Outline = handoff
	}
	summary := quote(strings.TrimSpace(o.Summary))
	added := n.added(o, summary)
	if summary != "" && added != "" {
		added = "\n\n" + added
	}
	return summary + added, o.Count(added)
}

// added is what the note says beside a summary, within the budget.
func (n *Note) added(o Options, summary string) string {
	if o.Budget < MinBudget {
		return n.names.Render(o.Budget, o.Count)
	}
	if n.empty() {
		return ""
	}
	write := func(budget int) string { return n.render(o, budget, summary) }
	if text, ok := names.Fit(o.Budget, o.Failures, MinBudget, o.Count, write); ok {
		return text
	}
	return n.names.Render(o.Budget, o.Count)
}

func (n *Note) render(o Options, budget int, summary string) string {
	p := parts{budget: budget, count: o.Count, text: make(map[string]string)}
	p.failures(n.names.Failures(), o.Failures)
	if summary != "" {
		p.entries(headTodos, n.todos.lines(), atLeast(10, budget))
		p.entries(headMusts, n.musts, atLeast(8, budget))
		return p.kept(n.names, summary)
	}
	share := shares
	if budget < largeBudget {
		share = smallShares
	}
	p.entries(headTodos, n.todos.lines(), atLeast(share.todos, budget))
	p.entries(headRequests, n.requests, share.requests)
	p.entries(headMusts, n.musts, atLeast(share.musts, budget))
	p.entries(headNext, n.next, share.next)
	p.entries(headDecisions, n.decisions, share.decisions)
	p.entries(names.HeadCommands, n.names.Commands(maxCommands), share.commands)
	p.earlier(n.earlier, share.earlier)
	return p.sections(n.names, o.Outline)
}

// atLeast is a share that is room for a short list in a small budget too: the
// tasks and what is required are lost to nothing but want of room.
func atLeast(share, budget int) int {
	const tokens, most = 64, 15
	return max(share, min(most, 100*tokens/budget))
}

// maxCommands is how many of the last commands are listed as steps.
const maxCommands = 6

// share is what a part of a note may cost, in hundredths of the budget. What
// is left, and what parts do not need, is for names.
type share struct {
	todos, requests, musts, next, decisions, commands, earlier int
}

// largeBudget, in tokens, holds all names that matter in most sessions; a
// smaller one leaves less for sentences, of which each costs a dozen names.
const largeBudget = 4000

var (
	shares      = share{todos: 5, requests: 5, musts: 5, next: 2, decisions: 3, commands: 3, earlier: 8}
	smallShares = share{todos: 3, requests: 3, musts: 3, next: 1, decisions: 1, commands: 1, earlier: 2}
)
