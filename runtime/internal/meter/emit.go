package meter

import (
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// The reasons for a tick.
const (
	// ReasonFuel: the fuel is used up. The value is what is left, negative
	// where more was used than there was; the answer is what there is from now
	// on.
	ReasonFuel = iota
	// ReasonStack: the stack is deeper than it was at any tick before. The
	// value are the bytes that are left; the answer is how many of them have
	// to be used for the next tick of this kind.
	ReasonStack
	// ReasonTable: a table is to grow by as many elements as the value says;
	// the answer is 0 where it must not.
	ReasonTable
	// ReasonMemory: the memory could not grow by as many pages as the value
	// says. The answer means nothing.
	ReasonMemory
	// ReasonReturn: an imported function has returned, which may have taken
	// any time. The value and the answer are those of ReasonFuel.
	ReasonReturn
)

// Instructions that only what is added uses.
const (
	opI32Eq   = 0x46
	opI32LtS  = 0x48
	opI32GtU  = 0x4b
	opI32LeU  = 0x4d
	opSelect  = 0x1b
	opI64GtU  = 0x56
	opI32Add  = 0x6a
	opI32Sub  = 0x6b
	opI32And  = 0x71
	opI32Or   = 0x72
	opI32ShrU = 0x76
	opI64Add  = 0x7c
	opI64Shl  = 0x86
	opExtendU = 0xad // i32 to i64
	blockVoid = 0x40
)

// asm writes instructions.
type asm struct {
	b []byte
	// The indices of what was added.
	fuel, depth, mark uint32 // globals
	tick              uint32 // the imported function
	slow, pause       uint32 // functions
	whole             uint32 // the function Whole
}

func (a *asm) op(codes ...byte) { a.b = append(a.b, codes...) }

func (a *asm) indexed(op byte, index uint32) { a.b = wasm.AppendU32(append(a.b, op), index) }

func (a *asm) constant(v int64) { a.b = wasm.AppendS64(append(a.b, wasm.OpI32Const), v) }

// take subtracts from a global.
func (a *asm) take(global, n uint32) {
	a.indexed(wasm.OpGlobalGet, global)
	a.constant(int64(n))
	a.op(opI32Sub)
	a.indexed(wasm.OpGlobalSet, global)
}

// check is a checkpoint for fuel.
func (a *asm) check(weight uint32) {
	a.take(a.fuel, weight)
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.slowIfNegative()
}

func (a *asm) slowIfNegative() {
	a.constant(0)
	a.op(opI32LtS, wasm.OpIf, blockVoid)
	a.indexed(wasm.OpCall, a.slow)
	a.op(wasm.OpEnd)
}

// guard is a checkpoint for fuel and stack, before a call.
func (a *asm) guard(weight, stacked uint32) {
	a.take(a.fuel, weight)
	a.take(a.depth, stacked)
	a.indexed(wasm.OpGlobalGet, a.depth)
	a.indexed(wasm.OpGlobalGet, a.mark)
	a.op(opI32Sub)
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.op(opI32Or)
	a.slowIfNegative()
}

// unguard gives back, behind the call, what guard took of the stack.
func (a *asm) unguard(stacked uint32) {
	a.indexed(wasm.OpGlobalGet, a.depth)
	a.constant(int64(stacked))
	a.op(opI32Add)
	a.indexed(wasm.OpGlobalSet, a.depth)
}

// emitter writes the functions of a module with their edits.
type emitter struct {
	asm
	view     *view
	graph    *graph
	indirect []indirect
	helpers  helpers
	local    uint32 // of the function being written, for tight loops
}

// function is the index of a function in the new module.
func (e *emitter) function(index uint32) uint32 {
	if index >= e.view.imported {
		index++ // tick is in between
	}
	return index
}

// body appends a function: its length, its locals, its code.
func (e *emitter) body(out []byte, index int) []byte {
	body := e.view.Bodies[index]
	edits := e.graph.funcs[index].edits
	e.b = append(e.b[:0], e.view.bytes[body.Start:body.Code]...)
	if slices.ContainsFunc(edits, func(ed edit) bool { return ed.kind == editEnter }) {
		e.addLocal(index)
	}
	at := body.Code
	for _, ed := range edits {
		e.b = append(e.b, e.view.bytes[at:ed.pos]...)
		e.edit(&ed)
		at = int(ed.pos + ed.size)
	}
	e.b = append(e.b, e.view.bytes[at:body.Stop]...)
	return append(wasm.AppendU32(out, uint32(len(e.b))), e.b...)
}

// addLocal writes the locals of a function with one more, for tight loops.
func (e *emitter) addLocal(index int) {
	body := &e.view.Bodies[index]
	e.b = wasm.AppendU32(e.b[:0], uint32(len(body.Locals)+1))
	e.local = uint32(len(e.view.Types[e.view.Funcs[index]].Params))
	for _, l := range body.Locals {
		e.b = append(wasm.AppendU32(e.b, l.N), byte(l.Type))
		e.local += l.N
	}
	e.b = append(e.b, 1, byte(wasm.I32))
}

func (e *emitter) edit(ed *edit) {
	switch ed.kind {
	case editCheck:
		e.check(ed.weight)
	case editCall:
		e.indexed(ed.op, e.function(ed.a))
	case editGuarded:
		stacked := e.graph.funcs[ed.a-e.view.imported].stacked
		e.guard(add(ed.weight, e.graph.funcs[ed.a-e.view.imported].charged), stacked)
		e.indexed(wasm.OpCall, e.function(ed.a))
		e.unguard(stacked)
	case editIndirect:
		cost := e.indirect[e.view.signatures[ed.a]]
		e.guard(add(ed.weight, cost.charged), cost.stacked)
		e.b = wasm.AppendU32(wasm.AppendU32(append(e.b, wasm.OpCallIndirect), ed.a), ed.b)
		e.unguard(cost.stacked)
		if cost.tick {
			e.indexed(wasm.OpCall, e.pause)
		}
	case editTick:
		e.indexed(wasm.OpCall, ed.a)
		e.indexed(wasm.OpCall, e.pause)
	case editJump:
		e.indexed(ed.op, ed.a)
	case editHelp:
		e.indexed(wasm.OpCall, e.helpers.function(helper(ed.a)))
	case editEnter:
		e.enter(e.local, ed.weight, e.view.bytes[ed.pos:ed.pos+int32(ed.a)])
	case editSpin:
		e.spin(e.local, ed.weight)
	case editLeave:
		e.leave(e.local)
	case editLeaveBy:
		e.leaveBy(e.local, ed.op, ed.a)
	case editLeaveIf:
		e.leaveIf(e.local, ed.a)
	case editExit:
		e.leave(e.local)
		e.op(wasm.OpEnd)
	}
}
