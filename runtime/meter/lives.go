package meter

import (
	"sort"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// lives estimates how many values an engine has to carry over the borders of
// basic blocks: for each local, the borders between where it is assigned and
// where it is used. Code that was not optimized has thousands of locals that
// live for an instruction; locals that live from end to end are what takes
// minutes to compile.
type lives struct {
	flow    *flow
	borders int32 // so far
	locals  []span
	open    []int32 // blocks, the function left out
	loops   []int32 // of these, the loops
	start   []int32 // the borders before each block
	end     []int32 // and before its end
}

// span is where a local lives.
type span struct {
	set      int32 // the borders before its last assignment
	in       int32 // the block that is in, -1 where that is the function
	els      int32 // of that block, then
	from, to int32 // the borders it lives over; none where from is not less
	loop     int32 // a loop at whose end it still lives, -1 where there is none
}

// count returns the estimate and the number of borders.
func (l *lives) count(f *flow) (values, borders int) {
	l.flow, l.borders = f, 0
	l.open, l.loops = l.open[:0], l.loops[:0]
	l.locals = append(l.locals[:0], make([]span, f.locals)...)
	l.start = append(l.start[:0], make([]int32, len(f.blocks))...)
	l.end = append(l.end[:0], make([]int32, len(f.blocks))...)
	for i := range l.locals {
		l.locals[i] = span{in: -1, loop: -1}
	}
	for i := range f.code.List {
		l.step(i, &f.code.List[i])
	}
	for i := range l.locals {
		s := &l.locals[i]
		if s.loop >= 0 {
			s.cover(s.from, l.end[s.loop])
		}
		values += int(max(0, s.to-s.from))
	}
	return values, int(l.borders)
}

func (l *lives) step(i int, in *wasm.Instr) {
	switch in.Op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
		id := l.flow.ref[i]
		l.start[id] = l.borders
		l.open = append(l.open, id)
		if in.Op == wasm.OpLoop {
			l.loops = append(l.loops, id)
		}
		l.borders++
	case wasm.OpElse, wasm.OpBrIf, wasm.OpBr, wasm.OpBrTable:
		l.borders++
	case wasm.OpEnd:
		if len(l.open) == 0 {
			return
		}
		id := l.open[len(l.open)-1]
		l.open = l.open[:len(l.open)-1]
		if n := len(l.loops); n > 0 && l.loops[n-1] == id {
			l.loops = l.loops[:n-1]
		}
		l.end[id] = l.borders
		l.borders++
	case wasm.OpLocalGet:
		l.use(&l.locals[in.A], i)
	case wasm.OpLocalSet, wasm.OpLocalTee:
		s := &l.locals[in.A]
		s.set, s.in, s.els = l.borders, -1, -1
		if n := len(l.open); n > 0 {
			s.in = l.open[n-1]
			if b := &l.flow.blocks[s.in]; b.els >= 0 && b.els < int32(i) {
				s.els = b.els
			}
		}
	}
}

// use is a use of a local. Where its last assignment is on every way there, it
// lives from then on; else from the beginning. In a loop that begins after that
// it lives to the end of the loop.
func (l *lives) use(s *span, at int) {
	from := s.set
	if s.in >= 0 {
		b := &l.flow.blocks[s.in]
		switched := b.els > s.els && b.els < int32(at)
		if b.end < int32(at) || switched {
			from = 0
		}
	}
	k := sort.Search(len(l.loops), func(k int) bool { return l.start[l.loops[k]] >= from })
	if k < len(l.loops) && (s.loop < 0 || l.start[l.loops[k]] < l.start[s.loop] || l.end[s.loop] > 0) {
		if s.loop >= 0 && l.end[s.loop] > 0 {
			s.cover(from, l.end[s.loop])
		}
		s.loop = l.loops[k]
	}
	s.cover(from, l.borders)
}

func (s *span) cover(from, to int32) {
	if s.from >= s.to {
		s.from, s.to = from, to
		return
	}
	s.from, s.to = min(s.from, from), max(s.to, to)
}
