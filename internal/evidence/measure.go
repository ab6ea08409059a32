package evidence

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
)

// Memory is what is measured.
type Memory interface {
	// Retain is given a session when it is over.
	Retain(ctx context.Context, s *Session) error
	// Recall is given a question and returns the ids of turns, best first, each
	// once.
	Recall(ctx context.Context, q *Question) ([]string, error)
}

// Options of a measurement.
type Options struct {
	// Memory makes the memory of one conversation, empty.
	Memory func(ctx context.Context, d *Dataset) (Memory, error)
	// Counter counts the tokens of turns for the budget.
	Counter abi.Counter
	// Budget is how many tokens of turns are looked at beside the fixed
	// figures. Default [DefaultBudget].
	Budget int
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
	r := &Result{Budget: o.Budget, ByCategory: make(map[string]*Recall)}
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
	sizes := newSizes(d, o.Counter)
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
		ids, err := m.Recall(ctx, q)
		if err != nil {
			return fmt.Errorf("recalling for %.80q: %w", q.Text, err)
		}
		r.add(q, ids, sizes)
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
}

type size struct {
	characters, tokens int
	session            string
}

func newSizes(d *Dataset, counter abi.Counter) sizes {
	s := sizes{of: make(map[string]size)}
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

// within is the first of the ids that fit together.
func (s *sizes) within(ids []string, room int, cost func(size) int) []string {
	for i, id := range ids {
		if room -= cost(s.of[id]); room < 0 {
			return ids[:i]
		}
	}
	return ids
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
