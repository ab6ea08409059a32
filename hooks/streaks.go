package hooks

import (
	"slices"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// MaxInARow is how many cancels, and how many requests of one plugin, a
	// session listens to in a row.
	MaxInARow = 3
	// maxStreaks is how many sessions are counted. Where there are more, the
	// count that began first is forgotten.
	maxStreaks = 1000
)

// streaks counts how often in a row something happened, by key.
type streaks struct {
	mu    sync.Mutex
	count map[string]int
	order []string // of the keys, as they came
}

// add counts one more, unless there are MaxInARow already, and reports whether
// it did.
func (s *streaks) add(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch n := s.count[key]; {
	case n >= MaxInARow:
		return false
	case n == 0:
		s.begin(key)
	}
	s.count[key]++
	return true
}

// full reports whether add would refuse.
func (s *streaks) full(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[key] >= MaxInARow
}

func (s *streaks) begin(key string) {
	if s.count == nil {
		s.count = make(map[string]int)
	}
	if len(s.order) == maxStreaks {
		delete(s.count, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
	s.order = append(s.order, key)
}

// end forgets a row.
func (s *streaks) end(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.count[key]; !ok {
		return
	}
	delete(s.count, key)
	i := slices.Index(s.order, key)
	s.order = slices.Delete(s.order, i, i+1)
}

// streakKey tells sessions, and what is counted in them, apart.
func streakKey(s *abi.Session, what string) string {
	return s.ID + "\x00" + s.AgentPath + "\x00" + what
}
