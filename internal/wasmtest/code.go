package wasmtest

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

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
	Load32      = []byte{0x28, 0x02, 0x00}
	And32       = []byte{0x71}
	Mul32       = []byte{0x6c}
	MemoryCopy  = []byte{0xfc, 0x0a, 0x00, 0x00}
	TableFill   = []byte{0xfc, 0x11, 0x00}       // of table 0, as all of these
	TableCopy   = []byte{0xfc, 0x0e, 0x00, 0x00} //
	TableInit   = []byte{0xfc, 0x0c, 0x00, 0x00} // from segment 0
	MemoryInit  = []byte{0xfc, 0x08, 0x00, 0x00} // from segment 0
)

// Op is any instruction, byte by byte.
func Op(code ...byte) []byte { return code }

// Times repeats the code in the module.
func Times(n int, code ...[]byte) []byte { return bytes.Repeat(slices.Concat(code...), n) }

// Block is a block without parameters and results.
func Block(code ...[]byte) []byte { return enclose(0x02, code) }

// Repeat is a loop: a branch to it starts it again.
func Repeat(code ...[]byte) []byte { return enclose(0x03, code) }

// If runs the code where an i32 is not zero.
func If(code ...[]byte) []byte { return enclose(0x04, code) }

func enclose(op byte, code [][]byte) []byte {
	return slices.Concat([]byte{op, 0x40}, slices.Concat(code...), []byte{opEnd})
}

// Br branches out of blocks, depth of them and one more.
func Br(depth uint32) []byte { return append([]byte{0x0c}, leb(uint64(depth))...) }

// BrIf is Br where an i32 is not zero.
func BrIf(depth uint32) []byte { return append([]byte{0x0d}, leb(uint64(depth))...) }

// BrTable branches by an i32; the last depth is that of all numbers beyond.
func BrTable(depths ...uint32) []byte {
	b := append([]byte{0x0e}, leb(uint64(len(depths)-1))...)
	for _, d := range depths {
		b = append(b, leb(uint64(d))...)
	}
	return b
}

// CallIndirect calls what is in table 0.
func CallIndirect(typ uint32) []byte { return append(append([]byte{0x11}, leb(uint64(typ))...), 0) }

// RefFunc pushes a reference.
func RefFunc(f Func) []byte { return append([]byte{0xd2}, leb(uint64(f))...) }

// Tee stores into a local and keeps the value.
func Tee(local uint32) []byte { return append([]byte{0x22}, leb(uint64(local))...) }

// ConstF64 pushes an f64.
func ConstF64(v float64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0x44}, math.Float64bits(v))
}

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
