package evidence

import (
	"context"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// Ranking is the project's own search as a memory; the zero value is empty.
type Ranking struct {
	// Passages brings back the passages of long turns, and not all of each.
	Passages bool

	index rank.Index
	turns []Passage
}

// Retain indexes the session's turns.
func (r *Ranking) Retain(_ context.Context, s *Session) error {
	for i := range s.Turns {
		t := &s.Turns[i]
		r.index.Add(rank.Text{Body: t.Text(), About: s.Date, Author: t.Speaker, Group: s.ID})
		r.turns = append(r.turns, Passage{t.ID, t.Text()})
	}
	return nil
}

// Recall searches them.
func (r *Ranking) Recall(_ context.Context, q *Question) ([]Passage, error) {
	opts := rank.Conversation()
	opts.Passages = r.Passages
	return lists.Map(r.index.Search(q.Text, opts), func(h rank.Hit) Passage {
		p := r.turns[h.Text]
		if r.Passages {
			p.Text = p.Text[h.Start:h.End]
		}
		return p
	}), nil
}
