package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// helper is a function that is added for operations on ranges and for growing:
// nothing may run for long without a look at the clock, or be large without one
// at the limits.
type helper uint8

const (
	// These take the place of an instruction. Filling and copying charge by
	// length, and do what is long in pieces. What is out of bounds is left to
	// the instruction itself, which then does nothing but trap.
	helpFill helper = iota
	helpCopy
	helpGrowMemory
	// These are called before one, with its last operand, a length, which they
	// give back. helpGrowTable gives back what no table can grow by where the
	// host refuses.
	helpBytes
	helpElements
	helpGrowTable
	helperCount
)

// helpers are those that a module needs, in the order of their first use.
type helpers struct {
	first uint32           // the index of the first of them
	index [helperCount]int // behind it, and one more
	list  []helper
}

// function is the index of a helper.
func (h *helpers) function(kind helper) uint32 {
	if h.index[kind] == 0 {
		h.list = append(h.list, kind)
		h.index[kind] = len(h.list)
	}
	return h.first + uint32(h.index[kind]) - 1
}

func (kind helper) funcType() wasm.FuncType {
	i32 := wasm.I32
	if kind == helpFill || kind == helpCopy {
		return wasm.FuncType{Params: []wasm.ValueType{i32, i32, i32}}
	}
	return wasm.FuncType{Params: []wasm.ValueType{i32}, Results: []wasm.ValueType{i32}}
}

const (
	// piece is how many bytes are moved between two looks at the fuel.
	piece = 1 << 20
	// maxElements bounds what a table operation is charged: tables are not
	// larger.
	maxElements = wasm.MaxElements
)

// helperBody is the code of a helper, its locals included.
func (e *emitter) helperBody(kind helper) []byte {
	a := e.asm
	a.b = []byte{0} // no locals
	switch kind {
	case helpFill:
		a.inPieces([]byte{wasm.OpMisc, wasm.MiscMemoryFill, 0}, false)
	case helpCopy:
		a.inPieces([]byte{wasm.OpMisc, wasm.MiscMemoryCopy, 0, 0}, true)
	case helpGrowMemory:
		a.b = []byte{1, 1, byte(wasm.I32)}
		a.growMemory()
	case helpBytes:
		a.chargeLength(wasm.MaxBytes, bytesShift)
	case helpElements:
		a.chargeLength(maxElements, 0)
	case helpGrowTable:
		a.growTable()
	}
	return append(a.b, wasm.OpEnd)
}

func (a *asm) get(locals ...uint32) {
	for _, l := range locals {
		a.indexed(wasm.OpLocalGet, l)
	}
}

// chargeLength charges a length or, where that is less, as much as there can
// be, and gives the length back.
func (a *asm) chargeLength(most, shift int64) {
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.get(0)
	a.constant(most)
	a.get(0)
	a.constant(most)
	a.op(opI32LeU, opSelect)
	a.constant(shift)
	a.op(opI32ShrU, opI32Sub)
	a.charged()
	a.get(0)
}

// charged sets the fuel to what is on the stack.
func (a *asm) charged() {
	a.indexed(wasm.OpGlobalSet, a.fuel)
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.slowIfNegative()
}

// outOfBounds leaves on the stack whether the range from a local on, with the
// length in local 2, is not in the memory.
func (a *asm) outOfBounds(from uint32) {
	a.get(from)
	a.op(opExtendU)
	a.get(2)
	a.op(opExtendU, opI64Add)
	a.op(wasm.OpMemorySize, 0, opExtendU, wasm.OpI64Const, 16, opI64Shl)
	a.op(opI64GtU)
}

// inPieces fills (to, value, length) or copies (to, from, length): what is
// longer than a piece but for the last of them, which is charged before and
// looks at the fuel behind, where nothing has to be kept for it.
func (a *asm) inPieces(original []byte, copies bool) {
	a.get(2)
	a.constant(piece)
	a.op(opI32GtU, wasm.OpIf, blockVoid)
	a.longRange(original, copies)
	a.op(wasm.OpEnd)

	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.get(2)
	a.constant(bytesShift)
	a.op(opI32ShrU, opI32Sub)
	a.indexed(wasm.OpGlobalSet, a.fuel)
	a.get(0, 1, 2)
	a.op(original...)
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.slowIfNegative()
}

// longRange does all pieces but one. A copy to behind where it comes from goes
// from the last piece to the first, as its ranges may overlap.
func (a *asm) longRange(original []byte, copies bool) {
	a.outOfBounds(0)
	if copies {
		a.outOfBounds(1)
		a.op(opI32Or)
	}
	a.op(wasm.OpIf, blockVoid)
	a.get(0, 1, 2)
	a.op(original...)
	a.op(wasm.OpEnd)

	a.op(wasm.OpLoop, blockVoid)
	a.check(piece >> bytesShift)
	a.get(2)
	a.constant(piece)
	a.op(opI32Sub)
	a.indexed(wasm.OpLocalSet, 2)
	if copies {
		a.get(0, 1)
		a.op(opI32GtU) // the last piece
		a.op(wasm.OpIf, blockVoid)
		a.get(0, 2)
		a.op(opI32Add)
		a.get(1, 2)
		a.op(opI32Add)
		a.constant(piece)
		a.op(original...)
		a.op(wasm.OpElse)
	}
	a.get(0, 1)
	a.constant(piece)
	a.op(original...)
	a.advance(0)
	if copies {
		a.advance(1)
		a.op(wasm.OpEnd)
	}
	a.get(2)
	a.constant(piece)
	a.op(opI32GtU)
	a.indexed(wasm.OpBrIf, 0)
	a.op(wasm.OpEnd)
}

func (a *asm) advance(local uint32) {
	a.get(local)
	a.constant(piece)
	a.op(opI32Add)
	a.indexed(wasm.OpLocalSet, local)
}

// growMemory tells the host where the memory could not grow: guests handle
// that in ways of their own, and the host then knows why.
func (a *asm) growMemory() {
	a.get(0)
	a.op(wasm.OpMemoryGrow, 0)
	a.indexed(wasm.OpLocalTee, 1)
	a.constant(-1)
	a.op(opI32Eq, wasm.OpIf, blockVoid)
	a.askTick(ReasonMemory, func() { a.get(0) })
	a.op(wasm.OpDrop, wasm.OpEnd)
	a.get(1)
}

// growTable asks the host before a table grows.
func (a *asm) growTable() {
	a.get(0)
	a.constant(-1)
	a.askTick(ReasonTable, func() { a.get(0) })
	a.op(opSelect)
}

func (a *asm) askTick(reason int64, value func()) {
	a.constant(reason)
	value()
	a.indexed(wasm.OpCall, a.tick)
}
