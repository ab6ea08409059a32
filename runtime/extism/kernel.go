package extism

import (
	sdk "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// kernel is the memory that upstream's kernel keeps. Its guest is stopped
// where the kernel fails, so it fails here as if there were nothing.
type kernel struct{ plugin *sdk.CurrentPlugin }

// Block implements host.Blocks.
func (k kernel) Block(at uint64) ([]byte, bool) {
	if at == 0 {
		return nil, false
	}
	b, err := k.plugin.ReadBytes(at)
	return b, err == nil
}

// Put implements host.Blocks.
func (k kernel) Put(b []byte) uint64 {
	at, err := k.plugin.Alloc(uint64(len(b))) // 0 where there is no room, which the SDK's WriteBytes takes for an address
	if err != nil || at == 0 || !k.plugin.Memory().Write(uint32(at), b) {
		return 0
	}
	return at
}

// Release implements host.Blocks.
func (k kernel) Release(at uint64) { _ = k.plugin.Free(at) }

// memories are those of the kernel and the guest, as one sum within the budget of
// the call.
type memories struct {
	budget *host.Budget
	last   *memory // the guest's
}

// Allocate implements experimental.MemoryAllocator: the memory made last is the
// guest's.
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	m.last = &memory{budget: m.budget, most: most}
	return m.last
}

// View implements host.Memory.
func (m *memories) View(ptr, n uint32) ([]byte, bool) {
	if end := uint64(ptr) + uint64(n); m.last != nil && end <= uint64(len(m.last.bytes)) {
		return m.last.bytes[ptr:end], true
	}
	return nil, false
}

// Size implements host.Memory.
func (m *memories) Size() int {
	if m.last == nil {
		return 0
	}
	return len(m.last.bytes)
}

// memory is one of them.
type memory struct {
	budget *host.Budget
	bytes  []byte
	most   uint64
}

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.most || !m.budget.Take(int64(size)-int64(len(m.bytes))) {
		return nil
	}
	m.bytes = append(m.bytes, make([]byte, size-uint64(len(m.bytes)))...)
	return m.bytes
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {}
