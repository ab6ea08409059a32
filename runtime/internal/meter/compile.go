package meter

import (
	"fmt"
	"math"
	"time"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// What an engine does to compile a function grows faster than the function: with
// the square of its basic blocks, with the values that live over their borders,
// with the nesting of loops and blocks. 20 KB of code take minutes that way. So a module is
// refused where its functions have shapes that no compiler writes, or where the
// time it would take is estimated to be out of proportion to its length.
const (
	maxNesting = 4_096  // blocks in blocks; the largest of real modules has 3,289
	maxLoops   = 20_000 // loops in loops times locals; 1,353

	// maxCompile is for any module, maxCompileByte for each byte it has. Real
	// modules of 0.5 to 16 MB are estimated at 0.1 to 1.3 microseconds a byte, and
	// take half of that.
	maxCompile     = 500 * time.Millisecond
	maxCompileByte = 1_400 * time.Nanosecond
)

// The estimate, in nanoseconds, was fitted to modules of each shape and checked
// against real ones; see BENCHMARKS.md.
const (
	costFunction = 4_000
	costByte     = 10 // for ten bytes of code
	costBlock    = 4_000
	costBlocks   = 20    // for each pair of basic blocks
	costLive     = 300   // for each value that lives over a border of blocks,
	costLives    = 100   // more by one for each so many of them,
	costLiveMost = 2_500 // and no more than this
	costNesting  = 30
	costTargets  = 4   // pairs of targets of br_tables in a nanosecond
	costGlobal   = 300 // for each mutable global at each call
	costMove     = 500 // for each value that is handed over
)

// vet holds the function against the bounds.
func (f *flow) vet() error {
	deepest := int32(0)
	loops := make([]int32, len(f.blocks)) // around and with each block
	open := make([]int32, 0, 64)
	for i := range f.blocks {
		b := &f.blocks[i]
		open = append(open[:b.level], int32(i))
		if b.level > maxNesting {
			return fmt.Errorf("blocks nested %d deep, %d allowed", b.level, maxNesting)
		}
		if b.level > 0 {
			loops[i] = loops[open[b.level-1]]
		}
		if b.op == wasm.OpLoop {
			loops[i]++
		}
		deepest = max(deepest, loops[i])
	}
	if int(deepest)*f.locals > maxLoops {
		return fmt.Errorf("loops %d deep with %d locals: their product is over %d", deepest, f.locals, maxLoops)
	}
	return nil
}

// compileTime estimates how long an engine takes to compile the function with
// the given edits, in nanoseconds, where so many values live over so many
// borders of blocks.
func (f *flow) compileTime(index int, edits []edit, values, borders int) float64 {
	blocks, calls := float64(len(f.blocks)), 0.0
	moves := passing(f.module.width(f.module.Funcs[index]))
	for i := range f.code.List {
		in := &f.code.List[i]
		switch in.Op {
		case wasm.OpBrIf, wasm.OpBrTable:
			blocks++
		case wasm.OpCall, wasm.OpCallIndirect:
			calls++
		}
		moves += f.moves(i, in)
	}
	for i := range edits {
		switch edits[i].kind {
		case editCheck, editGuarded, editIndirect, editSpin:
			blocks++
			calls++
		}
	}
	nesting := 0.0
	for i := range f.blocks {
		b := &f.blocks[i]
		nesting = math.Max(nesting, float64(b.level))
		moves += passing(int(b.params + b.results))
	}
	size, targets := 0.0, float64(len(f.code.Targets))
	if n := len(f.code.List); n > 0 {
		size = float64(f.code.List[n-1].End - f.code.List[0].Pos)
	}
	lives := float64(values) * math.Max(1, blocks/math.Max(1, float64(borders)))
	return costFunction + costByte*size/10 + costBlock*blocks + costBlocks*blocks*blocks +
		lives*math.Min(costLive+lives/costLives, costLiveMost) + costNesting*nesting*nesting + targets*targets/costTargets +
		calls*costGlobal*float64(f.module.mutable) + moves
}

// moves is what an instruction costs that hands values over: a call, a branch.
func (f *flow) moves(i int, in *wasm.Instr) float64 {
	switch in.Op {
	case wasm.OpCall:
		return passing(f.module.width(f.module.types[in.A]))
	case wasm.OpCallIndirect:
		return passing(f.module.width(in.A))
	case wasm.OpBr, wasm.OpBrIf:
		return passing(int(f.blocks[f.ref[i]].takes()))
	case wasm.OpBrTable:
		sum := 0.0
		for _, id := range f.tableRefs[in.A : in.A+in.B] {
			sum += passing(int(f.blocks[id].takes()))
		}
		return sum
	}
	return 0
}

// passing is what it costs to hand values over: each is moved.
func passing(values int) float64 { return costMove * float64(values) }

// mayCompile refuses a module that takes too long to compile.
func mayCompile(bytes int, total, most float64, worst uint32) error {
	limit := maxCompile + time.Duration(bytes)*maxCompileByte
	if total <= float64(limit) {
		return nil
	}
	return fmt.Errorf("it would take too long to compile: about %v, %v allowed for its length; function %d alone %v",
		time.Duration(total).Round(time.Millisecond), limit.Round(time.Millisecond), worst, time.Duration(most).Round(time.Millisecond))
}
