//go:build !wasm

package jsonlex

import "encoding/binary"

// load is the eight bytes of b from i on, the first in the lowest byte.
func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// store writes to b from i on what load has read.
func store(b []byte, i int, x uint64) { binary.LittleEndian.PutUint64(b[i:], x) }
