package hooks

import (
	"slices"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// maxInARow is how many cancels, and how many requests of one plugin, have an effect in a row in a
	// session.
	maxInARow = 3
	// maxStreaks is how many rows are counted. Where there are more, the row that began first is
	// forgotten.
	maxStreaks = 1000
)

// streaks counts how often in a row something happened, by key.
type streaks struct {
	mu   sync.Mutex
	list []streak // in the order in which they began
}

type streak struct {
	key string
	n   int
}

// add counts one more, unless there are maxInARow already, and reports whether
// it did.
func (s *streaks) add(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(key)
	if i >= 0 && s.list[i].n >= maxInARow {
		return false
	}
	if i < 0 {
		s.beginLocked(key, 1)
	} else {
		s.list[i].n++
	}
	return true
}

// set makes the count of a row n.
func (s *streaks) set(key string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(key); i >= 0 && n > 0 {
		s.list[i].n = n
	} else if i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
	} else if n > 0 {
		s.beginLocked(key, n)
	}
}

// beginLocked begins a row.
func (s *streaks) beginLocked(key string, n int) {
	if len(s.list) == maxStreaks {
		s.list = slices.Delete(s.list, 0, 1)
	}
	s.list = append(s.list, streak{key, n})
}

func (s *streaks) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(key); i >= 0 {
		return s.list[i].n
	}
	return 0
}

// full reports whether add would refuse.
func (s *streaks) full(key string) bool { return s.count(key) >= maxInARow }

// end forgets a row.
func (s *streaks) end(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(key); i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
	}
}

func (s *streaks) index(key string) int {
	return slices.IndexFunc(s.list, func(k streak) bool { return k.key == key })
}

// streakKey returns a key that tells sessions, and what is counted in them, apart.
func streakKey(s *abi.Session, what string) string {
	return s.ID + "\x00" + s.AgentPath + "\x00" + what
}
