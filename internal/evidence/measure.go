package evidence

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Memory is the memory under test.
type Memory interface {
	// Retain is given a session when it is over.
	Retain(ctx context.Context, s *Session) error
	// Recall is given a question and returns turns, or passages of them, best
	// first.
	Recall(ctx context.Context, q *Question) ([]Passage, error)
}

// Passage is what is brought back of a turn.
type Passage struct {
	Turn string // its id
	Text string
}

// Unit is what is counted and what fills a budget.
type Unit string

const (
	UnitTurn    Unit = "turn"    // whole turns, whatever was brought back of them
	UnitPassage Unit = "passage" // what was brought back, which may be less
)

// Options of a measurement.
type Options struct {
	// Memory makes the memory of one conversation, empty.
	Memory func(ctx context.Context, d *Dataset) (Memory, error)
	// Counter counts the tokens of turns for the budget.
	Counter abi.Counter
	// Budget is how many tokens of turns are looked at beside the fixed
	// figures. Default [DefaultBudget].
	Budget int
	// Unit is what the figures count. Default [UnitTurn].
	Unit Unit
	// Progress is told before each conversation; nil is nobody.
	Progress func(d *Dataset)
}

// DefaultBudget is the budget where none is given, in tokens.
const DefaultBudget = 1024

// Measure asks every question of every conversation.
func Measure(ctx context.Context, list []Dataset, o Options) (*Result, error) {
	if o.Budget <= 0 {
		o.Budget = DefaultBudget
	}
	o.Unit = cmp.Or(o.Unit, UnitTurn)
	r := &Result{Unit: o.Unit, Budget: o.Budget, ByCategory: make(map[string]*Recall)}
	for i := range list {
		d := &list[i]
		if o.Progress != nil {
			o.Progress(d)
		}
		if err := r.conversation(ctx, d, o); err != nil {
			return nil, fmt.Errorf("conversation %s: %w", d.ID, err)
		}
	}
	if r.Questions+r.Sessions.Questions == 0 {
		return nil, &abi.Error{Code: abi.CodeBadInput, Op: "eval",
			Message: fmt.Sprintf("none of the %d questions names evidence: there is nothing to compare with", r.WithoutEvidence),
			Hint:    `a question names the turns its answer needs: "evidence":["D1:3"]`}
	}
	r.finish()
	return r, nil
}

func (r *Result) conversation(ctx context.Context, d *Dataset, o Options) error {
	m, err := o.Memory(ctx, d)
	if err != nil {
		return err
	}
	r.Conversations++
	sizes := newSizes(d, o.Unit, o.Counter)
	r.Turns += len(sizes.of)
	for i := range d.Sessions {
		if err := m.Retain(ctx, &d.Sessions[i]); err != nil {
			return fmt.Errorf("retaining session %s: %w", d.Sessions[i].ID, err)
		}
	}
	for i := range d.Questions {
		q := &d.Questions[i]
		if len(q.Evidence) == 0 && len(q.Sessions) == 0 {
			r.WithoutEvidence++
			continue
		}
		if err := ctx.Err(); err != nil {
			return &abi.Error{Code: abi.CodeCanceled, Op: "eval", Message: "the caller gave up", Err: err}
		}
		found, err := m.Recall(ctx, q)
		if err != nil {
			return fmt.Errorf("recalling for %.80q: %w", q.Text, err)
		}
		r.add(q, found, sizes)
		for _, id := range q.Evidence {
			if _, known := sizes.of[id]; !known {
				r.UnknownEvidence++
			}
		}
	}
	return nil
}

// sizes are what the turns of a conversation measure.
type sizes struct {
	of         map[string]size
	characters int // of all
	unit       Unit
	counter    abi.Counter
}

type size struct {
	characters, tokens int
	session            string
}

func newSizes(d *Dataset, unit Unit, counter abi.Counter) sizes {
	s := sizes{of: make(map[string]size), unit: unit, counter: counter}
	for _, session := range d.Sessions {
		for _, t := range session.Turns {
			text := t.Text()
			one := size{characters: utf8.RuneCountInString(text), tokens: counter.Text(text), session: session.ID}
			s.of[t.ID] = one
			s.characters += one.characters
		}
	}
	return s
}

// units are the passages as they are counted: of a turn only the first where
// turns are.
func (s *sizes) units(found []Passage) []Passage {
	if s.unit == UnitPassage {
		return found
	}
	seen := make(map[string]bool)
	return lists.Filter(found, func(p Passage) bool {
		first := !seen[p.Turn]
		seen[p.Turn] = true
		return first
	})
}

func (s *sizes) charactersOf(p Passage) int {
	if s.unit == UnitPassage {
		return utf8.RuneCountInString(p.Text)
	}
	return s.of[p.Turn].characters
}

func (s *sizes) tokensOf(p Passage) int {
	if s.unit == UnitPassage {
		return s.counter.Text(p.Text)
	}
	return s.of[p.Turn].tokens
}

// within is how many of the first fit together.
func within(found []Passage, room int, cost func(Passage) int) int {
	for i, p := range found {
		if room -= cost(p); room < 0 {
			return i
		}
	}
	return len(found)
}

// sessions are those of the turns, in the order they are met.
func (s *sizes) sessions(ids []string) (list []string) {
	seen := make(map[string]bool)
	for _, id := range ids {
		if name := s.of[id].session; !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	return list
}

// share is how many of the wanted are in the list, of all.
func share(wanted, list []string) float64 {
	n := 0
	for _, w := range wanted {
		if slices.Contains(list, w) {
			n++
		}
	}
	return float64(n) / float64(len(wanted))
}

func first(list []string, n int) []string { return list[:min(n, len(list))] }
