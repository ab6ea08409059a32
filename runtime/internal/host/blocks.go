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
	room   []byte           // outside of Go's heap, where mem begins; nil on it
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

type block struct{ len, room uint64 }

type freeBlock struct{ at, room uint64 }

const (
	// firstOffset is the first offset in use.
	firstOffset = 64
	// largeMemory lies outside of Go's heap, in bytes: to grow it copies nothing,
	// and leaves nothing behind for the collector.
	largeMemory = 1 << 20
	// blockAlign is what the room of a block is a multiple of.
	blockAlign = 16
	// blockOverhead is what a block costs the host beside its bytes.
	blockOverhead = 64
	// maxSearch is how many blocks are looked at for one that fits.
	maxSearch = 8
)

// alloc returns the offset of n zero bytes, or 0 where there is no room.
func (a *blockMemory) alloc(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	if n > uint64(a.budget.Limit) {
		a.budget.Denied = true
		return 0
	}
	if a.blocks == nil {
		a.mem = make([]byte, firstOffset, 4096)
		a.blocks = make(map[uint64]block)
	}
	if f, ok := a.reuse(n); ok {
		inPieces(int(n), func(from, to int) { clear(a.mem[f.at:][from:to]) })
		a.blocks[f.at] = block{n, f.room}
		return f.at
	}
	room := (n + blockAlign - 1) &^ (blockAlign - 1)
	if !a.budget.Take(int64(room) + blockOverhead) {
		return 0
	}
	a.taken += int64(room) + blockOverhead
	at := uint64(len(a.mem))
	a.grow(room)
	a.blocks[at] = block{n, room}
	return at
}

// reuse takes a free block that holds n bytes.
func (a *blockMemory) reuse(n uint64) (freeBlock, bool) {
	class := bits.Len64(n) - 1 // blocks here may be too small
	for _, c := range []int{class, class + 1} {
		list := a.free[c]
		for i := len(list) - 1; i >= max(0, len(list)-maxSearch); i-- {
			if f := list[i]; f.room >= n {
				a.free[c] = append(list[:i], list[i+1:]...)
				return f, true
			}
		}
	}
	return freeBlock{}, false
}

// grow adds zero bytes.
func (a *blockMemory) grow(size uint64) {
	need := len(a.mem) + int(size)
	if need > largeMemory && a.room == nil {
		if a.room = Map(firstOffset + int(a.budget.Limit)); a.room != nil {
			a.mem = a.room[:copy(a.room, a.mem)]
		}
	}
	if need <= cap(a.mem) {
		a.mem = a.mem[:need]
		return
	}
	mem := make([]byte, need, need+min(need/2, 16<<20))
	copy(mem, a.mem)
	a.mem = mem
}

// Put implements [Blocks].
func (a *blockMemory) Put(b []byte) uint64 {
	at := a.alloc(uint64(len(b)))
	if at != 0 {
		move(a.mem[at:], b)
	}
	return at
}

// Release implements [Blocks].
func (a *blockMemory) Release(at uint64) {
	b, ok := a.blocks[at]
	if !ok {
		return
	}
	delete(a.blocks, at)
	class := bits.Len64(b.room) - 1
	a.free[class] = append(a.free[class], freeBlock{at, b.room})
}

// length is the length of the block at an offset, 0 where there is none.
func (a *blockMemory) length(at uint64) uint64 { return a.blocks[at].len }

// Block implements [Blocks].
func (a *blockMemory) Block(at uint64) ([]byte, bool) {
	b, ok := a.blocks[at]
	if !ok {
		return nil, false
	}
	return a.mem[at : at+b.len], true
}

// view returns n bytes from an offset on, whatever blocks they lie in.
func (a *blockMemory) view(at, n uint64) ([]byte, bool) {
	end := at + n
	if end < at || at < firstOffset || end > uint64(len(a.mem)) {
		return nil, false
	}
	return a.mem[at:end], true
}

// reset drops every block. Nothing may look at one afterwards.
func (a *blockMemory) reset() {
	a.budget.Give(a.taken)
	if a.room != nil {
		Unmap(a.room)
	}
	*a = blockMemory{budget: a.budget}
}
