package runtime

// linear is the memory of a guest, within the budget of the call. It lies
// outside of Go's heap where the platform allows: all the guest may ever have
// is reserved at once, so it never moves; what of it was never written costs
// nothing; and it goes back when it is freed, not when the collector finds
// out.
//
// So nothing may look at it once it is freed: views of it stay inside of the
// host function that asked for them, and whatever lasts is copied.
type linear struct {
	budget *budget
	buf    []byte // what the guest has
	room   room   // what is reserved, buf being its beginning; none on Go's heap
	rooms  *rooms // where room comes from
	mapped bool   // an image was mapped into the room
	most   uint64
}

// Reallocate implements experimental.LinearMemory.
func (m *linear) Reallocate(size uint64) []byte {
	if size > m.most || !m.budget.take(int64(size)-int64(len(m.buf))) {
		return nil
	}
	if m.buf == nil {
		m.room = m.rooms.get(int(min(m.most, uint64(m.budget.limit))))
	}
	if m.room.space != nil {
		m.buf = m.room.space[:size]
	} else {
		m.buf = m.regrow(size)
	}
	return m.buf
}

// regrow is growth on Go's heap.
func (m *linear) regrow(size uint64) []byte {
	if size <= uint64(cap(m.buf)) {
		return m.buf[:size]
	}
	// Room for as much again, so that a guest growing page by page is not
	// copied each time; never more than it could ask for. A large memory gets
	// it once it has grown.
	room := 2 * uint64(len(m.buf))
	if size <= smallMemory {
		room = 2 * size
	}
	room = min(room, m.most, uint64(m.budget.limit))
	buf := make([]byte, size, max(size, room))
	copy(buf, m.buf)
	return buf
}

// smallMemory has room to grow from the start.
const smallMemory = 128 << 10

// Free implements experimental.LinearMemory. The engine frees a memory when
// the guest ends, at times from inside of a host function; the instance it
// belongs to frees it when nothing can look at it any more: see release.
func (m *linear) Free() {}

// release gives the memory back. Nothing may use it afterwards.
func (m *linear) release() {
	if m == nil {
		return
	}
	switch {
	case m.room.space == nil:
	case m.mapped:
		unmapRoom(m.room.space)
	default:
		m.rooms.put(m.room, len(m.buf))
	}
	m.room, m.buf = room{}, nil
}

// view returns n bytes of guest memory, or false where they are not all in it.
func (m *linear) view(ptr, n uint32) ([]byte, bool) {
	end := uint64(ptr) + uint64(n)
	if m == nil || end > uint64(len(m.buf)) {
		return nil, false
	}
	return m.buf[ptr:end], true
}

func (m *linear) size() int {
	if m == nil {
		return 0
	}
	return len(m.buf)
}
