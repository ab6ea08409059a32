package evidence

import (
	"context"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// Ranking is the project's own search as a memory; the zero value is empty.
type Ranking struct {
	index rank.Index
	ids   []string
}

// Retain indexes the session's turns.
func (r *Ranking) Retain(_ context.Context, s *Session) error {
	for i := range s.Turns {
		t := &s.Turns[i]
		r.index.Add(rank.Text{Body: t.Text(), About: s.Date, Author: t.Speaker, Group: s.ID})
		r.ids = append(r.ids, t.ID)
	}
	return nil
}

// Recall searches them.
func (r *Ranking) Recall(_ context.Context, q *Question) ([]string, error) {
	var ids []string
	for _, h := range r.index.Search(q.Text, rank.Conversation()) {
		ids = append(ids, r.ids[h.Text])
	}
	return ids, nil
}
