//go:build !wasm

package unaligned

import "encoding/binary"

// Load returns the eight bytes of b from i on, the first in the lowest byte.
func Load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// Store writes to b from i on what Load has read.
func Store(b []byte, i int, x uint64) { binary.LittleEndian.PutUint64(b[i:], x) }
