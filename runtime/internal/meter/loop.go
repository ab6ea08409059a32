package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// A tight loop is one that calls nothing and has no checkpoint in it but its
// own. A call in it, even one that is never made, would make the engine keep
// what the loop works with in memory instead of registers: some loops take four
// times as long then. So the fuel is counted in a local, the last of the
// function, and where it is used up the loop is left for another one around it,
// which calls the host and begins the loop anew:
//
//	loop                    ;; around it
//	  if fuel < 0 { call the host; fuel += weight }
//	  local = fuel
//	  loop                  ;; the guest's
//	    local -= weight
//	    if local < 0 { fuel = local; br to the loop around }
//	    ...
//	  end
//	  fuel = local
//	end
//
// Every way out of the loop puts the fuel back, over one block more.

// loop charges what is ahead of a loop's head, at every turn.
func (p *paths) loop(id int32, in *wasm.Instr, next uint32) uint32 {
	b := &p.blocks[id]
	switch {
	case !b.branchedTo || b.dispatch != nil:
		return next // no loop, or its jumps back are charged
	case b.params > 0 || len(p.edits) > b.editsBehind || !p.callsNothing(b):
		return p.check(in.End, next)
	}
	p.tight(b, in, max(1, next))
	return 0
}

// callsNothing reports whether a loop without edits is tight.
func (p *paths) callsNothing(b *block) bool {
	for i := b.start + 1; i < b.end; i++ {
		switch in := &p.code.List[i]; in.Op {
		case wasm.OpCall: // of an imported function
			return false
		case wasm.OpBrTable:
			for _, to := range p.tableRefs[in.A : in.A+in.B] {
				if p.blocks[to].level < b.level {
					return false // a way out for which there is no edit
				}
			}
		}
	}
	return true
}

func (p *paths) tight(b *block, in *wasm.Instr, weight uint32) {
	list := p.code.List
	add := func(pos int, kind editKind) { p.edits = append(p.edits, edit{pos: int32(pos), kind: kind}) }
	add(list[b.end].End, editExit)
	for i := b.end - 1; i > b.start; i-- {
		in := &list[i]
		switch in.Op {
		case wasm.OpReturn:
			add(in.Pos, editLeave)
		case wasm.OpBr, wasm.OpBrIf:
			if to := &p.blocks[p.ref[i]]; to.level >= b.level {
				continue
			} else if in.Op == wasm.OpBr || to.takes() > 0 {
				p.replace(in, edit{kind: editLeaveBy, a: in.A})
			} else {
				p.replace(in, edit{kind: editLeaveIf, a: in.A})
			}
		}
	}
	p.edits = append(p.edits, edit{pos: int32(in.End), kind: editSpin, weight: weight})
	p.edits = append(p.edits, edit{pos: int32(in.Pos), kind: editEnter, weight: weight, a: uint32(in.End - in.Pos)})
}

// takes is how many operands a branch to the block takes along.
func (b *block) takes() int32 {
	if b.op == wasm.OpLoop {
		return b.params
	}
	return b.results
}

// enter begins the loop around a tight loop, which is of the same type.
func (a *asm) enter(local, weight uint32, loop []byte) {
	a.b = append(a.b, loop...)
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.constant(0)
	a.op(opI32LtS, wasm.OpIf, blockVoid)
	a.indexed(wasm.OpCall, a.slow)
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.constant(int64(weight))
	a.op(opI32Add)
	a.indexed(wasm.OpGlobalSet, a.fuel)
	a.op(wasm.OpEnd)
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.indexed(wasm.OpLocalSet, local)
}

// spin is the checkpoint at the head of a tight loop.
func (a *asm) spin(local, weight uint32) {
	a.indexed(wasm.OpLocalGet, local)
	a.constant(int64(weight))
	a.op(opI32Sub)
	a.indexed(wasm.OpLocalTee, local)
	a.constant(0)
	a.op(opI32LtS, wasm.OpIf, blockVoid)
	a.leave(local)
	a.indexed(wasm.OpBr, 2)
	a.op(wasm.OpEnd)
}

// leave puts the fuel back.
func (a *asm) leave(local uint32) {
	a.indexed(wasm.OpLocalGet, local)
	a.indexed(wasm.OpGlobalSet, a.fuel)
}

// leaveBy leaves a tight loop by a branch.
func (a *asm) leaveBy(local uint32, op byte, depth uint32) {
	a.leave(local)
	a.indexed(op, depth+1)
}

// leaveIf leaves it by a br_if, without cost where it stays.
func (a *asm) leaveIf(local, depth uint32) {
	a.op(wasm.OpIf, blockVoid)
	a.leaveBy(local, wasm.OpBr, depth+1)
	a.op(wasm.OpEnd)
}
