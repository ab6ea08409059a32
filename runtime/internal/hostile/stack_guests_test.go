package hostile_test

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// Stack are guests whose calls nest without end.
func Stack() []Guest {
	deep := func(name, why string, f func(m *module)) Guest {
		return Guest{Name: name, Why: why, Code: abi.CodeStack, Wasm: write(f)}
	}
	return []Guest{
		deep("recursion", "a call in a cycle counts", func(m *module) { m.Hook(Hook, nil, call(0), c32(1), wasmtest.Add32) }),
		deep("mutual recursion", "three functions that call each other", func(m *module) {
			m.Func(i32, i32, nil, get(0), call(1), c32(1), wasmtest.Add32)
			m.Func(i32, i32, nil, get(0), call(2), c32(1), wasmtest.Add32)
			m.Func(i32, i32, nil, get(0), call(0), c32(1), wasmtest.Add32)
			m.Hook(Hook, nil, c32(0), call(0))
		}),
		deep("recursion through a table", "calls through a table count", func(m *module) {
			m.Table(1, -1)
			t := m.Type(nil, i32)
			f := m.Func(nil, i32, nil, c32(0), wasmtest.CallIndirect(t), c32(1), wasmtest.Add32)
			m.Elements(0, f)
			m.Hook(Hook, nil, call(f))
		}),
		deep("large frames", "2,000 locals that live across the call: a frame counts by its size", func(m *module) {
			m.Hook(Hook, slices.Repeat([]vt{wasmtest.I64}, 2000), keep(2000,
				func(i uint32) []byte { return slices.Concat(get(i), c64(int64(i)), wasmtest.Add64, set(i)) }))
		}),
		deep("vectors", "of 16 bytes", func(m *module) {
			m.Hook(Hook, slices.Repeat([]vt{wasmtest.V128}, 500), keep(500, func(i uint32) []byte {
				return slices.Concat(get(i), get((i+1)%500), op(0xfd, 0xce, 0x01), set(i)) // i64x2.add
			}))
		}),
		deep("many parameters", "which lie on the stack, too", func(m *module) {
			types := slices.Repeat([]vt{wasmtest.I64}, 500)
			var params []byte
			for i := range uint32(500) {
				params = append(params, get(i)...)
			}
			m.Func(types, i64, nil, params, call(0), get(499), wasmtest.Add64)
			m.Hook(Hook, nil, slices.Concat(slices.Repeat(c64(1), 500), call(0)), wasmtest.Wrap64)
		}),
		deep("many results", "or what is returned", func(m *module) {
			types := slices.Repeat([]vt{wasmtest.I64}, 500)
			m.Func(nil, types, nil, call(0), wasmtest.Times(500, wasmtest.Drop), wasmtest.Times(500, c64(1)))
			m.Hook(Hook, nil, call(0), wasmtest.Times(500, wasmtest.Drop), c32(0))
		}),
		{Name: "recursion in start", Why: "before the hook as in it", Code: abi.CodeStack,
			Phase: abi.PhaseInstantiate, Wasm: write(func(m *module) {
				m.Start(m.Func(nil, nil, nil, call(0)))
				innocent(m)
			})},
		Chain(""),
	}
}

// Chain is a guest whose calls nest deep, though not without end: 300
// functions, each with a frame of 8 KB, together 2.4 MB.
func Chain(code abi.Code) Guest {
	return Guest{Name: "a chain without a cycle", Why: "frames that add up are counted", Code: code,
		Wasm: write(func(m *module) {
			f := m.Func(nil, nil, nil)
			for range 300 {
				f = m.Func(nil, nil, slices.Repeat([]vt{wasmtest.I64}, 1000), keepAcross(1000, f))
			}
			m.Hook(Hook, nil, call(f), c32(0))
		})}
}

// keep is a body that calls the function it is of, function 0, and uses all
// locals before and after.
func keep(n uint32, use func(i uint32) []byte) []byte {
	var all []byte
	for i := range n {
		all = append(all, use(i)...)
	}
	return slices.Concat(all, call(0), wasmtest.Drop, all, c32(0))
}

// keepAcross calls f with n locals in use.
func keepAcross(n uint32, f fn) []byte {
	var all []byte
	for i := range n {
		all = append(all, slices.Concat(get(i), c64(1), wasmtest.Add64, set(i))...)
	}
	return slices.Concat(all, call(f), all)
}
