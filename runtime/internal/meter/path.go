package meter

import (
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

const (
	// longPath is the weight of a path behind which a checkpoint is put where
	// paths join, and over which a function charges itself instead of its
	// callers. What is smaller is charged in advance, whether it runs or not.
	longPath = 150
	// longRun is the weight of a path behind which a checkpoint is put wherever
	// that is: code without a branch is no shorter than other code, and a store
	// in it may wait for a page of memory as long as for thousands of sums.
	longRun = 10_000
	// longChain is how many bytes of the stack a chain of calls may take before
	// it has to count. The longest chains are those of faults, which are rare.
	longChain = 32 << 10
	// maxWeight bounds the weight of a path. Code is bounded, so only calls of
	// calls of calls could add up to it, and those have checkpoints.
	maxWeight = 1 << 28
)

// editKind is what is done at a place of a function's code.
type editKind uint8

const (
	// editCheck puts a checkpoint there.
	editCheck editKind = iota
	// editCall replaces the index of a function: in call and in ref.func.
	editCall
	// editGuarded is a call in a cycle: a checkpoint for fuel and stack.
	editGuarded
	// editIndirect is a call through a table, with the same.
	editIndirect
	// editTick is a call of an imported function with a tick behind it.
	editTick
	// editJump makes a branch to a dispatch a branch to where it leads.
	editJump
	// editHelp calls a helper, in place of an instruction or before it.
	editHelp
	// The edits of a tight loop: see loop.go.
	editEnter
	editSpin
	editLeave
	editLeaveBy
	editLeaveIf
	editExit
)

// edit is a change at one place of a function's code.
type edit struct {
	pos    int32 // in the module
	size   int32 // bytes that are replaced
	kind   editKind
	op     byte   // that is replaced
	a, b   uint32 // an index, a depth, what follows op
	weight uint32
}

// paths computes the weight ahead of every instruction, from the end of the
// function to its beginning, and the edits that charge it.
type paths struct {
	*flow
	graph *graph
	ahead []uint32 // by instruction, and behind the last
	edits []edit   // from the last to the first
	later []pending
	frame frame
}

// pending is a checkpoint whose weight includes that of a jump back, which is
// known only at the end.
type pending struct {
	edit  int
	froms []int32 // the instructions where it may go on
	base  uint32
	or    uint32 // the weight where it does not jump
}

// run fills in edits, first to last, and returns the weight that callers have
// to charge.
func (p *paths) run() (charged uint32) {
	list := p.code.List
	p.ahead = append(p.ahead[:0], make([]uint32, len(list)+1)...)
	p.edits, p.later = p.edits[:0], p.later[:0]
	for i := len(list) - 1; i >= 0; i-- {
		p.ahead[i] = p.visit(int32(i), &list[i])
		if p.ahead[i] > longRun {
			p.ahead[i] = p.check(list[i].Pos, p.ahead[i])
		}
	}
	charged = p.ahead[0]
	if charged > longPath {
		p.edits = append(p.edits, edit{pos: int32(list[0].Pos), kind: editCheck, weight: charged})
		charged = 0
	}
	for _, l := range p.later {
		heaviest := l.or
		for _, from := range l.froms {
			heaviest = max(heaviest, p.ahead[from])
		}
		p.edits[l.edit].weight = max(1, add(l.base, heaviest))
	}
	slices.Reverse(p.edits)
	return charged
}

func add(a, b uint32) uint32 { return min(a+b, maxWeight) } // both are below it

// visit returns the weight from instruction i on.
func (p *paths) visit(i int32, in *wasm.Instr) uint32 {
	next, weight := p.ahead[i+1], weightOf(in)
	switch in.Op {
	case wasm.OpUnreachable, wasm.OpReturn:
		return weight
	case wasm.OpLoop:
		return p.loop(p.ref[i], in, next)
	case wasm.OpIf:
		b := &p.blocks[p.ref[i]]
		if b.els >= 0 {
			return add(weight, max(next, p.ahead[b.els+1]))
		}
		return add(weight, max(next, p.ahead[b.end]))
	case wasm.OpElse:
		return p.ahead[p.blocks[p.ref[i]].end]
	case wasm.OpEnd:
		return p.end(i, in, next)
	case wasm.OpBr:
		return p.branch(i, in, weight, 0)
	case wasm.OpBrIf:
		return p.branch(i, in, weight, next)
	case wasm.OpBrTable:
		return p.branchTable(in, weight)
	case wasm.OpCall:
		return p.call(in, weight, next)
	case wasm.OpCallIndirect:
		p.replace(in, edit{kind: editIndirect, a: in.A, b: in.B, weight: add(weight, next)})
		return 0
	case wasm.OpRefFunc:
		p.replace(in, edit{kind: editCall, a: in.A})
	case wasm.OpMemoryGrow:
		p.replace(in, edit{kind: editHelp, a: uint32(helpGrowMemory)})
	case wasm.OpMisc:
		weight += p.ranged(i, in)
	}
	return add(weight, next)
}

// check puts a checkpoint at a position, for what is ahead of it.
func (p *paths) check(pos int, weight uint32) uint32 {
	p.edits = append(p.edits, edit{pos: int32(pos), kind: editCheck, weight: max(1, weight)})
	return 0
}

// end is where paths join: a long one behind it gets a checkpoint of its own.
func (p *paths) end(i int32, in *wasm.Instr, next uint32) uint32 {
	b := &p.blocks[p.ref[i]]
	if next > longPath && b.start >= 0 {
		next = p.check(in.End, next)
	}
	b.editsBehind = len(p.edits)
	return next
}

// target is the weight at the target of a branch forward, and of one to a loop,
// which charges by itself.
func (p *paths) target(id int32) uint32 {
	if b := &p.blocks[id]; b.op != wasm.OpLoop {
		return p.ahead[b.end]
	}
	return 0
}

// branch is a br, or a br_if that goes on to next.
func (p *paths) branch(i int32, in *wasm.Instr, weight, next uint32) uint32 {
	id := p.ref[i]
	b := &p.blocks[id]
	if b.dispatch == nil {
		return add(weight, max(next, p.target(id)))
	}
	j := p.jumpAt(i)
	if j == nil {
		return p.back(in, weight, next, b.start+1)
	}
	behind := p.blocks[j.to].end
	if j.forward {
		p.replace(in, edit{kind: editJump, a: j.depth})
		return add(weight, p.ahead[behind])
	}
	return p.back(in, weight+weightDispatch, next, behind)
}

// back puts a checkpoint before a branch to a dispatch.
func (p *paths) back(in *wasm.Instr, weight, or uint32, froms ...int32) uint32 {
	p.later = append(p.later, pending{edit: len(p.edits), froms: froms, base: weight, or: or})
	p.edits = append(p.edits, edit{pos: int32(in.Pos), kind: editCheck})
	return 0
}

// replace puts something in the place of an instruction.
func (p *paths) replace(in *wasm.Instr, e edit) {
	e.pos, e.size, e.op = int32(in.Pos), int32(in.End-in.Pos), in.Op
	p.edits = append(p.edits, e)
}

func (p *paths) branchTable(in *wasm.Instr, weight uint32) uint32 {
	heaviest := uint32(0)
	var froms []int32
	for _, id := range p.tableRefs[in.A : in.A+in.B] {
		b := &p.blocks[id]
		switch {
		case b.dispatch == nil:
			heaviest = max(heaviest, p.target(id))
		case b.seen != in.A+1:
			b.seen = in.A + 1
			froms = append(froms, b.start+1)
		}
	}
	if froms == nil {
		return add(weight, heaviest)
	}
	return p.back(in, weight, heaviest, froms...)
}

func (p *paths) call(in *wasm.Instr, weight, next uint32) uint32 {
	if in.A < p.module.imported {
		if p.module.ticks[in.A] {
			p.replace(in, edit{kind: editTick, a: in.A})
		} // else it is as it was: the indices of imported functions stay
		return add(weight+weightImport, next)
	}
	callee := &p.graph.funcs[in.A-p.module.imported]
	if !callee.done || callee.stacked > longChain {
		p.replace(in, edit{kind: editGuarded, a: in.A, weight: add(weight, next)})
		return 0
	}
	p.replace(in, edit{kind: editCall, a: in.A})
	return add(add(weight, callee.charged), next)
}

// ranged has helpers for operations on ranges, but for short ones of a length
// that the code says: they have a weight, which it returns.
func (p *paths) ranged(i int32, in *wasm.Instr) (weight uint32) {
	if in.Sub == wasm.MiscMemoryFill || in.Sub == wasm.MiscMemoryCopy {
		if n := &p.code.List[max(i-1, 0)]; n.Op == wasm.OpI32Const && n.Value >= 0 && n.Value <= piece {
			return uint32(n.Value) >> bytesShift
		}
	}
	before := func(kind helper) {
		p.edits = append(p.edits, edit{pos: int32(in.Pos), kind: editHelp, a: uint32(kind)})
	}
	switch in.Sub {
	case wasm.MiscMemoryFill:
		p.replace(in, edit{kind: editHelp, a: uint32(helpFill)})
	case wasm.MiscMemoryCopy:
		p.replace(in, edit{kind: editHelp, a: uint32(helpCopy)})
	case wasm.MiscMemoryInit:
		before(helpBytes)
	case wasm.MiscTableInit, wasm.MiscTableCopy, wasm.MiscTableFill:
		before(helpElements)
	case wasm.MiscTableGrow:
		before(helpGrowTable)
	}
	return 0
}
