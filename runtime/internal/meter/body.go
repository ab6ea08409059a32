package meter

import (
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// The code of checks, in the text format: see assembler. An underscore is an
// argument.
const (
	// A check takes its cost off the fuel, and calls slow where that is used up.
	checkFuel      = "global.get fuel i32.const _ i32.sub global.set fuel global.get fuel " + slowIfNegative
	slowIfNegative = "i32.const 0 i32.lt_s if call slow end "

	// A guard, before a call, takes the cost off the fuel and a frame off the
	// stack. unguard gives the frame back.
	guard = "global.get fuel i32.const _ i32.sub global.set fuel global.get depth i32.const _ i32.sub global.set depth " +
		"global.get depth global.get mark i32.sub global.get fuel i32.or " + slowIfNegative
	unguard = "global.get depth i32.const _ i32.add global.set depth"

	// The parts of a tight loop.
	enterLoop = "global.get fuel i32.const 0 i32.lt_s if call slow " +
		"global.get fuel i32.const _ i32.add global.set fuel end global.get fuel local.set _"
	spin = "local.get _ i32.const _ i32.sub local.tee _ i32.const 0 i32.lt_s if local.get _ global.set fuel br 2 end"
	// leave puts the fuel back. leaveIf does where a br_if leaves, without cost
	// where it stays.
	leave   = "local.get _ global.set fuel "
	leaveIf = "if local.get _ global.set fuel br _ end"
	exit    = leave + "end"
)

// bodyWriter writes the functions of a module with their edits.
type bodyWriter struct {
	assembler
	module   *module
	graph    *callGraph
	indirect []indirect
	helpers  helpers
	local    uint32 // of the function being written, for tight loops
}

// function is the index of a function in the new module.
func (w *bodyWriter) function(index uint32) uint32 {
	if index >= w.module.imported {
		index++ // tick is in between
	}
	return index
}

// body appends a function: its length, its locals, its code.
func (w *bodyWriter) body(out []byte, index int) []byte {
	body := w.module.Bodies[index]
	edits := w.graph.funcs[index].edits
	w.b = append(w.b[:0], w.module.bytes[body.Start:body.Code]...)
	if slices.ContainsFunc(edits, func(ed edit) bool { return ed.kind == editEnter }) {
		w.addLocal(index)
	}
	at := body.Code
	for i := range edits {
		w.b = append(w.b, w.module.bytes[at:edits[i].pos]...)
		w.edit(&edits[i])
		at = int(edits[i].pos + edits[i].size)
	}
	w.b = append(w.b, w.module.bytes[at:body.Stop]...)
	return append(wasm.AppendU32(out, uint32(len(w.b))), w.b...)
}

// addLocal writes the locals of a function with one more, for tight loops.
func (w *bodyWriter) addLocal(index int) {
	body := &w.module.Bodies[index]
	w.b = wasm.AppendU32(w.b[:0], uint32(len(body.Locals)+1))
	w.local = uint32(len(w.module.bodyType(index).Params))
	for _, l := range body.Locals {
		w.b = append(wasm.AppendU32(w.b, l.N), byte(l.Type))
		w.local += l.N
	}
	w.b = append(w.b, 1, byte(wasm.I32))
}

func (w *bodyWriter) edit(ed *edit) {
	switch ed.kind {
	case editCheck:
		w.emit(checkFuel, ed.cost)
	case editCall:
		w.b = wasm.AppendU32(append(w.b, ed.op), w.function(ed.a))
	case editGuarded:
		callee := &w.graph.funcs[ed.a-w.module.imported]
		w.emit(guard, add(ed.cost, callee.charged), callee.stacked)
		w.emit("call _", w.function(ed.a))
		w.emit(unguard, callee.stacked)
	case editIndirect:
		callees := w.indirect[w.module.signatures[ed.a]]
		w.emit(guard, add(ed.cost, callees.charged), callees.stacked)
		w.emit("call_indirect _ _", ed.a, ed.b)
		w.emit(unguard, callees.stacked)
		if callees.tick {
			w.emit("call pause")
		}
	case editTick:
		w.emit("call _ call pause", ed.a)
	case editJump:
		w.b = wasm.AppendU32(append(w.b, ed.op), ed.a)
	case editHelp:
		w.emit("call _", w.helpers.function(ed.a))
	case editEnter:
		w.b = append(w.b, w.module.bytes[ed.pos:ed.pos+int32(ed.a)]...) // a loop of the same type
		w.emit(enterLoop, ed.cost, w.local)
	case editSpin:
		w.emit(spin, w.local, ed.cost, w.local, w.local)
	case editLeave:
		w.emit(leave, w.local)
	case editLeaveIf:
		w.emit(leaveIf, w.local, ed.a+2)
	case editExit:
		w.emit(exit, w.local)
	}
}
