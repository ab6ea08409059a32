package meter_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// weigh is the weight of code, each instruction once.
func weigh(code ...[]byte) int64 {
	all := slices.Concat(code...)
	var c wasm.Code
	if err := c.Decode(all, wasm.Body{Stop: len(all)}); err != nil {
		panic(err)
	}
	n := int64(0)
	for i := range c.List {
		n += int64(meter.CostOf(&c.List[i]))
	}
	return n
}

// TestCharged: what runs is charged, no less and less than twice. Each body runs
// a thousand times, so that little things add up.
func TestCharged(t *testing.T) {
	const turns = 1_000
	set, get, load := idx(wasm.OpLocalSet, 1), idx(wasm.OpLocalGet, 1), []byte{wasm.OpI32Const, 0, 0x28, 0, 0, wasm.OpDrop}
	work := slices.Repeat(load, 20)
	one, end := []byte{wasm.OpI32Const, 1}, []byte{wasm.OpEnd}
	block, loop := []byte{wasm.OpBlock, 0x40}, []byte{wasm.OpLoop, 0x40}
	indirect := []byte{wasm.OpI32Const, 0, wasm.OpCallIndirect, 0, 0}
	head := slices.Concat(get, []byte{wasm.OpBrTable, 1, 0, 1})
	to := func(k byte) []byte { return slices.Concat([]byte{wasm.OpI32Const, k}, set) }
	for _, c := range []struct {
		why    string
		body   [][]byte
		weight int64 // of the body
	}{
		{"plain", [][]byte{work}, weigh(work)},
		{"a call of a leaf", [][]byte{idx(wasm.OpCall, 1)}, weigh(idx(wasm.OpCall, 1), work)},
		{"a call through a table", [][]byte{indirect}, weigh(indirect, work)},
		{"the heavier way of two", [][]byte{one, {wasm.OpIf, 0x40}, load, {wasm.OpElse}, end},
			weigh(one, []byte{wasm.OpIf, 0x40}, load)},
		{"the second way of two", [][]byte{{wasm.OpI32Const, 0, wasm.OpIf, 0x40}, {wasm.OpElse}, work, end},
			weigh(one, []byte{wasm.OpIf, 0x40}, work)},
		{"a branch out", [][]byte{block, work, {wasm.OpBr, 0}, work, end}, weigh(work, []byte{wasm.OpBr, 0})},
		{"a branch that is not taken", [][]byte{block, {wasm.OpI32Const, 0, wasm.OpBrIf, 0}, work, end},
			weigh([]byte{wasm.OpI32Const, 0, wasm.OpBrIf, 0}, work)},
		{"a jump forward", [][]byte{to(0), loop, block, block, head, end, work, to(1), {wasm.OpBr, 1}, end, work, end},
			weigh(to(0), head, work, to(1), []byte{wasm.OpBr, 1}, work)},
		{"a jump back", [][]byte{to(1), block, loop, block, block, head, end, work, {wasm.OpBr, 2}, end, load, to(0),
			{wasm.OpBr, 0}, end, end},
			weigh(to(1), head, load, to(0), []byte{wasm.OpBr, 0}, head, work, []byte{wasm.OpBr, 2})},
		{"filling", [][]byte{{wasm.OpI32Const, 0, wasm.OpI32Const, 1, wasm.OpI32Const, 0x80, 0x20, wasm.OpMisc,
			wasm.MiscMemoryFill, 0}},
			weigh(one, one, one, []byte{wasm.OpMisc, wasm.MiscMemoryFill, 0}) + 4096>>meter.BytesShift},
	} {
		t.Run(c.why, func(t *testing.T) {
			tail := slices.Concat(idx(wasm.OpLocalGet, 0), one, []byte{0x6b}, idx(wasm.OpLocalTee, 0), []byte{wasm.OpBrIf, 0})
			code := slices.Concat([]byte{1, 2, byte(wasm.I32)}, wasm.AppendS64([]byte{wasm.OpI32Const}, turns),
				idx(wasm.OpLocalSet, 0),
				loop, slices.Concat(c.body...), tail, end, end)
			module := void(append(wasm.AppendU32(nil, uint32(len(code))), code...), function(work)).with(sections{
				wasm.SectionExport:  vector(append(wasm.AppendName(nil, "run"), wasm.KindFunc, 0)),
				wasm.SectionElement: {1, 0, wasm.OpI32Const, 0, wasm.OpEnd, 1, 1},
			}).bytes()
			r := &runner{engine: engines[0], host: host{quantum: 500}}
			got := r.module(t, mustRewrite(t, module), true)
			if got.refused != nil || got.outcomes[0].trap != "" {
				t.Fatalf("%v %v", got.refused, got.outcomes)
			}
			used, least := got.used[0], turns*(c.weight+weigh(tail))
			if used < least || used > 2*least {
				t.Errorf("%d fuel for a weight of %d", used, least)
			}
		})
	}
}

// TestCopy: ranges are copied and filled as a whole, however they overlap, and
// in as many pieces as there may be.
func TestCopy(t *testing.T) {
	const pages, mega = 80, 1 << 20
	args := slices.Concat(idx(wasm.OpLocalGet, 0), idx(wasm.OpLocalGet, 1), idx(wasm.OpLocalGet, 2))
	module := void(
		function(args, []byte{wasm.OpMisc, wasm.MiscMemoryCopy, 0, 0}),
		function(args, []byte{wasm.OpMisc, wasm.MiscMemoryFill, 0}),
	).with(sections{
		wasm.SectionType:   {1, 0x60, 3, byte(wasm.I32), byte(wasm.I32), byte(wasm.I32), 0},
		wasm.SectionMemory: append([]byte{1, 0}, wasm.AppendU32(nil, pages)...),
		wasm.SectionExport: vector(append(wasm.AppendName(nil, "copy"), wasm.KindFunc, 0),
			append(wasm.AppendName(nil, "fill"), wasm.KindFunc, 1)),
	}).bytes()
	pattern := make([]byte, pages<<16)
	for i := range pattern {
		pattern[i] = byte(i*7 + i>>8*13 + i>>16*31)
	}
	var instances [2]api.Module
	for i, b := range [][]byte{module, mustRewrite(t, module)} {
		t.Run(fmt.Sprintf("rewritten %v", i == 1), func(t *testing.T) {
			r := engines[0].runtime(t)
			h := &host{quantum: 10}
			h.instantiate(t, r)
			m, err := r.Instantiate(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			h.start(m)
			instances[i] = m
		})
	}
	for _, c := range [][3]uint64{
		{0, 1, mega}, {1, 0, mega}, {0, 1, mega + 1}, {1, 0, mega + 1}, {0, 100, 3*mega + 7}, {100, 0, 3*mega + 7},
		{0, mega, 2 * mega}, {mega, 0, 2 * mega},
		{mega + 1, 0, 3 * mega}, {0, mega + 1, 3 * mega}, {5, 5, 2 * mega}, {0, 0, 0}, {pages << 16, 0, 0},
		{pages << 16, 0, 1}, {0, pages << 16, 1},
		{0, 1, pages << 16}, {1, 0, pages << 16}, {0, 0, pages << 16}, {0, 0, 1<<32 - 1}, {1<<32 - 1, 0, 2},
		{0, 1<<32 - 1, 2 * mega}, {2, 3, 4 * mega},
	} {
		t.Run(fmt.Sprintf("to %d, %d, %d bytes", c[0], c[1], c[2]), func(t *testing.T) {
			for _, name := range []string{"copy", "fill"} {
				t.Run(name, func(t *testing.T) {
					var outcomes [2]string
					for i, m := range instances {
						m.Memory().Write(0, pattern)
						outcomes[i] = call(t.Context(), m.ExportedFunction(name), c[:]...).String()
					}
					a, _ := instances[0].Memory().Read(0, pages<<16)
					b, _ := instances[1].Memory().Read(0, pages<<16)
					if outcomes[0] != outcomes[1] || !slices.Equal(a, b) {
						t.Errorf("%s%v: %s as it is, %s rewritten; the same memory: %v", name, c, outcomes[0],
							outcomes[1], slices.Equal(a, b))
					}
				})
			}
		})
	}
}
