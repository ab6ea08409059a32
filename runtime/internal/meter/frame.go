package meter

import (
	"math"
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
	*function
	slots    int
	operands []int32 // of each, how many values were made before it
	made     int32
	counted  int // operands from the bottom that have a slot
	locals   []localState
	open     []region
	regions  int32
	sets     []uint32 // locals, in the order of their assignments
	joins    []join
	part     int32 // the number of the code since the last border or call
	dead     bool  // the code never runs
	// Of the run of code since the last call or meeting of ways: its number, how
	// many locals it names, how many operands there are at most, and how many
	// values the engine keeps by itself: checked addresses, globals, values of
	// locals that are assigned again.
	run                 int32
	names, height, kept int
	borders             int // of basic blocks
	live                int // values, summed up over all borders
	area                int // values that the largest call passes on the stack
	floats, vectors     bool
}

// localState is what the walk knows of a local.
type localState struct {
	joined  bool  // a read of it is not dominated by its last assignment
	depth   int32 // of the region of that assignment, and its number
	region  int32
	part    int32 // of that assignment
	run     int32 // in which it was last named
	border  int   // before its last assignment or read
	spanned int   // borders between assignments and reads
}

// region is a block that is open, or one half of an if.
type region struct {
	number int32
	loop   int32 // the number of the innermost loop around it, or its own
	height int   // of the operands below its own
	sets   int   // assignments before it
	last   int   // assignments before the last way to its end
	backs  int   // ways back to it, of a loop
}

// join is where ways meet behind some assignments: each local that is joined
// takes so many slots there.
type join struct{ from, to, slots int }

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
	// hold the same. An instruction needs up to scratch of them for itself, and
	// hidden values say where the memory is and how long.
	enough  = 12 - hidden
	scratch = 4
	hidden  = 2
	// fewOperands may be there where a basic block ends, as compilers write code,
	// without being counted as values that live over its border.
	fewOperands = 8
	// shortLived is how many values may be made between an operand and its use
	// without a lack of registers.
	shortLived = 6
)

// estimate walks over a function that is rewritten with the given edits, first
// to last.
func (f *frame) estimate(fn *function, edits []edit) {
	*f = frame{
		function: fn, operands: f.operands[:0], locals: zeroed(f.locals, fn.locals), open: f.open[:0], sets: f.sets[:0],
		joins: f.joins[:0], part: 1, run: 1, slots: len(fn.typ().Params),
	}
	f.passes(fn.typ())
	for _, l := range fn.module.Bodies[fn.index].Locals {
		f.kind(l.Type)
	}
	f.enter(region{})
	for i := range f.code.List {
		in := &f.code.List[i]
		for ; len(edits) > 0 && int(edits[0].pos) <= in.Pos; edits = edits[1:] {
			switch edits[0].kind {
			case editCheck, editGuarded, editIndirect, editHelp:
				f.call()
			}
		}
		f.step(int32(i), in)
		f.height = max(f.height, len(f.operands))
	}
	f.join()
}

// step walks over one instruction.
func (f *frame) step(i int32, in *wasm.Instr) {
	f.pop(int(in.Pop))
	switch in.Op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpElse, wasm.OpEnd:
		f.border()
		f.block(in, &f.blocks[f.ref[i]])
	case wasm.OpBr, wasm.OpBrIf, wasm.OpBrTable:
		f.border()
		f.branch(i, in)
	case wasm.OpReturn, wasm.OpUnreachable:
		f.die()
	case wasm.OpCall, wasm.OpCallIndirect:
		typ := f.module.calleeType(in)
		f.passes(typ)
		f.pop(len(typ.Params))
		f.call()
		f.slots += len(typ.Results) + 2 // and whom it calls
		f.push(len(typ.Results))
	case wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee:
		f.local(in)
	default:
		f.plain(i, in)
	}
	f.push(int(in.Push))
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

// block opens or closes a block, or goes on with the other half of an if. Where
// ways meet, values are joined: those of a loop at its head, with moves at each
// branch back, and as much again for a loop around it that counts fuel.
func (f *frame) block(in *wasm.Instr, b *block) {
	if in.Op != wasm.OpElse && in.Op != wasm.OpEnd {
		f.slots += int(b.params + b.results)
		f.enter(region{height: max(0, len(f.operands)-int(b.params)), sets: len(f.sets)})
		if in.Op == wasm.OpLoop {
			f.call()
			f.top().loop = f.regions
		}
		return
	}
	if !f.dead && b.op != wasm.OpLoop {
		f.way(len(f.open) - 1)
	}
	r := *f.top()
	f.drop(r.height)
	f.open = f.open[:len(f.open)-1]
	f.dead = false
	switch {
	case in.Op == wasm.OpElse:
		f.call()
		f.push(int(b.params))
		f.enter(r)
		return
	case b.branchedTo && b.op == wasm.OpLoop:
		f.call()
		f.slots += int(b.params)*r.backs + 2*len(f.operands) + 6
		f.joins = append(f.joins, join{r.sets, len(f.sets), 3 + r.backs})
	case b.branchedTo || b.op == wasm.OpIf:
		f.call()
		f.joins = append(f.joins, join{r.sets, min(r.last, len(f.sets)), 1})
	}
	f.push(int(b.results))
}

// branch goes to one or several blocks, whether or not it goes on as well.
func (f *frame) branch(i int32, in *wasm.Instr) {
	if in.Op == wasm.OpBrTable {
		for _, id := range f.targets(in) {
			f.way(int(f.blocks[id].level))
		}
	} else if j := f.jumpAt(i); j != nil && j.forward {
		f.way(int(f.blocks[j.to].level))
	} else {
		f.way(int(f.blocks[f.ref[i]].level))
	}
	if in.Op != wasm.OpBrIf {
		f.die()
	}
}

// way is one to the head of a loop or the end of a block. Out of a loop, it is
// taken after any of the loop's assignments, which are before its end.
func (f *frame) way(level int) {
	r := &f.open[level]
	r.backs++
	if r.last = max(r.last, len(f.sets)); f.top().loop != r.loop {
		r.last = math.MaxInt
	}
}

// die is where nothing goes on.
func (f *frame) die() {
	f.drop(f.top().height)
	f.dead = true
}

// local is an assignment or a read.
func (f *frame) local(in *wasm.Instr) {
	l := &f.locals[in.A]
	if l.run != f.run {
		l.run = f.run
		f.names++
	}
	if in.Op == wasm.OpLocalGet {
		at := int(l.depth)
		closed := at >= len(f.open) || at > 0 && f.open[at].number != l.region
		l.joined = l.joined || closed || f.open[at].loop != f.top().loop
		l.spanned += f.borders - l.border
		l.border = f.borders
		return
	}
	f.sets = append(f.sets, in.A)
	l.depth, l.region, l.border = int32(len(f.open)-1), f.top().number, f.borders
	if l.part == f.part {
		f.kept++
		return
	}
	l.part = f.part
	f.slots++
}

// plain is an instruction that has to do with neither blocks nor locals.
func (f *frame) plain(i int32, in *wasm.Instr) {
	f.vectors = f.vectors || in.Op == wasm.OpSIMD
	f.slots += taken(in, &f.code.List[max(0, i-1)])
	switch {
	case calls(in):
		f.call()
		f.slots += 4 // whom it calls, with what
	case in.Op == wasm.OpGlobalGet:
		f.kept += 2
	case accesses(in.Op):
		f.kept++
	}
}

// border is the end of a basic block: operands live across it.
func (f *frame) border() {
	f.borders++
	f.part++
	f.live += max(0, len(f.operands)-fewOperands)
	f.slots += len(f.operands) - f.counted
	f.counted = len(f.operands)
}

// call is where nothing stays in a register, and the engine begins again to keep
// values by itself. If it ran out of registers before, these have slots.
func (f *frame) call() {
	f.border()
	f.borders--
	if f.names+f.height+f.kept+scratch > enough {
		f.slots += f.kept + hidden
	}
	f.run++
	f.names, f.height, f.kept = 0, 0, 0
}

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

// join counts what is joined where ways meet, and how many values live over
// borders: those that are joined anywhere, over all of them.
func (f *frame) join() {
	joined := 0
	for x := range f.locals {
		if l := &f.locals[x]; l.joined {
			joined++
			f.live += f.borders
		} else {
			f.live += l.spanned
		}
	}
	before := make([]int, len(f.sets)+1) // assignments to locals that are joined
	for i, x := range f.sets {
		before[i+1] = before[i]
		if f.locals[x].joined {
			before[i+1]++
		}
	}
	for _, j := range f.joins {
		f.slots += j.slots * min(before[max(j.from, j.to)]-before[j.from], joined)
	}
}

// passes notes the type of a call, or of being called.
func (f *frame) passes(typ *wasm.FuncType) {
	f.area = max(f.area, width(typ))
	for _, t := range slices.Concat(typ.Params, typ.Results) {
		f.kind(t)
	}
}

func (f *frame) kind(t wasm.ValueType) {
	f.floats = f.floats || t == wasm.F32 || t == wasm.F64
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
