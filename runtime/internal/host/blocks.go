package host

import "math/bits"

// blockMemory is the memory that the Extism ABI keeps outside of the guest: blocks
// the guest allocates, and passes to calls by offset. An offset is at once a
// handle and an address of single bytes. Offset 0 is null.
//
// Freed blocks are used again, so allocating and freeing in a loop does not
// grow it. All of it counts against the memory of the call, with what the
// host has to remember of every block.
type blockMemory struct {
	budget *Budget
	mem    []byte
	mapped []byte           // outside of Go's heap, where mem begins; nil on it
	blocks map[uint64]block // the blocks in use
	free   [64][]freeBlock  // the others, by the power of two they reach
	taken  int64            // of the budget
}

// Blocks is the memory that texts of the Extism ABI cross in, whoever keeps it. A
// block is named by its offset; 0 is none.
type Blocks interface {
	// Block returns the bytes of a block, valid until the next Put.
	Block(at uint64) ([]byte, bool)
	// Put makes a block of these bytes. It returns 0 where there are none or no
	// room for them.
	Put(b []byte) uint64
	// Release frees a block; offsets of none are ignored.
	Release(at uint64)
}

type block struct{ len, size uint64 }

type freeBlock struct{ at, size uint64 }

const (
	// firstOffset is the first offset in use.
	firstOffset = 64
	// largeMemory lies outside of Go's heap, in bytes: to grow it copies nothing,
	// and leaves nothing behind for the collector.
	largeMemory = 1 << 20
	// blockAlign is what the size of a block is a multiple of.
	blockAlign = 16
	// blockOverhead is what a block costs the host beside its bytes.
	blockOverhead = 64
	// maxSearch is how many blocks are looked at for one that fits.
	maxSearch = 8
)

// alloc returns the offset of n zero bytes, or 0 where there is no room.
func (m *blockMemory) alloc(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	if n > uint64(m.budget.Limit) {
		m.budget.Denied = true
		return 0
	}
	if m.blocks == nil {
		m.mem = make([]byte, firstOffset, 4096)
		m.blocks = make(map[uint64]block)
	}
	if f, ok := m.reuse(n); ok {
		inPieces(int(n), func(from, to int) { clear(m.mem[f.at:][from:to]) })
		m.blocks[f.at] = block{n, f.size}
		return f.at
	}
	size := (n + blockAlign - 1) &^ (blockAlign - 1)
	if !m.budget.Take(int64(size) + blockOverhead) {
		return 0
	}
	m.taken += int64(size) + blockOverhead
	at := uint64(len(m.mem))
	m.grow(size)
	m.blocks[at] = block{n, size}
	return at
}

// reuse takes a free block that holds n bytes.
func (m *blockMemory) reuse(n uint64) (freeBlock, bool) {
	class := bits.Len64(n) - 1 // blocks here may be too small
	for _, c := range []int{class, class + 1} {
		list := m.free[c]
		for i := len(list) - 1; i >= max(0, len(list)-maxSearch); i-- {
			if f := list[i]; f.size >= n {
				m.free[c] = append(list[:i], list[i+1:]...)
				return f, true
			}
		}
	}
	return freeBlock{}, false
}

// grow adds zero bytes.
func (m *blockMemory) grow(size uint64) {
	need := len(m.mem) + int(size)
	if need > largeMemory && m.mapped == nil {
		if m.mapped = Map(firstOffset + int(m.budget.Limit)); m.mapped != nil {
			m.mem = m.mapped[:copy(m.mapped, m.mem)]
		}
	}
	if need <= cap(m.mem) {
		m.mem = m.mem[:need]
		return
	}
	mem := make([]byte, need, need+min(need/2, 16<<20))
	copy(mem, m.mem)
	m.mem = mem
}

// Put implements [Blocks].
func (m *blockMemory) Put(b []byte) uint64 {
	at := m.alloc(uint64(len(b)))
	if at != 0 {
		move(m.mem[at:], b)
	}
	return at
}

// Release implements [Blocks].
func (m *blockMemory) Release(at uint64) {
	b, ok := m.blocks[at]
	if !ok {
		return
	}
	delete(m.blocks, at)
	class := bits.Len64(b.size) - 1
	m.free[class] = append(m.free[class], freeBlock{at, b.size})
}

// length is the length of the block at an offset, 0 where there is none.
func (m *blockMemory) length(at uint64) uint64 { return m.blocks[at].len }

// Block implements [Blocks].
func (m *blockMemory) Block(at uint64) ([]byte, bool) {
	b, ok := m.blocks[at]
	if !ok {
		return nil, false
	}
	return m.mem[at : at+b.len], true
}

// view returns n bytes from an offset on, whatever blocks they lie in.
func (m *blockMemory) view(at, n uint64) ([]byte, bool) {
	end := at + n
	if end < at || at < firstOffset || end > uint64(len(m.mem)) {
		return nil, false
	}
	return m.mem[at:end], true
}

// reset drops every block. Nothing may look at one afterwards.
func (m *blockMemory) reset() {
	m.budget.Give(m.taken)
	if m.mapped != nil {
		Unmap(m.mapped)
	}
	*m = blockMemory{budget: m.budget}
}
