package meter

import (
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// This is where fuel is charged. The charger walks over a function from its end
// to its beginning and knows, at each instruction, the cost of the heaviest path
// from there to the next check. Where a check has to be it notes an edit that
// charges this cost, and begins at 0 again. What is left at the beginning of the
// function is charged to its callers.

const (
	// longPath is the cost of a path behind which a check is put where paths
	// join, and over which a function charges itself instead of its callers.
	// What is smaller is charged in advance, whether it runs or not.
	longPath = 150
	// longRun is the cost of a path behind which a check is put wherever that
	// is: code without a branch is no shorter than other code, and a store in it
	// may wait for a page of memory as long as for thousands of sums.
	longRun = 10_000
	// longChain is how many bytes of the stack a chain of calls may take before
	// it has to count. The longest chains are those of faults, which are rare.
	longChain = 8 << 10
	// maxCost bounds the cost of a path. Code is bounded, so only calls of calls
	// of calls could add up to it, and those have checks.
	maxCost = 1 << 28
)

// editKind is what is done at a place of a function's code.
type editKind uint8

const (
	// editCheck puts a check there.
	editCheck editKind = iota
	// editCall replaces the index of a function: in call and in ref.func.
	editCall
	// editGuarded is a call in a cycle: a check of fuel and stack.
	editGuarded
	// editIndirect is a call through a table, with the same.
	editIndirect
	// editTick is a call of an imported function with a tick behind it.
	editTick
	// editJump replaces the depth of a branch.
	editJump
	// editHelp calls a helper, in place of an instruction or before it.
	editHelp
	// The edits of a tight loop: see tightloop.go.
	editEnter
	editSpin
	editLeave
	editLeaveIf
	editExit
)

// edit is a change at one place of a function's code.
type edit struct {
	pos  int32 // in the module
	size int32 // bytes that are replaced
	kind editKind
	op   byte   // that is replaced
	a, b uint32 // an index, a depth, what follows op
	cost uint32
}

// charger finds the edits of a function that charge fuel, with the cost ahead of
// every instruction. It is used for one function after the other.
type charger struct {
	*function
	graph *callGraph
	ahead []uint32 // by instruction, and behind the last
	edits []edit   // from the last to the first, while walking
	later []pending
	frame frame
}

// pending is a check whose cost includes that of a jump back, which is known
// only at the end.
type pending struct {
	edit  int
	froms []int32 // the instructions where it may go on
	base  uint32
	or    uint32 // the cost where it does not jump
}

// charge fills in edits, first to last, and returns the cost that callers have
// to charge.
func (c *charger) charge() (charged uint32) {
	list := c.code.List
	c.ahead = zeroed(c.ahead, len(list)+1)
	c.edits, c.later = c.edits[:0], c.later[:0]
	for i := len(list) - 1; i >= 0; i-- {
		c.ahead[i] = c.visit(int32(i), &list[i])
		if c.ahead[i] > longRun {
			c.ahead[i] = c.check(list[i].Pos, c.ahead[i])
		}
	}
	if charged = c.ahead[0]; charged > longPath {
		charged = c.check(list[0].Pos, charged)
	}
	for _, l := range c.later {
		heaviest := l.or
		for _, from := range l.froms {
			heaviest = max(heaviest, c.ahead[from])
		}
		c.edits[l.edit].cost = max(1, add(l.base, heaviest))
	}
	slices.Reverse(c.edits)
	return charged
}

func add(a, b uint32) uint32 { return min(a+b, maxCost) } // both are below it

// visit returns the cost from instruction i on.
func (c *charger) visit(i int32, in *wasm.Instr) uint32 {
	next, cost := c.ahead[i+1], costOf(in)
	switch in.Op {
	case wasm.OpUnreachable:
		return cost
	case wasm.OpReturn:
		return add(cost, handOver(c.blocks[0].results, 0))
	case wasm.OpLoop:
		return c.loop(&c.blocks[c.ref[i]], in, next)
	case wasm.OpIf:
		b := &c.blocks[c.ref[i]]
		other := b.end
		if b.els >= 0 {
			other = b.els + 1
		}
		return add(cost, max(next, c.ahead[other]))
	case wasm.OpElse:
		return c.ahead[c.blocks[c.ref[i]].end]
	case wasm.OpEnd:
		return c.end(&c.blocks[c.ref[i]], in, next)
	case wasm.OpBr:
		return c.branch(i, in, cost, 0)
	case wasm.OpBrIf:
		return c.branch(i, in, cost, next)
	case wasm.OpBrTable:
		return c.branchTable(in, cost)
	case wasm.OpCall:
		return c.call(in, cost, next)
	case wasm.OpCallIndirect:
		cost += handOver(int32(width(c.module.calleeType(in))), 0)
		c.replace(in, edit{kind: editIndirect, a: in.A, b: in.B, cost: add(cost, next)})
		return 0
	case wasm.OpRefFunc:
		c.replace(in, edit{kind: editCall, a: in.A})
	case wasm.OpMemoryGrow:
		c.replace(in, edit{kind: editHelp, a: helpGrowMemory})
	case wasm.OpMisc:
		cost += c.bulk(i, in)
	}
	return add(cost, next)
}

// check puts a check at a position, for what is ahead of it.
func (c *charger) check(pos int, cost uint32) uint32 {
	c.insert(pos, edit{kind: editCheck, cost: max(1, cost)})
	return 0
}

// insert puts something at a position.
func (c *charger) insert(pos int, e edit) {
	e.pos = int32(pos)
	c.edits = append(c.edits, e)
}

// replace puts something in the place of an instruction.
func (c *charger) replace(in *wasm.Instr, e edit) {
	e.size, e.op = int32(in.End-in.Pos), in.Op
	c.insert(in.Pos, e)
}

// end is where paths join: a long one behind it gets a check of its own.
func (c *charger) end(b *block, in *wasm.Instr, next uint32) uint32 {
	switch {
	case b.start < 0:
		next = add(next, handOver(b.results, 0)) // locals end here
	case b.op != wasm.OpLoop && (b.branchedTo || b.op == wasm.OpIf):
		next = add(next, handOver(b.results, b.assigns))
	}
	if next > longPath && b.start >= 0 {
		next = c.check(in.End, next)
	}
	b.editsBehind = len(c.edits)
	return next
}

// target is the cost at the target of a branch forward, and of one to a loop,
// which charges by itself.
func (c *charger) target(id int32) uint32 {
	if b := &c.blocks[id]; b.op != wasm.OpLoop {
		return c.ahead[b.end]
	}
	return 0
}

// branch is a br, or a br_if that goes on to next.
func (c *charger) branch(i int32, in *wasm.Instr, cost, next uint32) uint32 {
	id := c.ref[i]
	b := &c.blocks[id]
	if b.dispatch == nil {
		return add(cost, max(next, c.target(id)))
	}
	j := c.jumpAt(i)
	if j == nil {
		return c.back(in, cost+handOver(0, b.assigns), next, b.start+1)
	}
	behind := c.blocks[j.to].end
	if j.forward {
		c.replace(in, edit{kind: editJump, a: j.depth})
		return add(cost, c.ahead[behind])
	}
	return c.back(in, cost+costDispatch+handOver(0, b.assigns), next, behind)
}

// branchTable is a branch to one of several blocks.
func (c *charger) branchTable(in *wasm.Instr, cost uint32) uint32 {
	heaviest := uint32(0)
	var froms []int32
	for _, id := range c.targets(in) {
		b := &c.blocks[id]
		switch {
		case b.dispatch == nil:
			heaviest = max(heaviest, c.target(id))
		case b.seen != in.A+1:
			b.seen = in.A + 1
			froms = append(froms, b.start+1)
			cost = max(cost, costOf(in)+handOver(0, b.assigns))
		}
	}
	if froms == nil {
		return add(cost, heaviest)
	}
	return c.back(in, cost, heaviest, froms...)
}

// back puts a check before a branch to a dispatch.
func (c *charger) back(in *wasm.Instr, cost, or uint32, froms ...int32) uint32 {
	c.later = append(c.later, pending{edit: len(c.edits), froms: froms, base: cost, or: or})
	return c.check(in.Pos, 0)
}

// call is charged with what the callee leaves to its callers. Where the callee
// is not known yet, there is a cycle, and the call has a check.
func (c *charger) call(in *wasm.Instr, cost, next uint32) uint32 {
	cost += handOver(int32(width(c.module.calleeType(in))), 0)
	if in.A < c.module.imported {
		if c.module.ticks[in.A] {
			c.replace(in, edit{kind: editTick, a: in.A})
		} // else it is as it was: the indices of imported functions stay
		return add(cost+costImport, next)
	}
	callee := &c.graph.funcs[in.A-c.module.imported]
	if !callee.done || callee.stacked > longChain {
		c.replace(in, edit{kind: editGuarded, a: in.A, cost: add(cost, next)})
		return 0
	}
	c.replace(in, edit{kind: editCall, a: in.A})
	return add(add(cost, callee.charged), next)
}

// bulk has helpers for operations on ranges, but for short ones of a length that
// the code says: they have a cost, which it returns.
func (c *charger) bulk(i int32, in *wasm.Instr) (cost uint32) {
	switch in.Sub {
	case wasm.MiscMemoryFill, wasm.MiscMemoryCopy:
		n := &c.code.List[max(i-1, 0)]
		if n.Op == wasm.OpI32Const && n.Value >= 0 && n.Value <= piece {
			return uint32(n.Value) >> bytesShift
		}
		kind := uint32(helpFill)
		if in.Sub == wasm.MiscMemoryCopy {
			kind = helpCopy
		}
		c.replace(in, edit{kind: editHelp, a: kind})
	case wasm.MiscMemoryInit:
		c.insert(in.Pos, edit{kind: editHelp, a: helpBytes})
	case wasm.MiscTableInit, wasm.MiscTableCopy, wasm.MiscTableFill:
		c.insert(in.Pos, edit{kind: editHelp, a: helpElements})
	case wasm.MiscTableGrow:
		c.insert(in.Pos, edit{kind: editHelp, a: helpGrowTable})
	}
	return 0
}
