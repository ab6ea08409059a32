package wasmtest

import "slices"

const opEnd = 0x0b

// Instructions without operands.
var (
	Unreachable = []byte{0x00}
	Drop        = []byte{0x1a}
	Return      = []byte{0x0f}
	Add32       = []byte{0x6a}
	Add64       = []byte{0x7c}
	Sub32       = []byte{0x6b}
	LtU32       = []byte{0x49}
	LtU64       = []byte{0x54}
	Wrap64      = []byte{0xa7} // i64 to i32
	Extend32    = []byte{0xad} // i32 to i64, unsigned
	MemoryGrow  = []byte{0x40, 0x00}
	MemorySize  = []byte{0x3f, 0x00}
	MemoryFill  = []byte{0xfc, 0x0b, 0x00}
	TableGrow   = []byte{0xfc, 0x0f, 0x00}
	NullFunc    = []byte{0xd0, 0x70}
	Load8       = []byte{0x2d, 0x00, 0x00} // i32.load8_u
	Load64      = []byte{0x29, 0x00, 0x00}
	Store8      = []byte{0x3a, 0x00, 0x00} // i32.store8
	Store32     = []byte{0x36, 0x02, 0x00}
	Store64     = []byte{0x37, 0x00, 0x00}
)

// Const32 pushes an i32.
func Const32(v int32) []byte { return append([]byte{0x41}, sleb(int64(v))...) }

// Const64 pushes an i64.
func Const64(v int64) []byte { return append([]byte{0x42}, sleb(v)...) }

// Call calls f.
func Call(f Func) []byte { return append([]byte{0x10}, leb(uint64(f))...) }

// Get pushes a local.
func Get(local uint32) []byte { return append([]byte{0x20}, leb(uint64(local))...) }

// Set pops into a local.
func Set(local uint32) []byte { return append([]byte{0x21}, leb(uint64(local))...) }

// GetGlobal pushes a global.
func GetGlobal(index uint32) []byte { return append([]byte{0x23}, leb(uint64(index))...) }

// SetGlobal pops into a global.
func SetGlobal(index uint32) []byte { return append([]byte{0x24}, leb(uint64(index))...) }

// Forever repeats the code without end.
func Forever(code ...[]byte) []byte {
	return slices.Concat([]byte{0x03, 0x40}, slices.Concat(code...), []byte{0x0c, 0x00, opEnd}, Unreachable)
}

// While repeats the code as long as it leaves a nonzero i32. The code runs at
// least once.
func While(code ...[]byte) []byte {
	return slices.Concat([]byte{0x03, 0x40}, slices.Concat(code...), []byte{0x0d, 0x00, opEnd})
}
