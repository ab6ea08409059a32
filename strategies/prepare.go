package strategies

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TargetOf says where a target comes from.
type TargetOf string

const (
	// TargetOfWindow: it is a share of the window.
	TargetOfWindow TargetOf = "window"
	// TargetOfThreshold: a share of the threshold, which is a number of tokens.
	TargetOfThreshold TargetOf = "threshold"
	// TargetOfSession: a share of what there is, where somebody asks for a compaction of less than a window.
	TargetOfSession TargetOf = "session"
	// TargetNamed: a number that the request has.
	TargetNamed TargetOf = "named"
)

// Preparation is what a model's summary of a session would be made of: all that is known before a model
// is asked. Lists of ids are in session order.
type Preparation struct {
	// TokensBefore is what the whole request costs now, TokensPruned what it costs once old tool output is shortened,
	// which comes first.
	TokensBefore int `json:"tokens_before"`
	TokensPruned int `json:"tokens_pruned"`
	// Window is how much a request may have, StartsAt where a compaction starts, Target what it goes down to.
	Window   int `json:"window"`
	StartsAt int `json:"starts_at"`
	Target   int `json:"target"`
	// TargetOf is what Target is a share of.
	TargetOf TargetOf `json:"target_of"`
	// Due says whether a look would compact: the threshold is passed, or the request asks for a compaction.
	Due bool `json:"due"`
	// Previous is the id of the latest earlier summary that goes, and PreviousSummary its text, which
	// the model brings up to date. They are empty where there is none.
	Previous        string `json:"previous,omitempty"`
	PreviousSummary string `json:"previous_summary,omitempty"`
	// Boundary is the id of the first message that is summarized, Cut of the first one behind the last that goes: from
	// there on all stay. FirstKept is the first one that the model still sees behind the summary, as [abi.Record] names
	// it: the request of a turn that is split may stay before the cut. Cut and FirstKept are empty where nothing stays
	// there.
	Boundary  string `json:"boundary"`
	Cut       string `json:"cut,omitempty"`
	FirstKept string `json:"first_kept,omitempty"`
	// SplitTurn: the cut falls inside a turn. TurnPrefix is then the first part of the turn, which is
	// summarized by itself, and Summarize what was before it. Either may have messages that say nothing
	// to a model.
	SplitTurn  bool     `json:"split_turn"`
	Summarize  []string `json:"summarize"`
	TurnPrefix []string `json:"turn_prefix"`
	// Superseded is all that goes, the previous summary too.
	Superseded []string `json:"superseded"`
	// Files are those that were read and modified in what goes, and that earlier notes in it name.
	Files abi.Files `json:"files"`
}

// Prepare returns what the summary would be made of that [Summarize.Plan] has a model write. It asks no
// model and changes nothing. Where nothing can be summarized the cause of the error is [ErrNothing], and
// its message says why: the session is within its target, the last entry is a compaction, or no cut is
// valid. Once the model has answered fewer messages may go than are listed: the room that a summary
// leaves is theirs.
func (s Summarize) Prepare(v *View, b Budget) (*Preparation, error) {
	cfg := s.summary(v)
	c, _ := s.ready(v, b, &cfg)
	if c.err != nil {
		return nil, c.err
	}
	p := c.ready.public()
	p.TokensBefore, p.TokensPruned = v.Total, v.Total
	p.Window, p.StartsAt, p.Target = v.Window, v.Upper, v.Target
	if b.Read != nil {
		p.Files = b.Read(c.gone, c.edits).Files().Merged()
	}
	return p, nil
}

// public returns the preparation by ids.
func (p *preparation) public() *Preparation {
	msgs := p.view.Messages
	ids := func(units []abi.Unit) []string {
		at := slices.Sorted(slices.Values(slices.Concat(units...)))
		return append([]string{}, lists.Map(at, func(i int) string { return msgs[i].ID })...)
	}
	out := &Preparation{PreviousSummary: p.Previous, SplitTurn: p.SplitTurn, Summarize: ids(p.History),
		TurnPrefix: ids(p.TurnPrefix), Superseded: p.Supersede, Files: abi.Files{Read: []string{}, Modified: []string{}}}
	if p.previous >= 0 {
		out.Previous = msgs[p.previous].ID
	}
	out.Boundary = ids(append(p.History[:len(p.History):len(p.History)], p.TurnPrefix...))[0]
	if p.Cut < len(msgs) {
		out.Cut = msgs[p.Cut].ID
	}
	out.FirstKept = p.firstKept()
	return out
}

// firstKept returns the id of the first message that the model sees behind the summary, "" where none is there.
func (p *preparation) firstKept() string {
	gone := set.Of(p.Supersede...)
	kept := slices.DeleteFunc(slices.Clone(p.view.Messages), func(m abi.Message) bool { return gone[m.ID] })
	for _, m := range kept[abi.PrefixEnd(kept):] {
		if !m.Kind.Internal() {
			return m.ID
		}
	}
	return ""
}

// preparation is a [Preparation] as it is worked with. Indices are into the messages of the view.
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
	// previous is the index of the summary whose text Previous is, -1 for none.
	previous int
}

// prepare returns what is superseded and what the model gets to read of it, where the last keepLast
// messages stay. It changes nothing. The error, an [abi.Error] with the code bad_summary, says why
// there is nothing to summarize: the session is within its targets with nothing older than its recent
// end left, the last entry is a compaction, or nothing that may go says anything.
func prepare(v *View, cfg summary, keepLast int) (*preparation, error) {
	switch {
	case v.Fits() && !cfg.older:
		return nil, nothing(fmt.Sprintf("the session of %d tokens is within its target of %d", v.Total, v.Target))
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
		previous: -1,
	}
	if c.previous != nil {
		p.previous = c.previous[0]
		p.Previous = note.Said(v.Messages[p.previous].Text())
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
