package evidence

import (
	"context"

	"github.com/kagewasm/kagewasm/internal/lists"
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
	hits := r.index.Search(q.Text, rank.Conversation())
	return lists.Map(hits, func(h rank.Hit) string { return r.ids[h.Text] }), nil
}
