package strategies

import (
	"errors"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// preparation is everything that can be known before a model is asked. Indices
// are into the messages of the view.
type preparation struct {
	// Replaced is the cost of all that is superseded, in tokens.
	Replaced int
	// Fits: what stays is under the target with a summary of the largest size. Otherwise keeping fewer
	// messages may help.
	Fits bool
	// Previous is the text of the latest earlier summary that is superseded, see [note.Said]. It is
	// empty where there is none.
	Previous string
	// Cut is the index after the last message that goes.
	Cut int
	// SplitTurn: the cut falls inside a turn. Then TurnPrefix is the turn's first part; else it is
	// empty. Where an earlier summary tells what was before the turn, and nothing came between, the
	// turn's first part is history, which renews that summary.
	SplitTurn           bool
	History, TurnPrefix []abi.Unit
	// Alone: nothing was before the turn that is split. What the model reads is its first part alone.
	Alone bool
	// Supersede are the ids of all that is superseded, also of the previous summary and of what the
	// model does not get to read.
	Supersede []string

	// Todo is the list of tasks as it stands now; the caller sets it. The model gets to read it with
	// the last of the history. It is no part of the summary: the note has it below, word for word.
	Todo string

	view *View
	// task and request are the indices of messages of persons that stay, without which what is
	// superseded cannot be understood: the first message, and the split turn's. -1 for none.
	task, request int
}

// prepare returns what is superseded and what the model gets to read of it, where the last keepLast
// messages stay. It changes nothing. The error, an [abi.Error] with the code bad_summary, says why
// there is nothing to summarize: the session is within its targets with nothing older than its recent
// end left, the last entry is a compaction, or nothing that may go says anything.
func prepare(v *View, cfg summary, keepLast int) (*preparation, error) {
	switch {
	case v.Fits() && !cfg.older:
		return nil, nothing("the session is within its target")
	case endsInSummary(v.Messages):
		return nil, nothing("the session ends in a summary")
	}
	reserve := cfg.limit() + cfg.budget
	c := makeCut(v, cfg.window(), keepLast, reserve, cfg.exact)
	if len(c.units) == 0 {
		return nil, nothing("all of it is pinned, recent or of the current turn")
	}
	p := &preparation{
		Replaced: c.taken.tokens, Fits: v.fitsWithout(c.taken, reserve), Cut: c.end, view: v, task: -1, request: -1,
	}
	if c.previous != nil {
		p.Previous = note.Said(v.Messages[c.previous[0]].Text())
	}
	p.part(c)
	if !p.Alone && !p.says(p.History) {
		return nil, nothing("no message that may go says anything")
	}
	p.name(c)
	return p, nil
}

// ErrNothing is the cause where there is nothing that a model could summarize.
var ErrNothing = errors.New("nothing to summarize")

// nothing returns the error that there is nothing to summarize.
func nothing(why string) error {
	return &abi.Error{Code: abi.CodeBadSummary, Op: summarizeName, Phase: abi.PhaseCall, Err: ErrNothing,
		Message: "nothing to summarize: " + why}
}

func endsInSummary(msgs []abi.Message) bool {
	for i := len(msgs) - 1; i >= 0; i-- {
		if !msgs[i].Kind.Internal() {
			return msgs[i].Kind == abi.KindSummary
		}
	}
	return false
}

// part divides what is superseded at the turn in which the cut falls.
func (p *preparation) part(c cut) {
	turn := turnOf(p.view.Messages, c.end)
	for _, u := range c.units {
		if turn >= 0 && u[0] >= turn {
			p.TurnPrefix = append(p.TurnPrefix, u)
		} else {
			p.History = append(p.History, u)
		}
	}
	before := p.says(p.History)
	p.Alone = !before && p.says(p.TurnPrefix) && (p.Previous == "" || strings.HasPrefix(p.Previous, turnContext))
	if p.SplitTurn = p.Alone || before && p.says(p.TurnPrefix); !p.SplitTurn {
		p.History, p.TurnPrefix = append(p.History, p.TurnPrefix...), nil
	}
	p.request = turn
}

// says reports whether the model gets to read anything of the units.
func (p *preparation) says(units []abi.Unit) bool {
	for _, u := range units {
		for _, i := range u {
			if !silent(&p.view.Messages[i]) {
				return true
			}
		}
	}
	return false
}

// name lists what is superseded, and finds the messages of persons that stay before it.
func (p *preparation) name(c cut) {
	gone := make([]bool, len(p.view.Messages))
	for _, u := range append(p.History[:len(p.History):len(p.History)], p.TurnPrefix...) {
		for _, i := range u {
			gone[i] = true
		}
	}
	if c.previous != nil {
		gone[c.previous[0]] = true
	}
	persons := abi.Persons(p.view.Messages)
	for i := range p.view.Messages[:c.end] {
		m := &p.view.Messages[i]
		switch {
		case gone[i]:
			p.Supersede = append(p.Supersede, m.ID)
		case persons[i] && p.task < 0:
			p.task = i
		}
	}
	if p.request >= 0 && (gone[p.request] || p.request == p.task) {
		p.request = -1
	}
}
