package runtime

import "sync"

// rooms keeps the address space of small memories, zeroed, for the next ones:
// the kernel takes longer to map and unmap it than a small guest runs. Nil
// keeps nothing.
type rooms struct {
	mu     sync.Mutex
	free   [][]byte
	closed bool
}

const (
	// maxRooms is how many are kept, of all sizes together.
	maxRooms = 16
	// smallRoom is what a guest may have used of a room that is kept. All of
	// that stays with the process.
	smallRoom = 256 << 10
)

// get returns n zero bytes outside of Go's heap, nil where there are none.
func (r *rooms) get(n int) []byte {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, room := range r.free {
			if len(room) == n {
				last := len(r.free) - 1
				r.free[i], r.free = r.free[last], r.free[:last]
				return room
			}
		}
	}
	return mapRoom(n)
}

// put takes back a room whose first bytes were used.
func (r *rooms) put(room []byte, used int) {
	if r == nil || used > smallRoom {
		unmapRoom(room)
		return
	}
	clear(room[:used])
	r.mu.Lock()
	full := r.closed || len(r.free) == maxRooms
	if !full {
		r.free = append(r.free, room)
	}
	r.mu.Unlock()
	if full {
		unmapRoom(room)
	}
}

// close unmaps what is kept, and whatever comes back later.
func (r *rooms) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, room := range r.free {
		unmapRoom(room)
	}
	r.free, r.closed = nil, true
}
