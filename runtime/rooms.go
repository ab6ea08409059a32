package runtime

import "sync"

// rooms keeps the address space of small memories, zeroed, for the next ones:
// to map and unmap it, and to fault every page in again, takes longer than a
// small guest runs. Nil keeps nothing.
type rooms struct {
	mu     sync.Mutex
	free   []room
	bytes  int // of memory that is kept with them
	closed bool
}

// room is address space outside of Go's heap.
type room struct {
	space  []byte // nil where there is none
	backed int    // how many of its first bytes may take memory
}

const (
	// maxKept is how much memory is kept, in bytes.
	maxKept = 8 << 20
	// maxRooms is how many rooms are kept.
	maxRooms = 64
	// maxRoom is how much memory one of them may have.
	maxRoom = 2 << 20
)

// get returns a room of n zero bytes.
func (r *rooms) get(n int) room {
	if r == nil {
		return room{space: mapRoom(n)}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, f := range r.free {
		if len(f.space) == n {
			last := len(r.free) - 1
			r.free[i], r.free = r.free[last], r.free[:last]
			r.bytes -= f.backed
			return f
		}
	}
	return room{space: mapRoom(n)}
}

// put takes back a room whose first bytes were used.
func (r *rooms) put(f room, used int) {
	f.backed = max(f.backed, used)
	if r == nil || f.backed > maxRoom {
		unmapRoom(f.space)
		return
	}
	clear(f.space[:used])
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.bytes+f.backed > maxKept || len(r.free) == maxRooms {
		unmapRoom(f.space)
		return
	}
	r.free = append(r.free, f)
	r.bytes += f.backed
}

// close unmaps what is kept, and whatever comes back later.
func (r *rooms) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.free {
		unmapRoom(f.space)
	}
	r.free, r.bytes, r.closed = nil, 0, true
}
