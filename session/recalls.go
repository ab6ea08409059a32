package session

import "sync"

// recalls answers the recalls of a session from one index, which grows with it.
// The zero value is ready.
type recalls struct {
	mu    sync.Mutex
	index recall
}

func (r *recalls) answer(stored []StoredMessage, q RecallQuery, budget int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index.update(stored, recallable)
	return r.index.answer(q, budget)
}
