package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// The weight of an instruction is about the time that the slowest engine of
// today's machines needs for it, in fifths of a nanosecond, in a program written
// to be slow: an access to memory misses the nearer caches.
const (
	weightPlain  = 1
	weightMemory = 4
	weightBranch = 2
	weightCall   = 6
	// weightIndirect includes looking up the table and comparing types.
	weightIndirect = 12
	// weightImport is a call that leaves the guest.
	weightImport = 250
	weightGrow   = 2_000
	// weightRefFunc: the engine asks the host for a reference.
	weightRefFunc = 500
	// weightDispatch is what is at the head of a dispatch.
	weightDispatch = weightPlain + 2*weightBranch
	weightFloat    = 4
	weightDivide   = 25
	weightVector   = 3

	// A unit of fuel moves 1<<bytesShift bytes, or one element of a table.
	bytesShift = 3
)

// weightOf is the weight of one instruction, without what is behind calls and
// in ranges.
func weightOf(in *wasm.Instr) uint32 {
	switch op := in.Op; {
	case op == wasm.OpNop, op == wasm.OpBlock, op == wasm.OpLoop, op == wasm.OpElse, op == wasm.OpEnd, op == wasm.OpDrop:
		return 0
	case op == wasm.OpIf, op == wasm.OpBr, op == wasm.OpBrIf, op == wasm.OpReturn:
		return weightBranch
	case op == wasm.OpBrTable:
		return 2 * weightBranch
	case op == wasm.OpCall:
		return weightCall
	case op == wasm.OpCallIndirect:
		return weightIndirect
	case op >= wasm.OpI32Load && op <= wasm.OpI64Store32, op == wasm.OpTableGet, op == wasm.OpTableSet:
		return weightMemory
	case op == wasm.OpMemoryGrow:
		return weightGrow
	case op == wasm.OpRefFunc:
		return weightRefFunc
	case op >= 0x6d && op <= 0x70, op >= 0x7f && op <= 0x82: // integer division
		return weightDivide
	case op == 0x91, op == 0x95, op == 0x9f, op == 0xa3: // float square roots and divisions
		return weightDivide
	case op >= 0x8b && op <= 0xbf: // other floats, conversions
		return weightFloat
	case op == wasm.OpMisc:
		return miscWeight(in.Sub)
	case op == wasm.OpSIMD:
		return simdWeight(in.Sub)
	}
	return weightPlain
}

func miscWeight(sub uint32) uint32 {
	switch {
	case sub < wasm.MiscMemoryInit:
		return 2 * weightFloat // a saturating truncation
	case sub == wasm.MiscTableGrow:
		return weightGrow
	case sub == wasm.MiscTableSize, sub == wasm.MiscDataDrop, sub == wasm.MiscElemDrop:
		return weightMemory
	}
	return 3 * weightCall // a range: two calls, and what is in it by length
}

func simdWeight(sub uint32) uint32 {
	switch sub {
	case 0xe3, 0xe7, 0xef, 0xf3: // square roots and divisions
		return weightDivide
	case 0x62, 0x95, 0xcc, 0xd5, 0xfc, 0xfd: // what takes several steps
		return 4 * weightVector
	}
	if sub <= 11 || sub >= 84 && sub <= 93 {
		return weightMemory
	}
	return weightVector
}
