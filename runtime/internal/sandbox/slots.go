package sandbox

import (
	"sync"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// slots keeps the address space of small memories, zeroed, for the next ones:
// to map and unmap it, and to fault every page in again, takes longer than a
// small guest runs. Nil keeps nothing.
type slots struct {
	mu     sync.Mutex
	free   []slot
	bytes  int // of memory that is kept with them
	closed bool
}

// slot is address space outside of Go's heap.
type slot struct {
	space  []byte // nil where there is none
	backed int    // how many of its first bytes may take memory
}

const (
	// maxKept is how much memory is kept, in bytes.
	maxKept = 8 << 20
	// maxSlots is how many slots are kept.
	maxSlots = 64
	// maxSlot is how much memory one of them may have.
	maxSlot = 2 << 20
)

// get returns a slot of n zero bytes.
func (s *slots) get(n int) slot {
	if s == nil {
		return slot{space: host.Map(n)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.free {
		if len(f.space) == n {
			last := len(s.free) - 1
			s.free[i], s.free = s.free[last], s.free[:last]
			s.bytes -= f.backed
			return f
		}
	}
	return slot{space: host.Map(n)}
}

// put takes back a slot whose first bytes were used.
func (s *slots) put(f slot, used int) {
	f.backed = max(f.backed, used)
	if s == nil || f.backed > maxSlot {
		host.Unmap(f.space)
		return
	}
	clear(f.space[:used])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.bytes+f.backed > maxKept || len(s.free) == maxSlots {
		host.Unmap(f.space)
		return
	}
	s.free = append(s.free, f)
	s.bytes += f.backed
}

// close unmaps what is kept, and whatever comes back later.
func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.free {
		host.Unmap(f.space)
	}
	s.free, s.bytes, s.closed = nil, 0, true
}
