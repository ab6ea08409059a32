package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// frame estimates the bytes that a call of a function takes of the engine's
// stack, from above. The engine gives a place of its own to each value that it
// cannot keep in a register all the time: one that lives across a call, or
// while more others are used than there are registers. It makes such values of
// what is assigned to locals and globals, of the operands of an expression,
// and, where control flow joins, of each local or global that was assigned on
// one of the ways.
type frame struct {
	bytes    int
	area     int     // of parameters and results on the stack, of the largest call
	born     []int32 // of each operand, how many were before it
	pushed   int32
	kept     int // the operands from the bottom that are counted
	assigned int // how often a local was, or a global, by an assignment or a call
	vectors  bool
}

const (
	// frameFixed is for the return address, for registers that are saved, and
	// for what a call of the host needs.
	frameFixed = 320
	frameValue = 8
	// shortLived is how many operands may come between an operand and its use
	// without a lack of registers.
	shortLived   = 6
	maxFrame     = 1 << 24
	vectorFactor = 2
	// reloaded are the values that the engine reads again after each call:
	// where the memory is, how long it is, and the added globals.
	reloaded = 5
)

func (f *frame) reset(types *wasm.FuncType, locals int) {
	*f = frame{born: f.born[:0]}
	f.bytes = locals * frameValue * 3 / 2
	f.call(types)
}

// keep counts values that may have a place in the frame.
func (f *frame) keep(n int) { f.bytes += n * frameValue }

func (f *frame) push(n int) {
	for range n {
		f.born = append(f.born, f.pushed)
		f.pushed++
	}
}

// pop takes operands off, down to a height, and counts those that were there
// for long.
func (f *frame) pop(height int) {
	for i := len(f.born) - 1; i >= height; i-- {
		if i >= f.kept && f.pushed-f.born[i] > shortLived {
			f.keep(1)
		}
	}
	f.born = f.born[:min(height, len(f.born))]
	f.kept = min(f.kept, len(f.born))
}

// across counts all operands there are: they live across a call.
func (f *frame) across() {
	f.keep(len(f.born) - f.kept)
	f.kept = len(f.born)
}

// assign is an assignment. An address has another form beside it.
func (f *frame) assign() {
	f.assigned++
	f.bytes += frameValue * 3 / 2
}

// call is a call of a type, or being called by it.
func (f *frame) call(typ *wasm.FuncType) {
	f.area = max(f.area, len(typ.Params)+len(typ.Results))
	f.vectors = f.vectors || hasVector(typ.Params) || hasVector(typ.Results)
}

// join is a place where ways meet on which so many assignments were made, to
// one of so many locals and globals each.
func (f *frame) join(assigned, names int) { f.keep(min(assigned, names)) }

// size is the estimate.
func (f *frame) size() uint32 {
	n := f.bytes + f.area*frameValue
	if f.vectors {
		n *= vectorFactor
	}
	return uint32(min(n+frameFixed, maxFrame))
}

func hasVector(types []wasm.ValueType) bool {
	for _, t := range types {
		if t == wasm.V128 {
			return true
		}
	}
	return false
}
