package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// A tight loop is one that calls nothing and has no check in it but its own. A
// call in it, even one that is never made, would make the engine keep what the
// loop works with in memory instead of registers: some loops take four times as
// long then. So the fuel is counted in a local, the last of the function, and
// where it is used up the loop is left for another one around it, which calls
// the host and begins the loop again:
//
//	loop                    ;; around it
//	  if fuel < 0 { call the host; fuel += cost }
//	  local = fuel
//	  loop                  ;; the guest's
//	    local -= cost
//	    if local < 0 { fuel = local; br to the loop around }
//	    ...
//	  end
//	  fuel = local
//	end
//
// Every way out of the loop puts the fuel back, over one block more. The code of
// these edits is in body.go.

// loop charges what is ahead of a loop's head, at every turn.
func (c *charger) loop(b *block, in *wasm.Instr, next uint32) uint32 {
	if b.branchedTo {
		next = add(next, handOver(b.params, b.assigns))
	}
	switch {
	case !b.branchedTo || b.dispatch != nil:
		return next // no loop, or its jumps back are charged
	case b.params > 0 || len(c.edits) > b.editsBehind || !c.callsNothing(b):
		return c.check(in.End, next)
	}
	c.tighten(b, in, max(1, next))
	return 0
}

// callsNothing reports whether a loop without edits is tight.
func (c *charger) callsNothing(b *block) bool {
	for i := b.start + 1; i < b.end; i++ {
		switch in := &c.code.List[i]; in.Op {
		case wasm.OpCall: // of an imported function
			return false
		case wasm.OpBrTable:
			for _, to := range c.targets(in) {
				if c.blocks[to].level < b.level {
					return false // a way out for which there is no edit
				}
			}
		}
	}
	return true
}

// tighten writes the edits of a tight loop, from its end to its beginning.
func (c *charger) tighten(b *block, loop *wasm.Instr, cost uint32) {
	list := c.code.List
	c.insert(list[b.end].End, edit{kind: editExit})
	for i := b.end - 1; i > b.start; i-- {
		switch in := &list[i]; in.Op {
		case wasm.OpReturn:
			c.insert(in.Pos, edit{kind: editLeave})
		case wasm.OpBr, wasm.OpBrIf:
			to := &c.blocks[c.ref[i]]
			switch {
			case to.level >= b.level: // it stays
			case in.Op == wasm.OpBr || to.takes() > 0:
				c.replace(in, edit{kind: editJump, a: in.A + 1})
				c.insert(in.Pos, edit{kind: editLeave})
			default:
				c.replace(in, edit{kind: editLeaveIf, a: in.A})
			}
		}
	}
	c.insert(loop.End, edit{kind: editSpin, cost: cost})
	c.insert(loop.Pos, edit{kind: editEnter, cost: cost, a: uint32(loop.End - loop.Pos)})
}
