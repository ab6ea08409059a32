package jsonlex

import "unsafe"

// WebAssembly loads and stores at any address, which the compiler makes no use
// of by itself.

// load is the eight bytes of b from i on, the first in the lowest byte.
func load(b []byte, i int) uint64 {
	_ = b[i+7]
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

// store writes to b from i on what load has read.
func store(b []byte, i int, x uint64) {
	_ = b[i+7]
	*(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)) = x
}
