package meter

import "math/bits"

// places counts the values of locals that get a place in the frame. The engine
// gives one to each value that it cannot keep in a register all the time:
//
//   - those that live across a call: a call may change nearly all registers,
//     and checkpoints are calls;
//   - those that live where ways meet on which locals were assigned: the engine
//     makes a new value of each, and moves others out of the way;
//   - all, while more live than there are registers; then also what it keeps
//     between calls and joins by itself: where the memory is, how long it is,
//     globals, and addresses that were checked.
//
// It is told what lives from the end of the function to its beginning.
type places struct {
	bytes   int
	counted []uint64 // of the live ones
	fresh   []int32  // those that are not, among others
	// Where a local is assigned next, and by local where it was before.
	next   []int32
	before []int32 // instructions
	first  []int32 // by local, its first in before
	at     []int32 // by local, behind the last that is still ahead of the walk

	// What the engine keeps by itself in the segment that the walk is in, up to
	// the next call or join: the memory, globals, and addresses.
	segment   int32
	bases     []int32 // by local, the last segment in which it is an address
	globals   map[uint32]int32
	addresses int // that are ahead
	cached    int // all that was or is kept in the segment
	memory    bool
	tight     bool // the loop whose head is next has a local of its own for the fuel
	high      bool
	most      int // that ever were in registers
}

const (
	// registers are those that values can be in at once: amd64 has 14, two of
	// which always have the same, and an instruction needs some for itself.
	registers = 12
	scratch   = 4
	// saved is from how many values on a function uses registers that it has to
	// save.
	saved = 8
	never = 1<<31 - 1
)

func (p *places) keep(n int) { p.bytes += n * frameValue }

func (p *places) reset(l *liveness) {
	p.bytes, p.high, p.most = 0, false, 0
	p.segment, p.cached, p.addresses, p.memory = 1, 0, 0, false
	p.bases = zeroed(p.bases, len(l.used))
	p.globals = make(map[uint32]int32)
	p.counted = zeroed(p.counted, l.words)
	p.fresh = p.fresh[:0]
	p.next = zeroed(p.next, len(l.used))
	for x := range p.next {
		p.next[x] = never
	}
	p.at = append(p.at[:0], p.first[1:]...)
	p.tight = false
}

// list sorts the assignments by local.
func (p *places) list(l *liveness) {
	p.first = zeroed(p.first, len(l.used)+1)
	n := int32(0)
	for i := range l.code.List {
		if in := &l.code.List[i]; assigns(in.Op) {
			p.first[l.number[in.A]]++
			n++
		}
	}
	for x := range l.used {
		p.first[x+1] += p.first[x]
	}
	p.at = append(p.at[:0], p.first[:len(l.used)]...)
	p.before = zeroed(p.before, int(n))
	for i := range l.code.List {
		if in := &l.code.List[i]; assigns(in.Op) {
			x := l.number[in.A] - 1
			p.before[p.at[x]] = int32(i)
			p.at[x]++
		}
	}
}

// assigned walks over an assignment.
func (p *places) assigned(x, i int32) {
	p.next[x] = i
	p.at[x]--
	if p.bases[x] == p.segment {
		p.cached++ // the address of the value before
	}
}

// access is an access to memory at an address out of a local, or another where
// x is negative.
func (p *places) access(x int32) {
	if !p.memory {
		p.memory = true
		p.cached += hidden
		p.addresses += hidden
	}
	if x >= 0 && p.bases[x] != p.segment {
		p.bases[x] = p.segment
		p.cached++
		p.addresses++
	}
}

// global is a use of a global, which may be an address.
func (p *places) global(index uint32) {
	if p.globals[index] != p.segment {
		p.globals[index] = p.segment
		p.addresses += 2
	}
	p.cached += 2
}

// assignedIn reports whether a local is assigned between two instructions
// around the one that the walk is at.
func (p *places) assignedIn(x, from, to int32) bool {
	return p.next[x] < to || p.at[x] > p.first[x] && p.before[p.at[x]-1] > from
}

// cross is a call, or whatever else needs places for all that lives.
func (p *places) cross(l *liveness) {
	p.all(l)
	p.border()
}

// all counts all live values that are not yet.
func (p *places) all(l *liveness) {
	for _, x := range p.fresh {
		if w, bit := x>>6, uint64(1)<<(x&63); l.live[w]&^p.counted[w]&bit != 0 {
			p.counted[w] |= bit
			p.keep(1)
		}
	}
	p.fresh = p.fresh[:0]
}

// changed is how many live locals are assigned between two instructions.
func (p *places) changed(l *liveness, from, to int32) int {
	l.spend(l.words + l.n)
	n := 0
	for w, s := range l.live {
		for ; s != 0; s &= s - 1 {
			if p.assignedIn(int32(w<<6+bits.TrailingZeros64(s)), from, to) {
				n++
			}
		}
	}
	return n
}

// renew goes on with other values of the locals that were assigned between two
// instructions.
func (p *places) renew(l *liveness, from, to int32) {
	l.spend(l.words + l.n)
	for w, s := range l.live {
		for ; s != 0; s &= s - 1 {
			x := int32(w<<6 + bits.TrailingZeros64(s))
			if p.assignedIn(x, from, to) {
				p.counted[w] &^= s & -s
				p.fresh = append(p.fresh, x)
			}
		}
	}
}

// join is the end of a block where ways meet.
func (p *places) join(l *liveness, b *block) {
	n := p.changed(l, b.start, b.end) + int(b.results)
	if l.n+int(b.results) > 1 && (n > 0 || b.disturbed) {
		p.all(l)
	}
	p.renew(l, b.start, b.end)
	p.border()
}

// loopHead is the head of a loop. A jump back needs places beside, where one
// value becomes another's.
func (p *places) loopHead(l *liveness, b *block, backs int) {
	n := p.changed(l, b.start, b.end) + int(b.params)
	if l.n+int(b.params) > 1 && (n > 0 || b.disturbed) {
		p.all(l)
	}
	p.renew(l, b.start, b.end)
	p.border()
	if p.tight {
		p.tight = false
		n++
	}
	if n > 1 {
		p.keep(n * backs)
	}
}

// tightLoop is the loop that is added around a tight one, with the same values,
// and its local.
func (p *places) tightLoop(l *liveness) {
	p.keep(2*l.n + 6)
	p.cross(l)
}

// pressure holds what is in registers at an instruction against their number.
func (p *places) pressure(l *liveness, i int32) {
	n := l.n + int(l.height[i]) + p.addresses + scratch
	p.most = max(p.most, n)
	if n > registers {
		p.high = true
		p.all(l)
	}
}

// border is where the engine begins anew to keep values by itself.
func (p *places) border() {
	if p.high {
		p.keep(p.cached)
	}
	p.segment++
	p.cached, p.addresses, p.memory, p.high = 0, 0, false, false
}
