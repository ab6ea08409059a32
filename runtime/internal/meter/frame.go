package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// frame estimates the bytes that a call of a function takes of the engine's
// stack, from above: the values of locals (see places), the operands of
// expressions, and what is there in any case.
type frame struct {
	bytes  int
	area   int     // of parameters and results on the stack, of the largest call
	born   []int32 // of each operand, how many were before it
	from   []int32 // of each operand, one more than the local it is of, fromConst, or 0
	pushed int32
	kept   int // the operands from the bottom that are counted
	// floats and vectors: there are values of these kinds.
	floats, vectors bool
}

const (
	// frameFixed is for the return address, the caller's frame, one saved
	// register, the two values that are always there, and what the engine asks
	// for beyond the frame.
	frameFixed = 96
	// frameSaved is for the registers that are saved, frameFloats for those of
	// floats and vectors.
	frameSaved  = 144
	frameFloats = 224
	frameValue  = 8
	// fromConst is an operand that is made anew where it is used.
	fromConst = -1
	// shortLived is how many operands may come between an operand and its use
	// without a lack of registers.
	shortLived   = 6
	maxFrame     = 1 << 24
	vectorFactor = 2
)

func (f *frame) reset(types *wasm.FuncType) {
	*f = frame{born: f.born[:0], from: f.from[:0]}
	f.call(types)
}

// keep counts values that may have a place in the frame.
func (f *frame) keep(n int) { f.bytes += n * frameValue }

func (f *frame) push(n int) {
	for range n {
		f.born, f.from = append(f.born, f.pushed), append(f.from, 0)
		f.pushed++
	}
}

// pop takes operands off, down to a height, and counts those that were there
// for long.
func (f *frame) pop(height int) {
	for i := len(f.born) - 1; i >= height; i-- {
		if i >= f.kept && f.pushed-f.born[i] > shortLived && f.from[i] != fromConst {
			f.keep(1)
		}
	}
	f.born = f.born[:min(height, len(f.born))]
	f.from = f.from[:len(f.born)]
	f.kept = min(f.kept, len(f.born))
}

// origin is where the operand so far from the top comes from.
func (f *frame) origin(n int) int32 {
	if n == 0 || n > len(f.from) {
		return 0
	}
	return f.from[len(f.from)-n]
}

// across counts all operands there are: they live across a call.
func (f *frame) across() {
	for _, from := range f.from[f.kept:] {
		if from != fromConst {
			f.keep(1)
		}
	}
	f.kept = len(f.born)
}

// call is a call of a type, or being called by it.
func (f *frame) call(typ *wasm.FuncType) {
	f.area = max(f.area, len(typ.Params)+len(typ.Results))
	f.types(typ.Params)
	f.types(typ.Results)
}

func (f *frame) types(types []wasm.ValueType) {
	for _, t := range types {
		f.typ(t)
	}
}

func (f *frame) typ(t wasm.ValueType) {
	f.floats = f.floats || t == wasm.F32 || t == wasm.F64
	f.vectors = f.vectors || t == wasm.V128
}

// uses is an instruction that has to do with neither blocks nor calls of
// functions.
func (f *frame) uses(in *wasm.Instr) {
	f.vectors = f.vectors || in.Op == wasm.OpSIMD
	if calls(in) {
		f.across()
		f.keep(4)
	}
}

// size is the estimate, with the values of locals.
func (f *frame) size(locals int, saves bool) uint32 {
	n := f.bytes + locals + f.area*frameValue
	if f.vectors {
		n *= vectorFactor
	}
	if saves {
		n += frameSaved
		if f.floats || f.vectors {
			n += frameFloats
		}
	}
	return uint32(min(n+frameFixed, maxFrame))
}

// taken is how many values an instruction may drive out of their registers,
// because it needs just these.
func taken(in, before *wasm.Instr) int {
	switch op := in.Op; {
	case op >= 0x74 && op <= 0x78, op >= 0x86 && op <= 0x8a: // shifts
		if before != nil && (before.Op == wasm.OpI32Const || before.Op == wasm.OpI64Const) {
			return 0
		}
		return 1
	case op >= 0x6d && op <= 0x70, op >= 0x7f && op <= 0x82: // divisions
		return 2
	case op == wasm.OpSIMD:
		return 1
	}
	return 0
}

func assigns(op byte) bool { return op == wasm.OpLocalSet || op == wasm.OpLocalTee }

// accesses reports whether an instruction checks an address.
func accesses(op byte) bool {
	return op >= wasm.OpI32Load && op <= wasm.OpI64Store32 || op == wasm.OpSIMD
}

// calls reports whether the engine makes a call of an instruction.
func calls(in *wasm.Instr) bool {
	switch in.Op {
	case wasm.OpCall, wasm.OpCallIndirect, wasm.OpMemoryGrow, wasm.OpRefFunc:
		return true
	case wasm.OpMisc:
		return in.Sub >= wasm.MiscMemoryInit
	}
	return false
}
