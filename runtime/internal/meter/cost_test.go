package meter_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// read parses and rewrites a module, as far as it goes.
func read(module []byte) error {
	m, err := wasm.Parse(module)
	if err == nil {
		_, _, err = meter.Rewrite(module, m, meter.Options{})
	}
	return err
}

// bombs are modules of about n bytes with much of one thing.
func bombs(n int) map[string][]byte {
	list := func(size int, entry func(i int) []byte) []byte {
		b := wasm.AppendU32(nil, uint32(n/size))
		for i := range n / size {
			b = append(b, entry(i)...)
		}
		return b
	}
	one := func(id byte, content []byte) []byte {
		return wasm.AppendSection([]byte("\x00asm\x01\x00\x00\x00"), id, content)
	}
	wide := func(i int) []byte {
		b := wasm.AppendU32([]byte{0x60}, 1_000)
		b = append(b, slices.Repeat([]byte{byte(wasm.I32)}, 1_000)...)
		b[3+i%1000], b[3+i/1000] = byte(wasm.I64), byte(wasm.F32)
		b = wasm.AppendU32(b, 1_000)
		return append(b, slices.Repeat([]byte{byte(wasm.I64)}, 1_000)...)
	}
	zero := []byte{wasm.OpI32Const, 0, wasm.OpEnd}
	name := func(i int) []byte { return wasm.AppendName(nil, fmt.Sprint(i)) }
	customs := []byte("\x00asm\x01\x00\x00\x00")
	for i := 0; len(customs) < n; i++ {
		customs = wasm.AppendSection(customs, wasm.SectionCustom, name(i))
	}
	return map[string][]byte{
		"wide types": one(wasm.SectionType, list(2_005, wide)),
		"types":      one(wasm.SectionType, list(3, func(int) []byte { return []byte{0x60, 0, 0} })),
		"types, each another": one(wasm.SectionType, list(20, func(i int) []byte {
			b := []byte{0x60, 17}
			for bit := range 17 {
				b = append(b, byte(wasm.I32)-byte(i>>bit&1))
			}
			return append(b, 0)
		})),
		"a section of names": wasm.AppendSection(void(function()).bytes(), wasm.SectionCustom,
			slices.Concat(wasm.AppendName(nil, "name"), []byte{1}, wasm.AppendU32(nil, uint32(n)), list(5, func(i int) []byte {
				return append(wasm.AppendU32(nil, uint32(i)), 1, 'a')
			}))),
		"exports": void(function()).with(sections{wasm.SectionExport: list(6, func(i int) []byte {
			return append(name(i), wasm.KindFunc, 0)
		})}).bytes(),
		"globals": void(function()).with(sections{wasm.SectionGlobal: list(5, func(int) []byte {
			return append([]byte{byte(wasm.I32), 1}, zero...)
		})}).bytes(),
		"data": void(function()).with(sections{wasm.SectionData: list(2, func(int) []byte {
			return []byte{1, 0}
		})}).bytes(),
		"active data": void(function()).with(
			sections{wasm.SectionMemory: {1, 0, 1}, wasm.SectionData: list(5, func(int) []byte {
				return slices.Concat([]byte{0}, zero, []byte{0})
			})}).bytes(),
		"segments": void(function()).with(sections{wasm.SectionElement: list(3, func(int) []byte {
			return []byte{1, 0, 0}
		})}).bytes(),
		"elements": void(function()).with(sections{wasm.SectionElement: append([]byte{1, 1, 0}, list(1, func(int) []byte {
			return []byte{0}
		})...)}).bytes(),
		"element expressions": void(function()).with(
			sections{wasm.SectionElement: append([]byte{1, 5, 0x70}, list(3, func(int) []byte {
				return []byte{wasm.OpRefFunc, 0, wasm.OpEnd}
			})...)}).bytes(),
		"tables": one(wasm.SectionTable, list(3, func(int) []byte { return []byte{0x70, 0, 0} })),
		"imports": one(wasm.SectionImport, list(5, func(int) []byte {
			return []byte{0, 0, wasm.KindGlobal, byte(wasm.I32), 0}
		})),
		"custom sections": customs,
		"functions":       void(slices.Repeat([][]byte{function()}, min(n/4, 200_000))...).bytes(),
		"a long function": void(function(slices.Repeat([]byte{wasm.OpNop}, wasm.MaxBody-10))).bytes(),
		"no locals":       void(slices.Repeat([][]byte{manyRuns(100_000)}, n/200_000+1)...).bytes(),
	}
}

// manyRuns is a function with n runs of no locals.
func manyRuns(n int) []byte {
	body := wasm.AppendU32(nil, uint32(n))
	body = append(append(body, slices.Repeat([]byte{0, byte(wasm.I32)}, n)...), wasm.OpEnd)
	return append(wasm.AppendU32(nil, uint32(len(body))), body...)
}

// TestCost: reading and rewriting a module costs no more than in proportion to its
// length, whatever it is.
func TestCost(t *testing.T) {
	n := soak.Count(100_000, 1_000_000, 4_000_000)
	for name, module := range bombs(n) {
		t.Run(name, func(t *testing.T) {
			var err error
			cost.Module.Check(t, name, len(module), func() { err = read(module) })
			t.Logf("%d bytes: %.100v", len(module), err)
		})
	}
	for _, h := range heavy {
		t.Run(h.name, func(t *testing.T) {
			module := h.module(n >> 10).bytes()
			cost.Module.Check(t, h.name, len(module), func() { _ = read(module) })
		})
	}
}

// TestCostSearch looks for others, made of pieces of real modules.
func TestCostSearch(t *testing.T) {
	modules := sorted(seeds(t))
	for seed := range uint64(soak.Count(5, 300, 2_000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		module := inflate(r, modules[r.IntN(len(modules))], 1<<(15+r.IntN(5)))
		cost.Module.Check(t, fmt.Sprintf("seed %d", seed), len(module), func() { _ = read(module) })
	}
}

func sorted(modules map[string][]byte) [][]byte {
	return slices.SortedFunc(maps.Values(modules), slices.Compare)
}

// inflate repeats entries of a module's sections and instructions of its functions up
// to about n bytes.
func inflate(r *rand.Rand, module []byte, n int) []byte {
	m, err := wasm.Parse(module)
	if err != nil || len(m.Sections) == 0 {
		return module
	}
	chosen := r.IntN(len(m.Sections))
	out := slices.Clone(module[:wasm.HeaderBytes])
	for i, s := range m.Sections {
		content := module[s.Body:s.Stop]
		switch {
		case s.ID == wasm.SectionCode && len(m.Bodies) > 0 && r.IntN(2) == 0:
			content = inflateCode(r, module, m, n)
		case i == chosen && s.ID != wasm.SectionCode && len(content) > 1:
			rd := &wasm.Reader{Data: content}
			count := rd.U32()
			rest := content[rd.Pos:]
			times := max(1, n/max(1, len(rest)))
			content = append(wasm.AppendU32(nil, count*uint32(times)), slices.Repeat(rest, times)...)
		}
		if s.ID == wasm.SectionCustom {
			content = append(wasm.AppendName(nil, s.Name), content...)
		}
		out = wasm.AppendSection(out, s.ID, content)
	}
	return out
}

// inflateCode repeats a run of instructions of each function.
func inflateCode(r *rand.Rand, module []byte, m *wasm.Module, n int) []byte {
	out := wasm.AppendU32(nil, uint32(len(m.Bodies)))
	var c wasm.Code
	for _, b := range m.Bodies {
		body := module[b.Start:b.Stop]
		if c.Decode(module, b) == nil && len(c.List) > 1 {
			from := r.IntN(len(c.List) - 1)
			to := from + 1 + r.IntN(min(8, len(c.List)-1-from))
			run := module[c.List[from].Pos:c.List[to-1].End]
			times := min(n/len(m.Bodies), wasm.MaxBody/2) / len(run)
			body = slices.Concat(module[b.Start:c.List[from].Pos], slices.Repeat(run, max(1, times)),
				module[c.List[to-1].End:b.Stop])
		}
		out = append(wasm.AppendU32(out, uint32(len(body))), body...)
	}
	return out
}

// FuzzReadCost fails on time and memory.
func FuzzReadCost(f *testing.F) {
	for _, module := range soak.Sample(sorted(seeds(f)), 10, 100) {
		f.Add(module)
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		cost.Module.Check(t, "a module", len(module), func() { _ = read(module) })
	})
}
