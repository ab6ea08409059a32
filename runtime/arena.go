package runtime

import (
	"math/bits"
	goruntime "runtime"
)

// arena is the memory that the Extism ABI keeps outside of the guest: blocks
// the guest allocates, and passes to calls by offset. An offset is at once a
// handle and an address of single bytes. Offset 0 is null.
//
// Freed blocks are used again, so allocating and freeing in a loop does not
// grow it. All of it counts against the memory of the call, with what the
// host has to remember of every block.
type arena struct {
	budget *budget
	mem    []byte
	room   []byte           // outside of Go's heap, where mem begins; nil on it
	blocks map[uint64]block // the blocks in use
	free   [64][]freeBlock  // the others, by the power of two they reach
	taken  int64            // of the budget
}

type block struct{ len, room uint64 }

type freeBlock struct{ at, room uint64 }

const (
	// arenaStart is the first offset in use.
	arenaStart = 64
	// largeArena lies outside of Go's heap, in bytes: to grow it copies nothing,
	// and leaves nothing behind for the collector.
	largeArena = 1 << 20
	// blockAlign is what the room of a block is a multiple of.
	blockAlign = 16
	// blockOverhead is what a block costs the host beside its bytes.
	blockOverhead = 64
	// maxSearch is how many blocks are looked at for one that fits.
	maxSearch = 8
)

// alloc returns the offset of n zero bytes, or 0 where there is no room.
func (a *arena) alloc(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	if n > uint64(a.budget.limit) {
		a.budget.denied = true
		return 0
	}
	if a.blocks == nil {
		a.mem = make([]byte, arenaStart, 4096)
		a.blocks = make(map[uint64]block)
	}
	if f, ok := a.reuse(n); ok {
		inPieces(int(n), func(from, to int) { clear(a.mem[f.at:][from:to]) })
		a.blocks[f.at] = block{n, f.room}
		return f.at
	}
	room := (n + blockAlign - 1) &^ (blockAlign - 1)
	if !a.budget.take(int64(room) + blockOverhead) {
		return 0
	}
	a.taken += int64(room) + blockOverhead
	at := uint64(len(a.mem))
	a.grow(room)
	a.blocks[at] = block{n, room}
	return at
}

// reuse takes a free block that holds n bytes.
func (a *arena) reuse(n uint64) (freeBlock, bool) {
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
func (a *arena) grow(size uint64) {
	need := len(a.mem) + int(size)
	if need > largeArena && a.room == nil {
		if a.room = mapRoom(arenaStart + int(a.budget.limit)); a.room != nil {
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

// put allocates a block with these bytes.
func (a *arena) put(b []byte) uint64 {
	at := a.alloc(uint64(len(b)))
	if at != 0 {
		move(a.mem[at:], b)
	}
	return at
}

// inPieces calls f for all of n bytes, a piece at a time, which f clears or
// copies: nothing can stop that, the collector waits.
func inPieces(n int, f func(from, to int)) {
	for from := 0; from < n; from += maxPiece {
		f(from, min(n, from+maxPiece))
		goruntime.Gosched()
	}
}

const maxPiece = 1 << 20

// move is copy for what may be long.
func move(to, from []byte) int {
	n := min(len(to), len(from))
	inPieces(n, func(i, end int) { copy(to[i:end], from[i:end]) })
	return n
}

// release frees the block at an offset; offsets of no block are ignored.
func (a *arena) release(at uint64) {
	b, ok := a.blocks[at]
	if !ok {
		return
	}
	delete(a.blocks, at)
	class := bits.Len64(b.room) - 1
	a.free[class] = append(a.free[class], freeBlock{at, b.room})
}

// length is the length of the block at an offset, 0 where there is none.
func (a *arena) length(at uint64) uint64 { return a.blocks[at].len }

// block returns the bytes of the block at an offset. They are valid until the
// next allocation.
func (a *arena) block(at uint64) ([]byte, bool) {
	b, ok := a.blocks[at]
	if !ok {
		return nil, false
	}
	return a.mem[at : at+b.len], true
}

// view returns n bytes from an offset on, whatever blocks they lie in.
func (a *arena) view(at, n uint64) ([]byte, bool) {
	end := at + n
	if end < at || at < arenaStart || end > uint64(len(a.mem)) {
		return nil, false
	}
	return a.mem[at:end], true
}

// reset drops every block. Nothing may look at one afterwards.
func (a *arena) reset() {
	a.budget.give(a.taken)
	if a.room != nil {
		unmapRoom(a.room)
	}
	*a = arena{budget: a.budget}
}
