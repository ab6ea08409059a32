package meter

import (
	"math"
	"math/bits"
)

// places counts the values of locals that get a place in the frame. The engine
// gives one to each value that it cannot keep in a register all the time:
//
//   - those that live across a call: a call may change nearly all registers,
//     and checkpoints are calls;
//   - those that live where ways meet on which locals were assigned: the engine
//     makes a new value of each, and moves others out of the way;
//   - all, while more live than there are registers.
//
// It is told what lives from the end of the function to its beginning.
type places struct {
	bytes   int
	counted []uint64 // of the live ones
	fresh   []int32  // those that are not, among others
	// Assignments to each local: the next one behind where the walk is; all of
	// them, by local; where those of a local begin in before; and up to where
	// they are still ahead of the walk, which goes back.
	next, before, first, at []int32
	tight                   bool // the loop whose head is next has a local of its own for the fuel
	registers
}

// never is an instruction that does not come.
const never = math.MaxInt32

// keep counts values that get a place.
func (l *liveness) keep(n int) { l.bytes += n * frameValue }

// recount begins anew, at the end of the function.
func (l *liveness) recount() {
	l.bytes, l.most, l.tight = 0, 0, false
	l.high = false
	l.border()
	l.counted = zeroed(l.counted, l.words)
	l.fresh = l.fresh[:0]
	l.next = zeroed(l.next, len(l.used))
	for x := range l.next {
		l.next[x] = never
	}
	l.at = append(l.at[:0], l.first[1:]...)
}

// listAssignments sorts the assignments by local.
func (l *liveness) listAssignments() {
	l.first = zeroed(l.first, len(l.used)+1)
	n := int32(0)
	for i := range l.code.List {
		if in := &l.code.List[i]; assigns(in.Op) {
			l.first[l.number[in.A]]++
			n++
		}
	}
	for x := range l.used {
		l.first[x+1] += l.first[x]
	}
	l.at = append(l.at[:0], l.first[:len(l.used)]...)
	l.before = zeroed(l.before, int(n))
	for i := range l.code.List {
		if in := &l.code.List[i]; assigns(in.Op) {
			x := l.number[in.A] - 1
			l.before[l.at[x]] = int32(i)
			l.at[x]++
		}
	}
}

// assigned walks over an assignment.
func (l *liveness) assigned(x, i int32) {
	l.next[x] = i
	l.at[x]--
	l.based(x)
}

// assignedIn reports whether a local is assigned between two instructions
// around the one that the walk is at.
func (l *liveness) assignedIn(x, from, to int32) bool {
	return l.next[x] < to || l.at[x] > l.first[x] && l.before[l.at[x]-1] > from
}

// cross is a call, or whatever else needs places for all that lives.
func (l *liveness) cross() {
	l.all()
	l.border()
}

// all counts all live values that are not yet.
func (l *liveness) all() {
	for _, x := range l.fresh {
		if w, bit := x>>6, uint64(1)<<(x&63); l.live[w]&^l.counted[w]&bit != 0 {
			l.counted[w] |= bit
			l.keep(1)
		}
	}
	l.fresh = l.fresh[:0]
}

// changed is how many live locals are assigned between two instructions.
func (l *liveness) changed(from, to int32) int {
	l.spend(l.words + l.n)
	n := 0
	for w, s := range l.live {
		for ; s != 0; s &= s - 1 {
			if l.assignedIn(int32(w<<6+bits.TrailingZeros64(s)), from, to) {
				n++
			}
		}
	}
	return n
}

// renew goes on with other values of the locals that were assigned between two
// instructions.
func (l *liveness) renew(from, to int32) {
	l.spend(l.words + l.n)
	for w, s := range l.live {
		for ; s != 0; s &= s - 1 {
			x := int32(w<<6 + bits.TrailingZeros64(s))
			if l.assignedIn(x, from, to) {
				l.counted[w] &^= s & -s
				l.fresh = append(l.fresh, x)
			}
		}
	}
}

// join is the end of a block where ways meet.
func (l *liveness) join(b *block) {
	n := l.changed(b.start, b.end) + int(b.results)
	if l.n+int(b.results) > 1 && (n > 0 || b.disturbed) {
		l.all()
	}
	l.renew(b.start, b.end)
	l.border()
}

// loopHead is the head of a loop. A jump back needs places beside, where one
// value becomes another's.
func (l *liveness) loopHead(b *block, backs int) {
	n := l.changed(b.start, b.end) + int(b.params)
	if l.n+int(b.params) > 1 && (n > 0 || b.disturbed) {
		l.all()
	}
	l.renew(b.start, b.end)
	l.border()
	if l.tight {
		l.tight = false
		n++
	}
	if n > 1 {
		l.keep(n * backs)
	}
}

// tightLoop is the loop that is added around a tight one, with the same values,
// and its local.
func (l *liveness) tightLoop() {
	l.keep(2*l.n + 6)
	l.cross()
}
