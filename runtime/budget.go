package runtime

import "github.com/tetratelabs/wazero/experimental"

// budget is the memory of one call, in bytes: the guest's linear memory and
// what the host holds for it, as one sum. It belongs to the goroutine of the
// call.
type budget struct {
	limit, used, peak int64
	// denied is set once something did not fit. Guests handle that in ways of
	// their own, mostly by a trap; the host then knows why.
	denied bool
}

// take reserves n bytes, or reports false.
func (b *budget) take(n int64) bool {
	if n > b.limit-b.used {
		b.denied = true
		return false
	}
	b.used += n
	b.peak = max(b.peak, b.used)
	return true
}

func (b *budget) give(n int64) { b.used -= n }

// linear is the memory of a guest, within the budget. The engine asks it for
// every byte.
type linear struct {
	budget *budget
	buf    []byte
	most   uint64
}

// Reallocate implements experimental.LinearMemory.
func (m *linear) Reallocate(size uint64) []byte {
	if size > m.most || !m.budget.take(int64(size)-int64(len(m.buf))) {
		return nil
	}
	if size <= uint64(cap(m.buf)) {
		m.buf = m.buf[:size]
		return m.buf
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
	m.buf = buf
	return buf
}

// smallMemory has room to grow from the start.
const smallMemory = 128 << 10

// Free implements experimental.LinearMemory. The bytes stay readable: the
// engine frees a memory while the call it belongs to may still look at it.
func (m *linear) Free() {}

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

// Allocate implements experimental.MemoryAllocator: the memory made last is
// the guest's.
func (c *call) Allocate(_, most uint64) experimental.LinearMemory {
	c.linear = &linear{budget: &c.memory, most: most}
	return c.linear
}
