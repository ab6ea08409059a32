package meter_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// carrier writes a function that carries n values, on the stack of operands and in
// locals, over blocks, branches and calls, for ever: each way to the next block may
// have to move all of them, while the instruction that goes there is one.
type carrier struct {
	*rand.Rand
	n       int // values on the stack of operands, all through
	locals  int
	globals int
	b       []byte
	left    int // steps that may still be written
}

// The types of a carrier's module, and its functions: run, then those that hand
// over the results of the next, the last of which makes them.
const (
	carryNothing = iota // () -> ()
	carryBlock          // n -> n
	carryResults        // () -> n
	carryIn             // n -> ()
	chainLength  = 20
)

func (c *carrier) op(code ...byte) { c.b = append(c.b, code...) }

func (c *carrier) index(op byte, i int) { c.b = wasm.AppendU32(append(c.b, op), uint32(i)) }

// cond leaves a condition that the engine does not know: mostly 0.
func (c *carrier) cond() { c.op(wasm.OpI32Const, 0, 0x2d, 0, 0) }

// shift makes each value on the stack the next one, where there is a branch.
func (c *carrier) shift() { c.op(wasm.OpI32Const, 1) }

func (c *carrier) steps(depth int) {
	for range 1 + c.IntN(6) {
		if c.left--; c.left < 0 {
			return
		}
		c.step(depth)
	}
}

func (c *carrier) step(depth int) {
	pick := c.IntN(14)
	if depth > 6 {
		pick = []int{1, 5, 6, 7, 8, 9, 12, 13}[c.IntN(8)]
	}
	switch pick {
	case 0: // a way out that shifts, and one that does not
		c.op(wasm.OpBlock, carryBlock)
		c.steps(depth + 1)
		c.shift()
		c.cond()
		c.op(wasm.OpBrIf, 0, wasm.OpDrop, wasm.OpEnd)
	case 1:
		c.op(wasm.OpBlock, carryBlock)
		c.shift()
		c.cond()
		c.op(wasm.OpBrIf, 0, wasm.OpDrop, wasm.OpEnd)
	case 2:
		c.cond()
		c.op(wasm.OpIf, carryBlock)
		c.steps(depth + 1)
		c.shift()
		c.op(wasm.OpBr, 0, wasm.OpElse)
		c.steps(depth + 1)
		c.op(wasm.OpEnd)
	case 3:
		c.op(wasm.OpLoop, carryBlock)
		c.steps(depth + 1)
		c.shift()
		c.cond()
		c.op(wasm.OpBrIf, 0, wasm.OpDrop, wasm.OpEnd)
	case 4:
		k := 1 + c.IntN(5)
		for range k {
			c.op(wasm.OpBlock, carryBlock)
		}
		c.shift()
		c.cond()
		c.index(wasm.OpBrTable, k)
		for i := range k + 1 {
			c.op(byte(i % k))
		}
		c.op(wasm.OpEnd)
		for range k - 1 {
			c.step(7)
			c.op(wasm.OpEnd)
		}
	case 5: // results from far
		for range c.n {
			c.op(wasm.OpDrop)
		}
		c.index(wasm.OpCall, 1+c.IntN(chainLength))
	case 6: // locals that change on one way
		c.cond()
		c.op(wasm.OpIf, 0x40)
		c.turn()
		c.op(wasm.OpEnd)
	case 7:
		c.turn()
	case 8: // much on one way, behind a check
		c.cond()
		c.op(wasm.OpIf, 0x40)
		c.turn()
		for range 2_600 {
			c.op(wasm.OpI32Const, 0, 0x28, 0, 0, wasm.OpDrop)
		}
		c.op(wasm.OpEnd)
	case 9:
		c.index(wasm.OpCall, chainLength+1)
	case 10:
		c.op(wasm.OpI32Const, 0)
		c.op(wasm.OpCallIndirect, carryNothing, 0)
	case 12: // globals, which a call may change
		c.globalsTurn()
	case 13:
		c.cond()
		c.op(wasm.OpIf, 0x40)
		c.globalsTurn()
		c.op(wasm.OpEnd)
	case 11:
		c.op(wasm.OpLoop, 0x40)
		c.turn()
		c.cond()
		c.op(wasm.OpBrIf, 0, wasm.OpEnd)
	}
}

// turn makes some locals the next ones.
func (c *carrier) turn() {
	if c.locals == 0 {
		return
	}
	k := min(c.locals, 1<<c.IntN(13))
	for i := range k {
		c.index(wasm.OpLocalGet, (i+1)%c.locals)
		c.index(wasm.OpLocalSet, i)
	}
}

// globalsTurn makes some globals the next ones.
func (c *carrier) globalsTurn() {
	if c.globals == 0 {
		return
	}
	for i := range min(c.globals, 1<<c.IntN(11)) {
		c.index(wasm.OpGlobalGet, (i+1)%c.globals)
		c.index(wasm.OpGlobalSet, i)
	}
}

// carry is the module of a carrier.
func carry(seed uint64) (module []byte, what string) {
	r := rand.New(rand.NewPCG(seed, 4))
	c := &carrier{Rand: r, n: []int{0, 1, 8, 60, 400, 1_000}[r.IntN(6)],
		locals: []int{0, 10, 100, 1_000, 3_000}[r.IntN(5)], globals: []int{0, 3, 100, 1_000}[r.IntN(4)], left: 1 + r.IntN(30)}
	if r.IntN(2) == 0 { // only a few, without anything between
		c.left = 1 + r.IntN(3)
	}
	c.run(func() { c.steps(0) })
	what = fmt.Sprintf("seed %d: %d values, %d locals, %d globals, %d bytes", seed, c.n, c.locals, c.globals, len(c.b))
	return c.module(), what
}

// run writes the function, which does its work for ever and shifts its values.
func (c *carrier) run(work func()) {
	for range c.n {
		c.op(wasm.OpI32Const, 7)
	}
	c.op(wasm.OpLoop, carryIn)
	work()
	c.shift()
	c.op(wasm.OpBr, 0, wasm.OpEnd, wasm.OpEnd)
}

func (c *carrier) module() []byte {
	values := append(wasm.AppendU32(nil, uint32(c.n)), slices.Repeat([]byte{byte(wasm.I32)}, c.n)...)
	run := wasm.AppendU32([]byte{1}, uint32(c.locals))
	run = append(append(run, byte(wasm.I32)), c.b...)
	bodies := [][]byte{append(wasm.AppendU32(nil, uint32(len(run))), run...)}
	funcs := []byte{carryNothing}
	for i := range chainLength {
		code := idx(wasm.OpCall, i+2)
		if i == chainLength-1 {
			code = slices.Repeat([]byte{wasm.OpI32Const, 9}, c.n)
		}
		bodies, funcs = append(bodies, function(code)), append(funcs, carryResults)
	}
	bodies, funcs = append(bodies, function()), append(funcs, carryNothing)
	return sections{
		wasm.SectionType: vector([]byte{0x60, 0, 0}, slices.Concat([]byte{0x60}, values, values),
			slices.Concat([]byte{0x60, 0}, values),
			slices.Concat([]byte{0x60}, values, []byte{0})),
		wasm.SectionFunction: append(wasm.AppendU32(nil, uint32(len(funcs))), funcs...),
		wasm.SectionTable:    {1, byte(wasm.FuncRefT), 0, 4},
		wasm.SectionMemory:   {1, 0, 1},
		wasm.SectionGlobal: vector(slices.Repeat([][]byte{{byte(wasm.I32), 1, wasm.OpI32Const, 0, wasm.OpEnd}},
			c.globals)...),
		wasm.SectionExport:  vector(append(wasm.AppendName(nil, "run"), wasm.KindFunc, 0)),
		wasm.SectionElement: {1, 0, wasm.OpI32Const, 0, wasm.OpEnd, 1, chainLength + 1},
		wasm.SectionCode:    vector(bodies...),
	}.bytes()
}

// timePerFuel runs an endless module for so much fuel and returns how much processor
// time each unit took, in nanoseconds; less than 0 where it is refused or traps.
func timePerFuel(t *testing.T, module []byte, fuel int64) float64 {
	rewritten, _, err := rewrite(module)
	if err != nil {
		return -1
	}
	h := &host{quantum: 100_000}
	h.maxTicks = max(1, int(fuel)/int(h.quantum))
	r := engines[0].runtime(t)
	defer r.Close(t.Context())
	h.instantiate(t, r)
	m, err := r.Instantiate(t.Context(), rewritten)
	if err != nil {
		t.Error(err)
		return -1
	}
	h.start(m)
	var got outcome
	took, _ := cost.Of(func() { got = call(t.Context(), m.ExportedFunction("run")) })
	if got.trap != errStopped.Error() {
		return -1
	}
	return float64(took) / float64(h.handed)
}

// maxTimePerFuel is how long a unit of fuel may last, in nanoseconds: 15 times what it
// lasts in a loop that loads numbers and hands nothing over.
func maxTimePerFuel(t *testing.T) float64 {
	if cost.Raced {
		t.Skip("the race detector slows the host down, and not the machine code that it is held against")
	}
	c := &carrier{}
	c.run(func() { c.op(slices.Repeat([]byte{wasm.OpI32Const, 0, 0x28, 0, 0, wasm.OpDrop}, 100)...) })
	plain := timePerFuel(t, c.module(), 1_000_000)
	for range 4 {
		plain = min(plain, timePerFuel(t, c.module(), 1_000_000))
	}
	if plain <= 0 {
		t.Fatal("plain code does not run")
	}
	return 15 * plain
}

// TestMovesAreCharged: what the engine does to hand values over is charged, where the
// instruction that goes there is one.
func TestMovesAreCharged(t *testing.T) {
	most := maxTimePerFuel(t)
	for _, tc := range []struct {
		name      string
		n, locals int
		work      func(c *carrier)
	}{
		{"parameters of a loop that shift by one", 1_000, 0, func(*carrier) {}},
		{"results of a block", 1_000, 0, func(c *carrier) {
			for range 10 {
				c.op(wasm.OpBlock, carryBlock)
				c.shift()
				c.cond()
				c.op(wasm.OpBrIf, 0, wasm.OpDrop, wasm.OpEnd)
			}
		}},
		{"a branch table", 1_000, 0, func(c *carrier) {
			c.op(wasm.OpBlock, carryBlock, wasm.OpBlock, carryBlock)
			c.shift()
			c.cond()
			c.op(wasm.OpBrTable, 1, 0, 1, wasm.OpEnd, wasm.OpEnd)
		}},
		{"results that are passed on", 1_000, 0, func(c *carrier) {
			c.op(slices.Repeat([]byte{wasm.OpDrop}, 1_000)...)
			c.index(wasm.OpCall, 1)
		}},
		{"locals that change on one way, behind a check", 0, 1_000, func(c *carrier) {
			for range 5 {
				c.cond()
				c.op(wasm.OpIf, 0x40, wasm.OpI32Const, 0, wasm.OpCallIndirect, carryNothing, 0)
				for i := range c.locals {
					c.index(wasm.OpLocalGet, (i+1)%c.locals)
					c.index(wasm.OpLocalSet, i)
				}
				c.op(wasm.OpEnd)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &carrier{n: tc.n, locals: tc.locals}
			c.run(func() { tc.work(c) })
			took := timePerFuel(t, c.module(), 1_000_000)
			for range 3 {
				if took > most { // or it was the machine
					took = min(took, timePerFuel(t, c.module(), 1_000_000))
				}
			}
			if took < 0 || took > most {
				t.Errorf("%.2f ns for a unit of fuel, %.2f allowed", took, most)
			}
		})
	}
}

// TestTimePerFuel: no unit of fuel buys much more time than another. It prints the
// worst of all shapes that were tried.
func TestTimePerFuel(t *testing.T) {
	soak.Only(t, "it compiles and runs hundreds of large functions")
	type result struct {
		what string
		took float64
	}
	var all []result
	most := maxTimePerFuel(t)
	refused := 0
	for seed := range uint64(soak.Count(0, 100, 1_500)) {
		module, what := carry(seed)
		took := timePerFuel(t, module, 200_000)
		for range 4 {
			if took > most { // or it was the machine
				took = min(took, timePerFuel(t, module, 2_000_000))
			}
		}
		if took < 0 {
			refused++
			continue
		}
		if took > most {
			t.Errorf("%s: %.1f ns for a unit of fuel, %.2f allowed", what, took, most)
		}
		all = append(all, result{what, took})
	}
	slices.SortFunc(all, func(a, b result) int { return cmp.Compare(b.took, a.took) })
	for _, r := range all[:min(10, len(all))] {
		t.Logf("%6.2f ns: %s", r.took, r.what)
	}
	t.Logf("%d ran, the median takes %.2f ns; %d were refused", len(all), all[len(all)/2].took, refused)
}
