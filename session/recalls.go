package session

import "sync"

// RecallIndex keeps what one recall indexed for the next ones, which then cost next to
// nothing. A [ToolHost] that embeds one has it; [Session] has its own. Under its id a
// message of the host must never say anything else. The zero value is ready, and must
// not be copied.
type RecallIndex struct {
	mu    sync.Mutex
	index recall
}

func (r *RecallIndex) kept() *RecallIndex { return r }

func (s *Session) kept() *RecallIndex { return &s.recalls }

func (r *RecallIndex) answer(stored []StoredMessage, q RecallQuery, budget int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index.update(stored, recallable)
	return r.index.answer(q, budget)
}
