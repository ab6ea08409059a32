package hostile_test

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// Carry are guests that have many values handed over at once: to blocks, to functions,
// over branches. Each is one instruction, and a thousand moves to the engine.
func Carry() []Guest {
	const n = 1_000
	many := slices.Repeat(i32, n)
	some := func(m *module) []byte { // an unknown condition
		return slices.Concat(c32(0), wasmtest.Load32)
	}
	// carrying is a hook with n values on its stack of operands, for ever. Of each turn
	// the loop takes over the last n values, and so each is the next one.
	carrying := func(name, why string, work func(m *module, block uint32) []byte) Guest {
		return forever(name, why, write(func(m *module) {
			m.Memory(1, -1, "memory")
			block, loop := m.Type(many, many), m.Type(many, nil)
			code := work(m, block)
			m.Hook(Hook, nil, wasmtest.Times(n, c32(7)), typed(0x03, loop), code, c32(1), wasmtest.Br(0), op(0x0b),
				wasmtest.Unreachable)
		}))
	}
	drops := wasmtest.Times(n, wasmtest.Drop)
	return []Guest{
		carrying("parameters of a loop", "1,000 that shift by one at each turn", func(*module, uint32) []byte { return nil }),
		carrying("results of blocks", "1,000 that two ways bring", func(m *module, block uint32) []byte {
			return wasmtest.Times(40, typed(0x02, block), c32(1), some(m), wasmtest.BrIf(0), wasmtest.Drop, op(0x0b))
		}),
		carrying("results of ifs", "1,000, and another order on the one way", func(m *module, block uint32) []byte {
			return wasmtest.Times(40, some(m), typed(0x04, block), c32(1), wasmtest.Br(0), op(0x05, 0x0b))
		}),
		carrying("a branch table with values", "1,000 to one of five blocks", func(m *module, block uint32) []byte {
			return slices.Concat(wasmtest.Times(5, typed(0x02, block)), c32(1), some(m), wasmtest.BrTable(0, 1, 2, 3, 4),
				wasmtest.Times(5, op(0x0b)))
		}),
		carrying("results that are passed on", "1,000 by each of 12 functions", func(m *module, _ uint32) []byte {
			f := m.Func(nil, many, nil, wasmtest.Times(n, c32(9)))
			for range 12 {
				f = m.Func(nil, many, nil, call(f))
			}
			return slices.Concat(drops, call(f))
		}),
		carrying("parameters and results", "1,000 each, for a function that does nothing with them",
			func(m *module, _ uint32) []byte {

				var all []byte
				for i := range uint32(n) {
					all = append(all, get(i)...)
				}
				return call(m.Func(many, many, nil, all))
			}),
		forever("locals that change on one way", "3,000, behind a call that charges for itself", write(func(m *module) {
			m.Memory(1, -1, "memory")
			m.Table(1, -1)
			m.Elements(0, m.Func(nil, nil, nil))
			var turn []byte
			for i := range uint32(3 * n) {
				turn = slices.Concat(turn, get((i+1)%(3*n)), set(i))
			}
			way := slices.Concat(some(m), wasmtest.If(c32(0), wasmtest.CallIndirect(m.Type(nil, nil)), turn))
			m.Hook(Hook, slices.Repeat(i32, 3*n), wasmtest.Forever(wasmtest.Times(10, way)))
		})),
	}
}

// typed begins a block of a type.
func typed(op byte, typ uint32) []byte {
	return append([]byte{op}, wasmtest.Const32(int32(typ))[1:]...)
}

// Loading are modules with much of what nobody needs: reading and compiling them takes
// no longer than for others of their size.
func Loading() []Guest {
	bomb := func(name, why string, f func(m *module)) Guest {
		return Guest{Name: name, Why: why, OrRefused: true, Wasm: write(f)}
	}
	wide := func(i int) []vt {
		types := slices.Repeat([]vt{wasmtest.I64}, 1_000)
		types[i%1_000], types[(7*i+i/1_000)%1_000] = wasmtest.I32, wasmtest.F64
		return types
	}
	return []Guest{
		bomb("unused types", "1,000 with 1,000 parameters and results each", func(m *module) {
			for i := range 1_000 {
				m.Type(wide(i), wide(i+1))
			}
			innocent(m)
		}),
		bomb("a few wide types", "as many as there may be", func(m *module) {
			for i := range 10 {
				m.Type(wide(i), wide(i+1))
			}
			innocent(m)
		}),
		bomb("blocks of wide types", "a function of 20,000 bytes, all of them blocks", func(m *module) {
			many := slices.Repeat(i32, 1_000)
			block := m.Type(many, many)
			m.Func(nil, nil, nil, wasmtest.Times(1_000, c32(7)), wasmtest.Times(4_000, typed(0x02, block), op(0x0b)),
				wasmtest.Times(1_000, wasmtest.Drop))
			innocent(m)
		}),
		bomb("functions that pass on", "5,000 of them, 1,000 values each", func(m *module) {
			many := slices.Repeat(i32, 1_000)
			f := m.Func(nil, many, nil, wasmtest.Times(1_000, c32(9)))
			for range 5_000 {
				f = m.Func(nil, many, nil, call(f))
			}
			innocent(m)
		}),
		{
			Name: "elements of functions", Why: "a million that name the same one", Code: abi.CodeRefused,
			Wasm: write(func(m *module) {
				m.Table(1, -1)
				m.PassiveElements(slices.Repeat([]fn{m.Func(nil, nil, nil)}, 1_000_001)...)
				innocent(m)
			}),
		},
	}
}
