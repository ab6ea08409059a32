package meter_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// frameShape is a function that calls itself without end, whose frame is large
// in some way.
type frameShape struct {
	name            string
	params, results []wasm.ValueType
	locals          []wasm.ValueType
	block           []wasm.ValueType // what a block of type 2 takes and leaves
	code            []byte           // what it does; self says how it calls itself
}

// module is the function (0), a function (1) that calls it with zeros, and the
// number of calls as a global.
func (s *frameShape) module() []byte {
	values := func(types []wasm.ValueType) []byte {
		b := wasm.AppendU32(nil, uint32(len(types)))
		for _, t := range types {
			b = append(b, byte(t))
		}
		return b
	}
	count := []byte{wasm.OpGlobalGet, 0, wasm.OpI32Const, 1, 0x6a, wasm.OpGlobalSet, 0}
	body := wasm.AppendU32(nil, uint32(len(s.locals)))
	for _, l := range s.locals {
		body = append(body, 1, byte(l))
	}
	body = slices.Concat(body, count, s.code, []byte{wasm.OpEnd})
	start := []byte{0}
	start = append(start, zeros(s.params)...)
	start = append(start, wasm.OpCall, 0)
	start = append(start, bytes.Repeat([]byte{wasm.OpDrop}, len(s.results))...)
	start = append(start, wasm.OpEnd)
	b := []byte("\x00asm\x01\x00\x00\x00")
	b = wasm.AppendSection(b, wasm.SectionType, slices.Concat([]byte{3, 0x60}, values(s.params), values(s.results),
		[]byte{0x60, 0, 0, 0x60}, values(s.block), values(s.block)))
	b = wasm.AppendSection(b, wasm.SectionFunction, []byte{2, 0, 1})
	b = wasm.AppendSection(b, wasm.SectionTable, []byte{1, byte(wasm.FuncRefT), 0, 1})
	b = wasm.AppendSection(b, wasm.SectionMemory, []byte{1, 0, 1})
	b = wasm.AppendSection(b, wasm.SectionGlobal, []byte{1, byte(wasm.I32), 1, wasm.OpI32Const, 0, wasm.OpEnd})
	b = wasm.AppendSection(b, wasm.SectionExport,
		slices.Concat([]byte{2}, wasm.AppendName(nil, "run"), []byte{wasm.KindFunc, 1}, wasm.AppendName(nil, "calls"),
			[]byte{wasm.KindGlobal, 0}))
	b = wasm.AppendSection(b, wasm.SectionElement, []byte{1, 0, wasm.OpI32Const, 0, wasm.OpEnd, 1, 0})
	code := wasm.AppendU32([]byte{2}, uint32(len(body)))
	code = append(append(code, body...), wasm.AppendU32(nil, uint32(len(start)))...)
	return wasm.AppendSection(b, wasm.SectionCode, append(code, start...))
}

// zeros leaves a zero of each type.
func zeros(types []wasm.ValueType) []byte {
	var b []byte
	for _, t := range types {
		switch t {
		case wasm.I32, wasm.I64:
			b = append(b, wasm.OpI32Const+byte(wasm.I32-t), 0)
		case wasm.F32:
			b = append(b, wasm.OpF32Const, 0, 0, 0, 0)
		case wasm.F64:
			b = append(b, wasm.OpF64Const, 0, 0, 0, 0, 0, 0, 0, 0)
		case wasm.V128:
			b = append(append(b, wasm.OpSIMD, 12), make([]byte, 16)...)
		}
	}
	return b
}

func times(n int, t wasm.ValueType) []wasm.ValueType { return slices.Repeat([]wasm.ValueType{t}, n) }

func idx(op byte, i int) []byte { return wasm.AppendU32([]byte{op}, uint32(i)) }

// load leaves the value at an address, which the engine does not know.
func load(t wasm.ValueType, at int) []byte {
	b := []byte{wasm.OpGlobalGet, 0, wasm.OpI32Const, 8, 0x6c, wasm.OpI32Const, 0x3f, 0x71}
	switch t {
	case wasm.I32:
		return wasm.AppendU32(append(b, 0x28, 0), uint32(at))
	case wasm.I64:
		return wasm.AppendU32(append(b, 0x29, 0), uint32(at))
	case wasm.F64:
		return wasm.AppendU32(append(b, 0x2b, 0), uint32(at))
	}
	return wasm.AppendU32(append(b, wasm.OpSIMD, 0, 0), uint32(at))
}

// plus adds two values of a type.
func plus(t wasm.ValueType) []byte {
	switch t {
	case wasm.I32:
		return []byte{0x6a}
	case wasm.I64:
		return []byte{0x7c}
	case wasm.F64:
		return []byte{0xa0}
	}
	return []byte{wasm.OpSIMD, 0x51} // xor
}

// store stores the value on the stack, over an address below it.
func store(t wasm.ValueType) []byte {
	switch t {
	case wasm.I32:
		return []byte{0x36, 0, 0}
	case wasm.I64:
		return []byte{0x37, 0, 0}
	case wasm.F64:
		return []byte{0x39, 0, 0}
	}
	return []byte{wasm.OpSIMD, 11, 0, 0}
}

func each(n int, f func(i int) []byte) []byte {
	var b []byte
	for i := range n {
		b = append(b, f(i)...)
	}
	return b
}

var self = []byte{wasm.OpCall, 0}

func frameShapes() []frameShape {
	var all []frameShape
	for _, t := range []wasm.ValueType{wasm.I64, wasm.V128} {
		for _, n := range []int{150} {
			sum := func(get func(i int) []byte) []byte { // store(0, sum of what get gets)
				return slices.Concat([]byte{wasm.OpI32Const, 0}, get(0), each(n-1, func(i int) []byte {
					return slices.Concat(get(i+1), plus(t))
				}), store(t))
			}
			get := func(i int) []byte { return idx(wasm.OpLocalGet, i) }
			fill := each(n, func(i int) []byte { return slices.Concat(load(t, 8*i), idx(wasm.OpLocalSet, i)) })
			add := func(name string, s frameShape) {
				s.name = fmt.Sprintf("%s of %d %s", name, n, t)
				all = append(all, s)
			}
			add("locals across a call", frameShape{locals: times(n, t), code: slices.Concat(fill, self, sum(get))})
			add("locals across three calls, new each time", frameShape{locals: times(n, t), code: slices.Concat(
				fill, self, sum(get), fill, self, sum(get), fill, self, sum(get))})
			add("operands across a call", frameShape{code: slices.Concat([]byte{wasm.OpI32Const, 0},
				each(n, func(i int) []byte { return load(t, 8*i) }), self, bytes.Repeat(plus(t), n-1), store(t))})
			add("parameters", frameShape{params: times(n, t), code: slices.Concat(
				each(n, func(i int) []byte { return load(t, 8*i) }), self, sum(get))})
			add("parameters handed on", frameShape{params: times(n, t), code: slices.Concat(each(n, get), self)})
			add("results", frameShape{results: times(n, t), code: slices.Concat(self)})
			add("results added up", frameShape{results: times(n, t), locals: times(1, t), code: slices.Concat(
				self, bytes.Repeat(plus(t), n-1), idx(wasm.OpLocalSet, 0), each(n, func(int) []byte { return get(0) }))})
			add("operands without a call", frameShape{code: slices.Concat(
				each(5, func(k int) []byte {
					return slices.Concat([]byte{wasm.OpI32Const, 0}, each(n, func(i int) []byte {
						return load(t, 8*i+k)
					}), bytes.Repeat(plus(t), n-1), store(t))
				}), self)})
			add("locals without a call", frameShape{locals: times(n, t), code: slices.Concat(
				each(5, func(k int) []byte {
					return slices.Concat(each(n, func(i int) []byte {
						return slices.Concat(load(t, 8*i+k), idx(wasm.OpLocalSet, i))
					}), sum(get))
				}), self)})
			add("locals joined in nested blocks", frameShape{locals: times(n, t), code: slices.Concat(
				bytes.Repeat([]byte{wasm.OpBlock, 0x40}, min(n, 60)), fill,
				each(min(n, 60), func(i int) []byte {
					return slices.Concat(load(wasm.I32, 1000+i), idx(wasm.OpBrIf, i), load(t, 2000+i), idx(wasm.OpLocalSet, i))
				}), self,
				each(min(n, 60), func(i int) []byte {
					return slices.Concat([]byte{wasm.OpEnd}, self, load(t, 3000+i), idx(wasm.OpLocalSet, i))
				}),
				sum(get))})
			add("locals changed in loops", frameShape{locals: times(n, t), code: slices.Concat(fill,
				each(min(n, 30), func(i int) []byte {
					return slices.Concat([]byte{wasm.OpLoop, 0x40}, load(t, i), get(i), plus(t),
						idx(wasm.OpLocalSet, i), load(wasm.I32, 1000+i), []byte{wasm.OpBrIf, 0, wasm.OpEnd})
				}), self, sum(get))})
			add("an indirect call", frameShape{params: times(n, t), code: slices.Concat(
				each(n, get), load(wasm.I32, 60_000), []byte{wasm.OpCallIndirect, 0, 0}, sum(get))})
		}
	}
	return all
}

// finalStack is how long the engine's stack is when it overflows, of frames of
// a size: it is doubled, with room for one frame more, until it is over 50 MB.
func finalStack(frame float64) float64 {
	n := 10240.0
	for n <= 50_000_000 {
		n = 2*n + frame + 16
	}
	return n
}

// TestFrames: the stack that is counted for a call is no less than what the
// engine takes of its own, whatever is in the function.
func TestFrames(t *testing.T) {
	shapes := append(frameShapes(), joinShapes()...)
	for _, s := range soak.Sample(shapes, 4, len(shapes)) {
		original := s.module()
		rewritten := mustRewrite(t, original)
		parsed, err := wasm.Parse(original)
		if err != nil {
			t.Fatal(err)
		}
		frames, err := meter.Frames(original, parsed)
		if err != nil {
			t.Fatal(err)
		}
		r := engines[0].runtime(t)
		h := &host{}
		h.instantiate(t, r)
		m, err := r.InstantiateWithConfig(t.Context(), rewritten, wazero.NewModuleConfig().WithName("guest"))
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		h.start(m)
		if o := call(t.Context(), m.ExportedFunction("run")); o.trap != "stack overflow" {
			t.Fatalf("%s: %v", s.name, o)
		}
		calls := float64(m.ExportedGlobal("calls").Get())
		real := 0.0
		for range 20 {
			real = finalStack(real) / calls
		}
		if counted := float64(frames[0]); counted < real {
			t.Errorf("%s: a call takes %.0f bytes, counted are %.0f", s.name, real, counted)
		}
	}
}
