package meter

import (
	"fmt"
	"time"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// What an engine does to compile a function grows faster than the function: with
// the square of its basic blocks, with the values that live over their borders,
// with the nesting of loops and blocks. 20 KB of code take minutes that way. So
// a module is refused where its functions have shapes that no compiler writes,
// or where the time it would take is estimated to be out of proportion to its
// length.
const (
	maxNesting = 4_096  // blocks in blocks; the largest of real modules has 3,289
	maxLoops   = 20_000 // loops in loops times locals; 1,353

	// maxCompile is for any module, maxCompileByte for each byte it has. Real
	// modules of 0.5 to 16 MB are estimated at 0.1 to 1.5 microseconds a byte, and
	// take half of that.
	maxCompile     = 500 * time.Millisecond
	maxCompileByte = 1_400 * time.Nanosecond
)

// The estimate, in nanoseconds, was fitted to modules of each shape and checked
// against real ones; see BENCHMARKS.md.
const (
	nsFunction = 4_000
	nsByte     = 10 // for ten bytes of code
	nsBlock    = 4_000
	nsBlocks   = 20    // for each pair of basic blocks
	nsLive     = 300   // for each value that lives over a border of blocks,
	nsLives    = 100   // more by one for each so many of them,
	nsLiveMost = 2_500 // and no more than this
	nsNesting  = 30
	nsTargets  = 4   // pairs of targets of br_tables in a nanosecond
	nsGlobal   = 300 // for each mutable global at each call
	nsMove     = 500 // for each value that is handed over
	nsType     = 15  // for each type in the module at each function
	nsLocal    = 45  // whether or not it is used
	nsIndirect = 30_000
)

// checkNesting holds the function against the bounds of its shape.
func (f *function) checkNesting() error {
	deepest := int32(0)
	for i := range f.blocks {
		if b := &f.blocks[i]; b.level > maxNesting {
			return fmt.Errorf("blocks nested %d deep, %d allowed", b.level, maxNesting)
		}
		deepest = max(deepest, f.blocks[i].loops)
	}
	if int(deepest)*f.locals > maxLoops {
		return fmt.Errorf("loops %d deep with %d locals: their product is over %d", deepest, f.locals, maxLoops)
	}
	return nil
}

// compileTime estimates how long an engine takes to compile the function with
// the given edits, in nanoseconds, where so many values live over so many borders
// of blocks.
func (f *function) compileTime(edits []edit, live, borders int) float64 {
	blocks, calls, indirect, nesting := float64(len(f.blocks)), 0.0, 0.0, 0.0
	moves := width(f.typ()) // values that are handed over
	for i := range f.code.List {
		switch in := &f.code.List[i]; in.Op {
		case wasm.OpCall, wasm.OpCallIndirect:
			if calls++; in.Op == wasm.OpCallIndirect {
				indirect++
			}
			moves += width(f.module.calleeType(in))
		case wasm.OpBrIf:
			blocks++
			moves += int(f.blocks[f.ref[i]].takes())
		case wasm.OpBr:
			moves += int(f.blocks[f.ref[i]].takes())
		case wasm.OpBrTable:
			blocks++
			for _, id := range f.targets(in) {
				moves += int(f.blocks[id].takes())
			}
		}
	}
	for i := range edits {
		switch edits[i].kind {
		case editCheck, editGuarded, editIndirect, editSpin:
			blocks++
			calls++
		}
	}
	for i := range f.blocks {
		nesting = max(nesting, float64(f.blocks[i].level))
		moves += int(f.blocks[i].params + f.blocks[i].results)
	}
	body := f.module.Bodies[f.index]
	size, targets := float64(body.Stop-body.Code), float64(len(f.code.Targets))
	lives := float64(live) * max(1, blocks/max(1, float64(borders)))
	return nsFunction + nsByte*size/10 + nsLocal*float64(f.locals) + nsIndirect*indirect + nsBlock*blocks +
		nsBlocks*blocks*blocks +
		lives*min(nsLive+lives/nsLives, nsLiveMost) + nsNesting*nesting*nesting + targets*targets/nsTargets +
		calls*nsGlobal*float64(f.module.mutable) + nsMove*float64(moves)
}

// compileTime adds up what all functions take, in nanoseconds, and notes the one
// that takes longest. It adds up their memory, too, and notes the function that takes
// most of it meanwhile.
type compileTime struct {
	total, longest  float64
	worst, largest  uint32
	memory, scratch int
}

func (c *compileTime) add(index uint32, took float64, memory, scratch int) {
	if scratch > c.scratch {
		c.scratch, c.largest = scratch, index
	}
	c.memory += memory
	c.total += took
	if took > c.longest {
		c.longest, c.worst = took, index
	}
}

// check refuses a module that takes too long to compile, or too much memory.
func (c *compileTime) check(m *module) error {
	c.total += nsType * float64(len(m.Types)) * float64(len(m.Bodies))
	for i := range m.Types {
		c.total += nsMove * float64(width(&m.Types[i])) // a way in from outside, for each
	}
	limit := maxCompile + time.Duration(len(m.bytes))*maxCompileByte
	if most := maxMemory + len(m.bytes)*maxMemoryByte; c.memory > most {
		return fmt.Errorf("it would take too much memory to compile: about %d MiB, %d allowed for its length",
			c.memory>>20, most>>20)
	}
	if c.scratch > MaxScratch {
		return fmt.Errorf("it would take too much memory to compile: about %d MiB for function %d, %d allowed",
			c.scratch>>20, c.largest, MaxScratch>>20)
	}
	if c.total <= float64(limit) {
		return nil
	}
	ms := func(ns float64) time.Duration { return time.Duration(ns).Round(time.Millisecond) }
	return fmt.Errorf("it would take too long to compile: about %v, %v allowed for its length; function %d alone %v",
		ms(c.total), limit.Round(time.Millisecond), c.worst, ms(c.longest))
}
