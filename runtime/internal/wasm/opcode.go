package wasm

// The instructions that a reader or a rewriter has to know by name. The
// others are in the table below by what follows them and what they do to the
// operand stack.
const (
	OpUnreachable  = 0x00
	OpNop          = 0x01
	OpBlock        = 0x02
	OpLoop         = 0x03
	OpIf           = 0x04
	OpElse         = 0x05
	OpEnd          = 0x0b
	OpBr           = 0x0c
	OpBrIf         = 0x0d
	OpBrTable      = 0x0e
	OpReturn       = 0x0f
	OpCall         = 0x10
	OpCallIndirect = 0x11
	OpDrop         = 0x1a
	OpSelectT      = 0x1c
	OpLocalGet     = 0x20
	OpLocalSet     = 0x21
	OpLocalTee     = 0x22
	OpGlobalGet    = 0x23
	OpGlobalSet    = 0x24
	OpTableGet     = 0x25
	OpTableSet     = 0x26
	OpI32Load      = 0x28
	OpI64Store32   = 0x3e // the last of loads and stores
	OpMemorySize   = 0x3f
	OpMemoryGrow   = 0x40
	OpI32Const     = 0x41
	OpI64Const     = 0x42
	OpF32Const     = 0x43
	OpF64Const     = 0x44
	OpI32Eqz       = 0x45
	OpI32Extend8   = 0xc0
	OpI64Extend32  = 0xc4 // the last of the numeric ones
	OpRefNull      = 0xd0
	OpRefIsNull    = 0xd1
	OpRefFunc      = 0xd2
	OpMisc         = 0xfc // a prefix
	OpSIMD         = 0xfd // a prefix
)

// Instructions behind the prefix OpMisc.
const (
	MiscMemoryInit = 8
	MiscDataDrop   = 9
	MiscMemoryCopy = 10
	MiscMemoryFill = 11
	MiscTableInit  = 12
	MiscElemDrop   = 13
	MiscTableCopy  = 14
	MiscTableGrow  = 15
	MiscTableSize  = 16
	MiscTableFill  = 17
)

const simdConst = 12 // v128.const, behind OpSIMD

// shape is what follows an instruction's code.
type shape byte

const (
	unknown   shape = iota
	none            // nothing
	index           // a number
	twoIndex        // two numbers
	blockType       // a signed number: a type, or a value type
	memarg          // an alignment and an offset
	signed          // a signed number
	four            // four bytes
	eight           // eight bytes
	sixteen         // sixteen bytes
	one             // a byte
	zero            // a byte that is 0
	twoZeros        // two of them
	indexZero       // a number and a byte that is 0
	reference       // a type of references
	memargOne       // an alignment, an offset and a byte
	table           // the targets of a br_table
	types           // a list of value types
)

// op is an entry of the table: what follows, and how many operands are taken
// and left, where that does not depend on types.
type op struct {
	shape     shape
	pop, push int8
}

var ops, miscOps, simdOps = tables()

// simdGaps are the codes that no instruction has.
var simdGaps = []byte{
	0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6,
	0xcf, 0xd0, 0xd2, 0xd3, 0xd4, 0xe2, 0xee,
}

func tables() (plain [256]op, misc [18]op, simd [256]op) {
	set := func(t []op, from, to int, o op) {
		for i := from; i <= to; i++ {
			t[i] = o
		}
	}
	p := plain[:]
	set(p, OpUnreachable, OpNop, op{none, 0, 0})
	set(p, OpBlock, OpLoop, op{blockType, 0, 0})
	set(p, OpIf, OpIf, op{blockType, 1, 0})
	set(p, OpElse, OpElse, op{none, 0, 0})
	set(p, OpEnd, OpEnd, op{none, 0, 0})
	set(p, OpBr, OpBr, op{index, 0, 0})
	set(p, OpBrIf, OpBrIf, op{index, 1, 0})
	set(p, OpBrTable, OpBrTable, op{table, 1, 0})
	set(p, OpReturn, OpReturn, op{none, 0, 0})
	set(p, OpCall, OpCall, op{index, 0, 0})
	set(p, OpCallIndirect, OpCallIndirect, op{twoIndex, 1, 0})
	set(p, OpDrop, OpDrop, op{none, 1, 0})
	set(p, 0x1b, 0x1b, op{none, 3, 1})
	set(p, OpSelectT, OpSelectT, op{types, 3, 1})
	set(p, OpLocalGet, OpLocalGet, op{index, 0, 1})
	set(p, OpLocalSet, OpLocalSet, op{index, 1, 0})
	set(p, OpLocalTee, OpLocalTee, op{index, 1, 1})
	set(p, OpGlobalGet, OpGlobalGet, op{index, 0, 1})
	set(p, OpGlobalSet, OpGlobalSet, op{index, 1, 0})
	set(p, OpTableGet, OpTableGet, op{index, 1, 1})
	set(p, OpTableSet, OpTableSet, op{index, 2, 0})
	set(p, OpI32Load, 0x35, op{memarg, 1, 1})
	set(p, 0x36, OpI64Store32, op{memarg, 2, 0})
	set(p, OpMemorySize, OpMemorySize, op{zero, 0, 1})
	set(p, OpMemoryGrow, OpMemoryGrow, op{zero, 1, 1})
	set(p, OpI32Const, OpI64Const, op{signed, 0, 1})
	set(p, OpF32Const, OpF32Const, op{four, 0, 1})
	set(p, OpF64Const, OpF64Const, op{eight, 0, 1})
	set(p, OpI32Eqz, OpI64Extend32, op{none, 2, 1})
	for _, unary := range [][2]int{{0x45, 0x45}, {0x50, 0x50}, {0x67, 0x69}, {0x79, 0x7b}, {0x8b, 0x91}, {0x99, 0x9f}, {0xa7, 0xc4}} {
		set(p, unary[0], unary[1], op{none, 1, 1})
	}
	set(p, OpRefNull, OpRefNull, op{reference, 0, 1})
	set(p, OpRefIsNull, OpRefIsNull, op{none, 1, 1})
	set(p, OpRefFunc, OpRefFunc, op{index, 0, 1})

	m := misc[:]
	set(m, 0, 7, op{none, 1, 1}) // saturating truncations
	set(m, MiscMemoryInit, MiscMemoryInit, op{indexZero, 3, 0})
	set(m, MiscDataDrop, MiscDataDrop, op{index, 0, 0})
	set(m, MiscMemoryCopy, MiscMemoryCopy, op{twoZeros, 3, 0})
	set(m, MiscMemoryFill, MiscMemoryFill, op{zero, 3, 0})
	set(m, MiscTableInit, MiscTableInit, op{twoIndex, 3, 0})
	set(m, MiscElemDrop, MiscElemDrop, op{index, 0, 0})
	set(m, MiscTableCopy, MiscTableCopy, op{twoIndex, 3, 0})
	set(m, MiscTableGrow, MiscTableGrow, op{index, 2, 1})
	set(m, MiscTableSize, MiscTableSize, op{index, 0, 1})
	set(m, MiscTableFill, MiscTableFill, op{index, 3, 0})

	v := simd[:]
	set(v, 0, 10, op{memarg, 1, 1})
	set(v, 11, 11, op{memarg, 2, 0})
	set(v, simdConst, simdConst, op{sixteen, 0, 1})
	set(v, 13, 13, op{sixteen, 2, 1})
	set(v, 14, 14, op{none, 2, 1})
	set(v, 15, 20, op{none, 1, 1}) // splats
	for i := 21; i <= 34; i++ {    // lanes are extracted (one operand) or replaced (two)
		o := op{one, 1, 1}
		switch i {
		case 23, 26, 28, 30, 32, 34:
			o.pop = 2
		}
		v[i] = o
	}
	set(v, 35, 76, op{none, 2, 1}) // comparisons
	set(v, 77, 77, op{none, 1, 1}) // not
	set(v, 78, 81, op{none, 2, 1})
	set(v, 82, 82, op{none, 3, 1})      // bitselect
	set(v, 83, 83, op{none, 1, 1})      // any_true
	set(v, 84, 87, op{memargOne, 2, 1}) // load a lane
	set(v, 88, 91, op{memargOne, 2, 0}) // store a lane
	set(v, 92, 93, op{memarg, 1, 1})
	set(v, 94, 255, op{none, 2, 1})
	for _, unary := range [][2]int{
		{0x5e, 0x5f}, {0x60, 0x64}, {0x67, 0x6a}, {0x74, 0x75}, {0x7a, 0x7a}, {0x7c, 0x81}, {0x83, 0x84}, {0x87, 0x8a},
		{0x94, 0x94}, {0xa0, 0xa1}, {0xa3, 0xa4}, {0xa7, 0xaa}, {0xc0, 0xc1}, {0xc3, 0xc4}, {0xc7, 0xca},
		{0xe0, 0xe1}, {0xe3, 0xe3}, {0xec, 0xed}, {0xef, 0xef}, {0xf8, 0xff},
	} {
		set(v, unary[0], unary[1], op{none, 1, 1})
	}
	for _, gap := range simdGaps {
		v[gap] = op{}
	}
	return plain, misc, simd
}
