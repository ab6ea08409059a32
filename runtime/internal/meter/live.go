package meter

import (
	"math/bits"
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// liveness finds, for every instruction of a rewritten function, the locals
// whose values are still used behind it. It walks from the end of the function
// to its beginning, as often as the loops in it need to agree with their jumps
// back. What a value costs on the way is counted in places.
//
// Its work is bounded by the length of the function; one that needs more, which
// no compiler writes, is said to have all locals live everywhere.
type liveness struct {
	*flow
	edits  []edit   // those of them that are not passed yet
	number []int32  // by local, from 1
	used   []uint32 // locals, by their numbers
	words  int      // of a set
	live   []uint64
	n      int      // how many are in it
	labels []uint64 // of each open block, the set behind its end
	elses  []uint64 // and at its else
	heads  []uint64 // of each loop, the set at its head
	backs  []int    // jumps back, of each loop
	loopOf []int32  // by block
	seen   []uint32 // by block, the visit in which it was last branched to
	visit  uint32
	budget int
	sound  bool // the heads are what was found at them
	places
	borders, carried int // of basic blocks, and the values that live over them
}

const (
	maxPasses = 12
	// A word of a set looked at is a unit of work, and so is a value.
	workFixed = 1 << 12
	workInstr = 24
)

// run analyses a function with the given edits, first to last. Without a result
// it was not possible.
func (l *liveness) run(f *flow, edits []edit) bool {
	l.flow = f
	if !l.prepare() {
		return false
	}
	for range maxPasses {
		l.edits = edits
		l.pass()
		if l.budget < 0 {
			return false
		}
		if l.sound {
			return true
		}
	}
	return false
}

// prepare numbers the locals and loops.
func (l *liveness) prepare() bool {
	l.budget = workFixed + workInstr*len(l.code.List)
	for _, x := range l.used { // by the function before
		l.number[x] = 0
	}
	if len(l.number) < l.locals {
		l.number = make([]int32, 2*l.locals)
	}
	l.used, l.backs = l.used[:0], l.backs[:0]
	for i := range l.code.List {
		if in := &l.code.List[i]; local(in.Op) && l.number[in.A] == 0 {
			l.used = append(l.used, in.A)
			l.number[in.A] = int32(len(l.used))
		}
	}
	l.words = (len(l.used) + 63) / 64
	l.loopOf = slices.Grow(l.loopOf[:0], len(l.blocks))[:len(l.blocks)]
	for i := range l.blocks {
		if l.blocks[i].op == wasm.OpLoop {
			l.loopOf[i] = int32(len(l.backs))
			l.backs = append(l.backs, 0)
		}
	}
	l.spend(len(l.backs) * l.words)
	if l.budget < 0 {
		return false
	}
	l.heads = zeroed(l.heads, len(l.backs)*l.words)
	l.live = zeroed(l.live, l.words)
	l.bases = zeroed(l.bases, len(l.used))
	if l.gets == nil {
		l.gets = make([]int32, l.module.globals)
	}
	l.listAssignments()
	l.seen = zeroed(l.seen, len(l.blocks))
	l.visit = 0
	return true
}

// local reports whether an instruction is about a local.
func local(op byte) bool { return op >= wasm.OpLocalGet && op <= wasm.OpLocalTee }

// zeroed is a slice of n zeros, in the room of another.
func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

func (l *liveness) spend(work int) { l.budget -= work }

// pass walks over the function once.
func (l *liveness) pass() {
	l.sound = true
	l.borders, l.carried = 0, 0
	l.labels, l.elses = l.labels[:0], l.elses[:0]
	for i := range l.backs {
		l.backs[i] = 0
	}
	l.recount()
	l.none()
	for i := len(l.code.List) - 1; i >= 0 && l.budget >= 0; i-- {
		in := &l.code.List[i]
		l.step(int32(i), in)
		l.pressure(int32(i))
		l.passEdits(in)
	}
	l.border()
}

// step walks over one instruction, from behind it to before it.
func (l *liveness) step(i int32, in *wasm.Instr) {
	switch op := in.Op; op {
	case wasm.OpLocalGet:
		l.add(l.number[in.A] - 1)
	case wasm.OpLocalSet, wasm.OpLocalTee:
		l.assign(l.number[in.A]-1, i)
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpElse, wasm.OpEnd, wasm.OpBr, wasm.OpBrIf, wasm.OpBrTable,
		wasm.OpReturn, wasm.OpUnreachable:
		l.control(i, in)
		l.borders++
		l.carried += l.n
	default:
		switch {
		case calls(in):
			l.cross()
		case op == wasm.OpGlobalGet:
			l.global(in.A)
		case accesses(op) && l.ref[i] > 0:
			l.access(l.number[l.ref[i]-1] - 1)
		case accesses(op):
			l.access(-1)
		}
	}
}

func (l *liveness) control(i int32, in *wasm.Instr) {
	b := &l.blocks[max(0, l.ref[i])]
	switch in.Op {
	case wasm.OpEnd:
		l.spend(l.words)
		l.labels = append(l.labels, l.live...)
		l.elses = append(l.elses, l.live...)
		if b.start >= 0 && (b.branchedTo || b.op == wasm.OpIf) {
			l.join(b)
		}
	case wasm.OpElse:
		copy(l.of(l.elses, b), l.live)
		l.none()
		l.merge(l.of(l.labels, b), b)
	case wasm.OpIf:
		if b.els < 0 {
			l.merge(l.of(l.labels, b), b)
		} else {
			l.merge(l.of(l.elses, b), nil)
		}
		l.close()
	case wasm.OpLoop:
		l.head(i, l.ref[i])
		l.close()
	case wasm.OpBlock:
		l.close()
	case wasm.OpBr:
		l.none()
		l.branch(l.leadsTo(i))
	case wasm.OpBrIf:
		l.branch(l.ref[i])
	case wasm.OpBrTable:
		l.none()
		l.visit++
		for _, id := range l.tableRefs[in.A : in.A+in.B] {
			if l.seen[id] != l.visit {
				l.seen[id] = l.visit
				l.branch(id)
			}
		}
		l.spend(int(in.B))
	default:
		l.none()
	}
}

// of is the set of an open block.
func (l *liveness) of(sets []uint64, b *block) []uint64 {
	at := int(b.level) * l.words
	return sets[at : at+l.words]
}

// close leaves a block at its beginning.
func (l *liveness) close() {
	l.labels = l.labels[:len(l.labels)-l.words]
	l.elses = l.elses[:len(l.labels)]
}

// leadsTo is the block that a br leads to in the rewritten function.
func (l *liveness) leadsTo(i int32) int32 {
	id := l.ref[i]
	if l.blocks[id].dispatch != nil {
		if j := l.jumpAt(i); j != nil && j.forward {
			return j.to
		}
	}
	return id
}

// branch adds what is live at the target of a branch.
func (l *liveness) branch(id int32) {
	b := &l.blocks[id]
	if b.op != wasm.OpLoop {
		l.merge(l.of(l.labels, b), b)
		return
	}
	k := l.loopOf[id]
	l.backs[k]++
	l.merge(l.heads[int(k)*l.words:int(k+1)*l.words], nil)
}

// head is the beginning of a loop.
func (l *liveness) head(i, id int32) {
	k := l.loopOf[id]
	l.spend(l.words)
	if old := l.heads[int(k)*l.words : int(k+1)*l.words]; !slices.Equal(old, l.live) {
		copy(old, l.live)
		l.sound = false
	}
	if b := &l.blocks[id]; b.branchedTo {
		l.loopHead(b, l.backs[k])
	}
}

// passEdits goes back over the edits of an instruction, and those before it.
func (l *liveness) passEdits(in *wasm.Instr) {
	for n := len(l.edits); n > 0 && int(l.edits[n-1].pos) >= in.Pos; n-- {
		switch e := &l.edits[n-1]; e.kind {
		case editCheck, editGuarded, editIndirect, editTick, editHelp:
			l.cross()
		case editSpin:
			l.tight = true
		case editEnter:
			l.tightLoop()
		}
		l.edits = l.edits[:n-1]
	}
}

func (l *liveness) has(x int32) bool { return l.live[x>>6]&(1<<(x&63)) != 0 }

// none empties the set of live locals.
func (l *liveness) none() {
	l.spend(l.words)
	clear(l.live)
	clear(l.counted)
	l.n, l.fresh = 0, l.fresh[:0]
}

// add is a use of a local.
func (l *liveness) add(x int32) {
	if !l.has(x) {
		l.live[x>>6] |= 1 << (x & 63)
		l.n++
		l.fresh = append(l.fresh, x)
	}
}

// assign is an assignment: before it the local has another value.
func (l *liveness) assign(x, i int32) {
	if l.has(x) {
		l.live[x>>6] &^= 1 << (x & 63)
		l.counted[x>>6] &^= 1 << (x & 63)
		l.n--
	}
	l.assigned(x, i)
}

// merge adds a set. Where it is that behind a block, values that are the same
// there are counted there.
func (l *liveness) merge(set []uint64, behind *block) {
	l.spend(l.words)
	for w, s := range set {
		more := s &^ l.live[w]
		l.live[w] |= more
		for ; more != 0; more &= more - 1 {
			x := int32(w<<6 + bits.TrailingZeros64(more))
			l.spend(1)
			l.n++
			if behind != nil && behind.start >= 0 && !l.assignedIn(x, behind.start, behind.end) {
				l.counted[w] |= more & -more
			} else {
				l.fresh = append(l.fresh, x)
			}
		}
	}
}
