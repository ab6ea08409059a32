package meter

import (
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// frame estimates the bytes that a call of a function takes of the engine's
// stack, from above. The engine keeps every value that does not stay in a
// register in a slot of its own, so the estimate counts values, in one walk over
// the code. A value may need a slot
//
//   - where it lives across a call: a call may change nearly all registers, and
//     checks are calls;
//   - where ways through the code meet, because the engine joins the values that
//     a local may have there into one more;
//   - where a run of code without any of these works with more values than there
//     are registers.
//
// What is still needed is not looked at: a local that is never read again counts
// as well. A local whose reads are all dominated by its last assignment, as
// compilers without optimization write them, is never joined.
type frame struct {
	*flow
	slots           int
	operands        []int32 // of each, how many values were made before it
	made            int32
	counted         int // operands from the bottom that have a slot
	locals          []localState
	open            []region
	regions         int32
	sets            []uint32 // locals, in the order of their assignments
	joins           []join
	run             run
	part            int32 // the number of the code since the last border or call
	borders         int   // of basic blocks
	area            int   // values that the largest call passes on the stack
	floats, vectors bool
}

// localState is what the walk knows of a local.
type localState struct {
	joined  bool  // a read of it is not dominated by its last assignment
	depth   int32 // of the region of that assignment, and its number
	region  int32
	border  int   // where it was last assigned or read
	spanned int   // borders of basic blocks between assignments and reads
	set     int32 // the part in which it was last assigned
	used    int32 // the run in which it was last named
}

// region is a block that is open, or one half of an if.
type region struct {
	number int32
	loop   int32 // the number of the innermost loop around it, or its own
	height int   // of the operands below its own
	sets   int   // assignments before it
	backs  int   // branches back to it
	tight  bool  // a loop with another around it that counts fuel
}

// join is where ways meet behind some assignments: each local that is joined
// takes so many slots there.
type join struct{ from, to, slots int }

// run is code in which the engine keeps values by itself: checked addresses,
// globals, where the memory is.
type run struct {
	number int32
	names  int // of different locals
	height int // of operands, at most
	kept   int // values that the engine keeps, and those of locals that are assigned anew
	memory bool
}

const (
	// frameFixed is for the return address, the caller's frame, the two values
	// that are always there, and what the engine asks for beyond the frame.
	// frameSaved is for the registers that are saved, frameFloats for those of
	// floats and vectors.
	frameFixed  = 96
	frameSaved  = 144
	frameFloats = 224
	slotBytes   = 8
	// vectorFactor is how many slots a vector takes.
	vectorFactor = 2
	maxFrame     = 1 << 24
	// enough are the registers that there are: amd64 has 14, two of which always
	// hold the same. An instruction needs up to scratch of them for itself.
	enough  = 12
	scratch = 4
	// shortLived is how many values may be made between an operand and its use
	// without a lack of registers.
	shortLived = 6
)

// estimate walks over a function that is rewritten with the given edits, first
// to last.
func (f *frame) estimate(fn *flow, index int, edits []edit) {
	typ := &fn.module.Types[fn.module.Funcs[index]]
	*f = frame{
		flow: fn, operands: f.operands[:0], locals: zeroed(f.locals, fn.locals), open: f.open[:0], sets: f.sets[:0],
		joins: f.joins[:0], run: run{number: 1}, part: 1,
	}
	f.passes(typ)
	for _, l := range fn.module.Bodies[index].Locals {
		f.kind(l.Type)
	}
	f.slots = len(typ.Params)
	f.enter(region{})
	for i := range f.code.List {
		in := &f.code.List[i]
		tight := false
		for ; len(edits) > 0 && int(edits[0].pos) <= in.Pos; edits = edits[1:] {
			switch edits[0].kind {
			case editCheck, editGuarded, editIndirect, editHelp:
				f.call()
			case editEnter:
				tight = true
			}
		}
		f.step(int32(i), in, tight)
		f.run.height = max(f.run.height, len(f.operands))
	}
	f.countJoins()
}

// step walks over one instruction.
func (f *frame) step(i int32, in *wasm.Instr, tight bool) {
	b := &f.blocks[max(0, f.ref[i])]
	f.pop(int(in.Pop))
	switch in.Op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
		f.slots += int(b.params + b.results)
		f.border()
		f.enter(region{height: max(0, len(f.operands)-int(b.params)), sets: len(f.sets), tight: tight})
		if in.Op == wasm.OpLoop {
			f.endRun()
			f.top().loop = f.regions
		}
	case wasm.OpElse:
		f.border()
		f.endRun()
		r := f.leave()
		f.push(int(b.params))
		f.enter(region{height: r.height, sets: r.sets})
	case wasm.OpEnd:
		f.border()
		f.end(b)
	case wasm.OpBr, wasm.OpBrIf, wasm.OpBrTable:
		f.border()
		f.branch(i, in)
	case wasm.OpReturn, wasm.OpUnreachable:
		f.dead()
	case wasm.OpCall, wasm.OpCallIndirect:
		typ, _ := f.module.calleeType(in)
		f.passes(typ)
		f.pop(len(typ.Params))
		f.call()
		f.slots += len(typ.Results)
		if in.Op == wasm.OpCallIndirect || in.A < f.module.imported {
			f.slots += 2 // whom it calls
		}
		f.push(len(typ.Results))
	case wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee:
		f.local(in)
		f.push(int(in.Push))
	default:
		f.plain(i, in)
		f.push(int(in.Push))
	}
}

func (f *frame) top() *region { return &f.open[len(f.open)-1] }

// enter opens a region.
func (f *frame) enter(r region) {
	f.regions++
	r.number = f.regions
	if len(f.open) > 0 {
		r.loop = f.top().loop
	}
	f.open = append(f.open, r)
}

// leave closes one, and drops its operands.
func (f *frame) leave() region {
	r := *f.top()
	f.drop(r.height)
	f.open = f.open[:len(f.open)-1]
	return r
}

// end closes a block. Where ways meet, values are joined: those of a loop at its
// head, with moves at each branch back.
func (f *frame) end(b *block) {
	r := f.leave()
	f.push(int(b.results))
	if b.start < 0 || !b.branchedTo && b.op != wasm.OpIf {
		return
	}
	f.endRun()
	slots := 1
	if b.op == wasm.OpLoop {
		slots += r.backs
		f.slots += int(b.params) * r.backs
	}
	if r.tight {
		slots += 2
		f.slots += 2*len(f.operands) + 6
	}
	f.joins = append(f.joins, join{r.sets, len(f.sets), slots})
}

// branch counts the branches back.
func (f *frame) branch(i int32, in *wasm.Instr) {
	back := func(id int32) {
		if b := &f.blocks[id]; b.op == wasm.OpLoop {
			f.open[b.level].backs++
		}
	}
	if in.Op == wasm.OpBrTable {
		for _, id := range f.tableRefs[in.A : in.A+in.B] {
			back(id)
		}
	} else if j := f.jumpAt(i); j == nil || !j.forward {
		back(f.ref[i])
	}
	if in.Op != wasm.OpBrIf {
		f.dead()
	}
}

// local is an assignment or a read.
func (f *frame) local(in *wasm.Instr) {
	l := &f.locals[in.A]
	if l.used != f.run.number {
		l.used = f.run.number
		f.run.names++
	}
	if in.Op == wasm.OpLocalGet {
		at := int(l.depth)
		l.joined = l.joined || at >= len(f.open) || at > 0 && f.open[at].number != l.region || f.open[at].loop != f.top().loop
		l.spanned += f.borders - l.border
		l.border = f.borders
		return
	}
	f.sets = append(f.sets, in.A)
	l.depth, l.region, l.border = int32(len(f.open)-1), f.top().number, f.borders
	if l.set == f.part {
		f.run.kept++
		return
	}
	l.set = f.part
	f.slots++
}

// plain is an instruction that has to do with neither blocks nor locals.
func (f *frame) plain(i int32, in *wasm.Instr) {
	f.vectors = f.vectors || in.Op == wasm.OpSIMD
	if i > 0 {
		f.slots += taken(in, &f.code.List[i-1])
	}
	switch {
	case calls(in):
		f.call()
		f.slots += 4 // whom it calls, with what
	case in.Op == wasm.OpGlobalGet:
		f.run.kept += 2
	case accesses(in.Op):
		f.run.kept++
		if !f.run.memory {
			f.run.memory = true
			f.run.kept += 2
		}
	}
}

// border is the end of a basic block.
func (f *frame) border() {
	f.across()
	f.borders++
}

// call is where nothing stays in a register.
func (f *frame) call() {
	f.across()
	f.endRun()
}

// across counts the operands, and the next value of each local.
func (f *frame) across() {
	f.slots += len(f.operands) - f.counted
	f.counted = len(f.operands)
	f.part++
}

// endRun is where the engine begins anew to keep values by itself.
func (f *frame) endRun() {
	if f.run.names+f.run.height+f.run.kept+scratch > enough {
		f.slots += f.run.kept
	}
	f.run = run{number: f.run.number + 1}
}

// dead is what follows a branch that is always taken: code that never runs.
func (f *frame) dead() { f.drop(f.top().height) }

func (f *frame) push(n int) {
	for range n {
		f.operands = append(f.operands, f.made)
		f.made++
	}
}

// pop takes operands off, but none from below the block: in code that never
// runs, they come from nowhere.
func (f *frame) pop(n int) { f.drop(max(len(f.operands)-n, f.top().height)) }

// drop takes operands off, down to a height, and counts those that were there
// for long.
func (f *frame) drop(height int) {
	for i := len(f.operands) - 1; i >= height; i-- {
		if i >= f.counted && f.made-f.operands[i] > shortLived {
			f.slots++
		}
	}
	f.operands = f.operands[:min(height, len(f.operands))]
	f.counted = min(f.counted, len(f.operands))
}

// countJoins counts what is joined where ways meet.
func (f *frame) countJoins() {
	before := make([]int, len(f.sets)+1) // assignments to locals that are joined
	for i, x := range f.sets {
		before[i+1] = before[i]
		if f.locals[x].joined {
			before[i+1]++
		}
	}
	most := f.joinedLocals()
	for _, j := range f.joins {
		f.slots += j.slots * min(before[j.to]-before[j.from], most)
	}
}

func (f *frame) joinedLocals() int {
	n := 0
	for x := range f.locals {
		if f.locals[x].joined {
			n++
		}
	}
	return n
}

// live is about how many values live over how many borders of basic blocks.
func (f *frame) live() int {
	n := 0
	for x := range f.locals {
		if l := &f.locals[x]; l.joined {
			n += f.borders
		} else {
			n += l.spanned
		}
	}
	return n
}

// passes notes the type of a call, or of being called.
func (f *frame) passes(typ *wasm.FuncType) {
	f.area = max(f.area, len(typ.Params)+len(typ.Results))
	for _, types := range [][]wasm.ValueType{typ.Params, typ.Results} {
		for _, t := range types {
			f.kind(t)
		}
	}
}

func (f *frame) kind(t wasm.ValueType) {
	f.floats = f.floats || t == wasm.F32 || t == wasm.F64 || t == wasm.V128
	f.vectors = f.vectors || t == wasm.V128
}

// bytes is the estimate.
func (f *frame) bytes() uint32 {
	n := (f.slots + f.area) * slotBytes
	if f.vectors {
		n *= vectorFactor
	}
	if f.floats || f.vectors {
		n += frameFloats
	}
	return uint32(min(n+frameFixed+frameSaved, maxFrame))
}

// zeroed is a slice of n zeros, in the room of another.
func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// taken is how many values an instruction may drive out of their registers,
// because it needs just these.
func taken(in, before *wasm.Instr) int {
	switch op := in.Op; {
	case op >= 0x74 && op <= 0x78, op >= 0x86 && op <= 0x8a: // shifts
		if before.Op == wasm.OpI32Const || before.Op == wasm.OpI64Const {
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

// accesses reports whether an instruction checks an address.
func accesses(op byte) bool {
	return op >= wasm.OpI32Load && op <= wasm.OpI64Store32 || op == wasm.OpSIMD
}

// calls reports whether the engine makes a call of an instruction.
func calls(in *wasm.Instr) bool {
	switch in.Op {
	case wasm.OpMemoryGrow, wasm.OpRefFunc:
		return true
	case wasm.OpMisc:
		return in.Sub >= wasm.MiscMemoryInit
	}
	return false
}
