package unaligned

import "unsafe"

// WebAssembly loads and stores at any address, which the compiler makes no use
// of by itself.

// Load returns the eight bytes of b from i on, the first in the lowest byte.
func Load(b []byte, i int) uint64 {
	_ = b[i+7]
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

// Store writes to b from i on what Load has read.
func Store(b []byte, i int, x uint64) {
	_ = b[i+7]
	*(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)) = x
}
