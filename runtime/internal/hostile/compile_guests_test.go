package hostile_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// Compile are modules that take long to compile, or much memory: each is
// refused, or is compiled in time after all.
func Compile() []Guest {
	bomb := func(name, why string, f func(m *module)) Guest {
		return Guest{Name: name, Why: why, OrRefused: true, Wasm: write(f)}
	}
	body := func(name, why string, locals int, code ...[]byte) Guest {
		return bomb(name, why, func(m *module) {
			m.Func(i32, nil, slices.Repeat(i32, locals), code...)
			innocent(m)
		})
	}
	nested := func(n int, open, inner []byte) []byte {
		return slices.Concat(bytes.Repeat(open, n), inner, bytes.Repeat(op(0x0b), n))
	}
	block, loop := op(0x02, 0x40), op(0x03, 0x40)
	bumps := func(n int) []byte {
		var b []byte
		for i := range uint32(n) {
			b = append(b, slices.Concat(get(i), c32(1), wasmtest.Add32, set(i))...)
		}
		return b
	}
	var keepVectors []byte
	for i := range uint32(100) {
		keepVectors = slices.Concat(keepVectors, get(i), get((i+1)%100), op(0xfd, 0xce, 0x01), set(i))
	}
	exits := make([]uint32, 80_000)
	return []Guest{
		body("nested blocks", "4,000 deep", 0, nested(4000, block, nil)),
		body("deeper blocks", "100,000 deep", 0, nested(100_000, block, nil)),
		body("nested loops and locals", "100 loops, each of which may change 500 locals", 500,
			nested(100, loop, slices.Concat(bumps(500), get(0), wasmtest.BrIf(99)))),
		body("a few loops and many locals", "just within what is allowed", 4000,
			nested(4, loop, slices.Concat(bumps(4000), get(0), wasmtest.BrIf(3)))),
		body("10,000 ifs", "one after the other: basic blocks cost with their square", 0,
			wasmtest.Times(10_000, get(0), wasmtest.If())),
		body("20,000 ifs", "twice as many", 0, wasmtest.Times(20_000, get(0), wasmtest.If())),
		body("2,000 ifs, 2,000 locals", "blocks times locals", 2000, wasmtest.Times(2000, get(0), wasmtest.If(bumps(3)))),
		body("40,000 br_ifs", "to one block", 0, wasmtest.Block(wasmtest.Times(40_000, get(0), wasmtest.BrIf(0)))),
		body("a br_table", "of 80,000 targets", 0, wasmtest.Block(get(0), wasmtest.BrTable(exits...))),
		body("many br_tables", "100 of 1,000 targets", 0,
			wasmtest.Times(100, wasmtest.Block(get(0), wasmtest.BrTable(exits[:1000]...)))),
		body("a huge body", "2 MB without a branch", 0, wasmtest.Times(300_000, get(0), c32(3), wasmtest.Add32, set(0))),
		body("a huge expression", "300,000 operands", 0,
			slices.Concat(wasmtest.Times(300_000, get(0)), wasmtest.Times(299_999, wasmtest.Add32), wasmtest.Drop)),
		body("many locals", "50,000", 50_000, get(0), set(0)),
		body("dead code", "1 MB behind a return", 0,
			slices.Concat(wasmtest.Return, wasmtest.Times(500_000, wasmtest.Unreachable))),
		body("4,000 ifs", "near what is allowed", 0, wasmtest.Times(4000, get(0), wasmtest.If())),
		body("5,000 ifs", "nearer", 0, wasmtest.Times(5000, get(0), wasmtest.If())),
		body("6,000 br_ifs", "the same with jumps", 0, wasmtest.Block(wasmtest.Times(6000, get(0), wasmtest.BrIf(0)))),
		body("300 ifs, 300 locals", "each of which changes in each", 300,
			wasmtest.Times(300, get(0), wasmtest.If(bumps(300)))),
		body("1,000 nested blocks with exits", "each left from the middle", 0,
			nested(1000, block, wasmtest.Times(1000, get(0), wasmtest.BrIf(500)))),
		bomb("30 functions of 700 ifs", "none of them too long by itself", func(m *module) {
			for range 30 {
				m.Func(i32, nil, nil, wasmtest.Times(700, get(0), wasmtest.If()))
			}
			innocent(m)
		}),
		bomb("types and functions", "25,000 of each: the engine looks at all types for each function", func(m *module) {
			for range 25_000 {
				m.Func(nil, nil, nil)
			}
			innocent(m)
		}),
		bomb("traps", "3 MB of two bytes that become a hundred", func(m *module) {
			for range 1_000 {
				m.Func([]vt{wasmtest.F64}, nil, nil, wasmtest.Times(750, get(0), op(0xaa), wasmtest.Drop))
			}
			innocent(m)
		}),
		body("a chain of loads", "80,000 in one function, for each of which the engine takes 4 KB meanwhile", 0,
			get(0), wasmtest.Times(80_000, op(0x2d, 0, 0)), set(0)),
		bomb("chains of loads", "many functions, which are compiled side by side", func(m *module) {
			for range 20 {
				m.Func(i32, nil, nil, get(0), wasmtest.Times(20_000, op(0x2d, 0, 0)), set(0))
			}
			innocent(m)
		}),
		bomb("calls through a table", "90,000, each of which takes the engine 40 us", func(m *module) {
			m.Table(1, -1)
			typ := m.Type(nil, nil)
			for range 500 {
				m.Func(nil, nil, nil, wasmtest.Times(180, c32(0), wasmtest.CallIndirect(typ)))
			}
			innocent(m)
		}),
		bomb("calls", "3 MB of them", func(m *module) {
			for range 1_000 {
				m.Func(nil, nil, nil, wasmtest.Times(1_500, call(0)))
			}
			innocent(m)
		}),
		bomb("vectors", "20,000 operations on 100 locals of 16 bytes", func(m *module) {
			m.Func(nil, nil, slices.Repeat([]vt{wasmtest.V128}, 100), wasmtest.Times(200, keepVectors))
			innocent(m)
		}),
		bomb("globals and calls", "1,000 mutable globals, stored and loaded at each of 5,000 calls", func(m *module) {
			for range 1000 {
				m.Global(wasmtest.I32, true, c32(0))
			}
			f := m.Func(nil, nil, nil)
			m.Func(nil, nil, nil, wasmtest.Times(5000, call(f)))
			innocent(m)
		}),
		bomb("many functions", "100,000 empty ones", func(m *module) {
			for range 100_000 {
				m.Func(nil, nil, nil)
			}
			innocent(m)
		}),
		bomb("many types", "100,000, each another", func(m *module) {
			for i := range 100_000 {
				params := make([]vt, 17)
				for bit := range params {
					params[bit] = wasmtest.I32 - vt(i>>bit&1)
				}
				m.Type(params, nil)
			}
			innocent(m)
		}),
		bomb("many parameters and calls", "of 900 values each", func(m *module) {
			f := m.Func(slices.Repeat([]vt{wasmtest.I64}, 900), nil, nil)
			m.Func(nil, nil, nil, wasmtest.Times(50, slices.Concat(wasmtest.Times(900, c64(1)), call(f))))
			innocent(m)
		}),
		bomb("many exports", "50,000 of one function", func(m *module) {
			innocent(m)
			for i := range 50_000 {
				m.Export(fmt.Sprint("e", i), 0)
			}
		}),
		bomb("many imports", "50,000 of one function", func(m *module) {
			for range 50_000 {
				m.Import(abi.ImportModule, "input_length", nil, i32)
			}
			innocent(m)
		}),
		bomb("many globals", "50,000", func(m *module) {
			for range 50_000 {
				m.Global(wasmtest.I64, true, c64(1))
			}
			innocent(m)
		}),
		bomb("data segments", "90,000 that write the same byte", func(m *module) {
			m.Memory(1, -1, "memory")
			for range 90_000 {
				m.Data(0, []byte{1})
			}
			innocent(m)
		}),
		bomb("element segments", "90,000 of one function", func(m *module) {
			m.Table(1, -1)
			for range 90_000 {
				m.Elements(0, 0)
			}
			innocent(m)
		}),
		bomb("custom sections", "100,000 of them", func(m *module) {
			innocent(m)
			for range 100_000 {
				m.Custom("x", nil)
			}
		}),
		bomb("a large custom section", "11 MiB", func(m *module) { innocent(m); m.Custom("x", make([]byte, 11<<20)) }),
		bomb("names", "a name section that names a function 200,000 times", func(m *module) {
			innocent(m)
			m.FuncNames(slices.Repeat([]string{"f"}, 200_000)...)
		}),
		bomb("a long name", "of 1 MB for an export",
			func(m *module) { innocent(m); m.Export(strings.Repeat("n", 1<<20), 0) }),
	}
}
