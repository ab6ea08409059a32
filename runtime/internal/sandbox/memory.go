package sandbox

import "github.com/kagewasm/kagewasm/runtime/internal/host"

// pageBytes is a page of WebAssembly's memory.
const pageBytes = 1 << 16

// hugeFrom is how much memory a guest has that gets what it grows by in huge pages, in bytes. A page of the usual size
// takes longer to come than most guests take to fill it, and a small guest fills few.
const hugeFrom = 2 << 20

// linear is the memory of a guest, within the budget of the call. It lies
// outside of Go's heap where the platform allows: all the guest may ever have
// is reserved at once, so it never moves; what of it was never written costs
// nothing; and it goes back when it is freed, not when the collector finds
// out.
//
// So nothing may look at it once it is freed: views of it stay inside of the
// host function that asked for them, and whatever lasts is copied.
type linear struct {
	budget *host.Budget
	buf    []byte // what the guest has
	slot   slot   // what is reserved, buf being its beginning; none on Go's heap
	slots  *slots // where the slot comes from
	mapped bool   // an image was mapped into the slot
	most   uint64
}

// Reallocate implements experimental.LinearMemory.
func (m *linear) Reallocate(size uint64) []byte {
	if size > m.most || !m.budget.Take(int64(size)-int64(len(m.buf))) {
		return nil
	}
	if m.buf == nil {
		m.slot = m.slots.get(int(min(m.most, uint64(m.budget.Limit))))
	}
	if m.slot.space != nil {
		if len(m.buf) > hugeFrom {
			host.WrittenSoon(m.slot.space, len(m.buf), int(size))
		}
		m.buf = m.slot.space[:size]
	} else { // on Go's heap, with room to grow
		m.buf = append(m.buf, make([]byte, size-uint64(len(m.buf)))...)
	}
	return m.buf
}

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
	case m.slot.space == nil:
	case m.mapped:
		host.Unmap(m.slot.space)
	default:
		m.slots.put(m.slot, len(m.buf))
	}
	m.slot, m.buf = slot{}, nil
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
