package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// ranges are the functions that take the place of operations on ranges and of
// growing. They charge by length before they begin, and do what is long in
// pieces: nothing runs for long without a look at the clock. What is out of
// bounds is left to the operation itself, which then does nothing but trap.
type ranges struct {
	view  *view
	first uint32 // the index of the first of them
	index map[rangeOp]uint32
	list  []rangeOp
}

// rangeOp is one operation with what follows it.
type rangeOp struct {
	op   byte
	sub  uint32
	a, b uint32
}

// function is the index of the function that does an edit's operation.
func (r *ranges) function(e *edit) uint32 {
	op := rangeOp{e.op, e.sub, e.a, e.b}
	i, ok := r.index[op]
	if !ok {
		i = uint32(len(r.list))
		r.index[op] = i
		r.list = append(r.list, op)
	}
	return r.first + i
}

// funcType is the type of the function for an operation.
func (r *ranges) funcType(op rangeOp) wasm.FuncType {
	i32 := wasm.I32
	if op.op == wasm.OpMemoryGrow {
		return wasm.FuncType{Params: []wasm.ValueType{i32}, Results: []wasm.ValueType{i32}}
	}
	switch op.sub {
	case wasm.MiscTableGrow:
		return wasm.FuncType{Params: []wasm.ValueType{r.view.tables[op.a].Elem, i32}, Results: []wasm.ValueType{i32}}
	case wasm.MiscTableFill:
		return wasm.FuncType{Params: []wasm.ValueType{i32, r.view.tables[op.a].Elem, i32}}
	}
	return wasm.FuncType{Params: []wasm.ValueType{i32, i32, i32}}
}

const (
	// piece is how many bytes are moved between two looks at the fuel.
	piece = 1 << 20
	// maxElements bounds what a table operation is charged: tables are not
	// larger.
	maxElements = wasm.MaxElements
)

// body is the code of the function for an operation, its locals included.
func (e *emitter) rangeBody(op rangeOp) []byte {
	a := e.asm
	a.b = nil
	if op.op == wasm.OpMemoryGrow {
		a.b = append(a.b, 1, 1, byte(wasm.I32))
		a.growMemory()
		return append(a.b, wasm.OpEnd)
	}
	a.b = append(a.b, 0) // no locals
	switch op.sub {
	case wasm.MiscMemoryFill:
		a.inPieces(op, false)
	case wasm.MiscMemoryCopy:
		a.inPieces(op, true)
	case wasm.MiscTableGrow:
		a.growTable(op)
	default:
		a.chargeLength(op)
		a.get(0, 1, 2)
		a.original(op)
	}
	return append(a.b, wasm.OpEnd)
}

func (a *asm) get(locals ...uint32) {
	for _, l := range locals {
		a.indexed(wasm.OpLocalGet, l)
	}
}

// original is the operation itself.
func (a *asm) original(op rangeOp) {
	a.b = wasm.AppendU32(append(a.b, op.op), op.sub)
	a.b = wasm.AppendU32(a.b, op.a)
	switch op.sub {
	case wasm.MiscMemoryInit, wasm.MiscMemoryCopy, wasm.MiscTableInit, wasm.MiscTableCopy:
		a.b = wasm.AppendU32(a.b, op.b)
	}
}

// chargeLength charges an operation that is bounded by what there is, by the
// length in local 2 or by that bound.
func (a *asm) chargeLength(op rangeOp) {
	shift, most := int64(0), int64(maxElements)
	if op.sub == wasm.MiscMemoryInit {
		shift, most = 3, wasm.MaxBytes
	}
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.get(2)
	a.constant(most)
	a.get(2)
	a.constant(most)
	a.op(opI32LeU, opSelect)
	a.constant(shift)
	a.op(opI32ShrU, opI32Sub)
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

// inPieces fills (to, value, length) or copies (to, from, length). A copy to
// behind where it comes from goes from the last piece to the first, as its
// ranges may overlap.
func (a *asm) inPieces(op rangeOp, copies bool) {
	a.outOfBounds(0)
	if copies {
		a.outOfBounds(1)
		a.op(opI32Or)
	}
	a.op(wasm.OpIf, blockVoid)
	a.get(0, 1, 2)
	a.original(op)
	a.op(wasm.OpEnd)

	a.op(wasm.OpBlock, blockVoid, wasm.OpLoop, blockVoid)
	a.get(2)
	a.constant(piece)
	a.op(opI32LeU)
	a.indexed(wasm.OpBrIf, 1)
	a.check(piece / bytesPerUnit)
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
		a.original(op)
		a.indexed(wasm.OpBr, 1)
		a.op(wasm.OpEnd)
	}
	a.get(0, 1)
	a.constant(piece)
	a.original(op)
	a.advance(0)
	if copies {
		a.advance(1)
	}
	a.indexed(wasm.OpBr, 0)
	a.op(wasm.OpEnd, wasm.OpEnd)

	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.get(2)
	a.constant(3) // bytesPerUnit
	a.op(opI32ShrU, opI32Sub)
	a.indexed(wasm.OpGlobalSet, a.fuel)
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.slowIfNegative()
	a.get(0, 1, 2)
	a.original(op)
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

// growTable asks the host before it grows a table.
func (a *asm) growTable(op rangeOp) {
	a.askTick(ReasonTable, func() { a.get(1) })
	a.op(wasm.OpI32Eqz, wasm.OpIf, blockVoid)
	a.constant(-1)
	a.op(wasm.OpReturn, wasm.OpEnd)
	a.get(0, 1)
	a.original(op)
}

func (a *asm) askTick(reason int64, value func()) {
	a.constant(reason)
	value()
	a.indexed(wasm.OpCall, a.tick)
}
