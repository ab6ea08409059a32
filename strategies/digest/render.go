package digest

import (
	"strings"

	"github.com/kagewasm/kagewasm/strategies/ledger"
	"github.com/kagewasm/kagewasm/strategies/outline"
)

// Options say how a digest is written.
type Options struct {
	// Summary is what a model or a plugin wrote. It stands first, as [Reserve]
	// gives it, and does not count. Empty: the digest fills the sections of
	// Outline itself.
	Summary string
	// Outline is the set of sections. Default outline.Handoff.
	Outline outline.Outline
	// Budget is what the digest may cost beside Summary, in tokens.
	Budget int
	// Failures is what the last [LastFailures] commands that failed and errors
	// may cost beside Budget, in tokens, for them to stand there word for word.
	Failures int
	// Count counts the tokens of a text. Required.
	Count func(string) int
}

// MinBudget is the budget, in tokens, below which there are no sections, but
// names alone: headings would cost more than they say.
const MinBudget = 300

// Render writes the note. It is empty where there is nothing to say, or no
// room to say it in.
func (d *Digest) Render(o Options) string {
	if o.Outline.Sections == nil {
		o.Outline = outline.Handoff
	}
	summary := Reserve(strings.TrimSpace(o.Summary))
	added := d.added(o, summary)
	if summary == "" || added == "" {
		return summary + added
	}
	return summary + "\n\n" + added
}

// added is what the digest says beside a summary, within the budget.
func (d *Digest) added(o Options, summary string) string {
	if o.Budget < MinBudget {
		return d.names.Render(o.Budget, o.Count)
	}
	if d.Empty() {
		return ""
	}
	for room := o.Budget; room >= MinBudget; {
		text := d.render(o, room, summary)
		n := o.Count(text)
		if n <= o.Budget+o.Failures {
			return text
		}
		room -= max(n-o.Budget-o.Failures, o.Budget/50, 1)
	}
	return d.names.Render(o.Budget, o.Count)
}

func (d *Digest) render(o Options, budget int, summary string) string {
	p := parts{budget: budget, count: o.Count, text: make(map[string]string)}
	p.failures(d.names.Failures(), o.Failures)
	if summary != "" {
		p.entries(headTodos, d.todos.lines(), atLeast(10, budget))
		p.entries(headMusts, d.musts, atLeast(8, budget))
		return p.kept(d.names, summary)
	}
	share := shares
	if budget < largeBudget {
		share = smallShares
	}
	p.entries(headTodos, d.todos.lines(), atLeast(share.todos, budget))
	p.entries(headRequests, d.requests, share.requests)
	p.entries(headMusts, d.musts, atLeast(share.musts, budget))
	p.entries(headNext, d.next, share.next)
	p.entries(headDecisions, d.decisions, share.decisions)
	p.entries(ledger.HeadCommands, d.names.Commands(maxCommands), share.commands)
	p.earlier(d.earlier, share.earlier)
	return p.sections(d.names, o.Outline)
}

// atLeast is a share that is room for a short list in a small budget too: the
// tasks and what is required are lost to nothing but want of room (FEATURES A6).
func atLeast(share, budget int) int {
	const tokens, most = 64, 15
	return max(share, min(most, 100*tokens/budget))
}

// maxCommands is how many of the last commands are listed as steps.
const maxCommands = 6

// share is what a part of a digest may cost, in hundredths of the budget. What
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
