package session

import (
	"cmp"
	"context"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

// RecallIndex keeps what one recall indexed for the next ones, which then cost next to nothing. A
// [ToolHost] embeds one; [Session] has its own. What a message says under its id must never change. The
// zero value is ready, and must not be copied.
type RecallIndex struct {
	mu    sync.Mutex
	index recall
}

func (r *RecallIndex) kept() *RecallIndex { return r }

func (s *Session) kept() *RecallIndex { return &s.recalls }

// searchOf returns the search that plugins call.
func searchOf(s *Session) abi.Search {
	return func(_ context.Context, r abi.SearchRequest) (abi.SearchResponse, error) {
		return abi.SearchResponse{Found: s.recalls.found(s.All(), RecallQuery{Text: r.Query, Limit: r.Limit})}, nil
	}
}

func (r *RecallIndex) found(stored []StoredMessage, q RecallQuery) []Recalled {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index.update(stored, recallable)
	return r.index.excerpts(r.index.find(q), q, cmp.Or(max(0, q.Tokens), recallTokens))
}

func (r *RecallIndex) answer(stored []StoredMessage, q RecallQuery, budget int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index.update(stored, recallable)
	return r.index.answer(q, budget)
}
