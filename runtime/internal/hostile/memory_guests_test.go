package hostile_test

import (
	"bytes"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// Memory are guests that want more of it than they may have.
func Memory() []Guest {
	bomb := func(name, why string, wasm func() []byte) Guest {
		return Guest{Name: name, Why: why, Wasm: wasm, Code: abi.CodeMemory}
	}
	refused := func(name, why string, f func(m *module)) Guest {
		return Guest{Name: name, Why: why, Code: abi.CodeRefused, Wasm: write(func(m *module) { f(m); innocent(m) })}
	}
	failedGrow := slices.Concat(c32(-1), op(0x46), wasmtest.If(wasmtest.Unreachable)) // it equals -1
	const all = pages * page
	return append([]Guest{
		bomb("grow at once", "4 GiB are not there to have", hook(nil, c32(0xffff), wasmtest.MemoryGrow, failedGrow)),
		bomb("grow in steps", "and touch each: all of it counts", write(func(m *module) {
			m.Memory(1, -1, "memory")
			m.Hook(Hook, i32, wasmtest.Forever(
				c32(16), wasmtest.MemoryGrow, set(0), get(0), failedGrow,
				get(0), c32(page), wasmtest.Mul32, c32(1), c32(16*page), wasmtest.MemoryFill))
		})),
		refused("large minimum", "4 GiB to begin with", func(m *module) { m.Memory(65536, -1, "") }),
		{Name: "large maximum", Why: "a bound that is never reached costs nothing",
			Wasm: write(func(m *module) { m.Memory(1, 65536, "memory"); innocent(m) })},
		{Name: "all of it", Why: "what is allowed may be used",
			Wasm: hook(nil, c32(0), c32(1), c32(all), wasmtest.MemoryFill)},
		refused("table minimum", "four tables of 2^27", func(m *module) {
			for range 4 {
				m.Table(1<<27, -1)
			}
		}),
		bomb("grow a table", "2 GiB of references", write(func(m *module) {
			m.Table(1, -1)
			m.Hook(Hook, nil, wasmtest.NullFunc, c32(1<<28), wasmtest.TableGrow, failedGrow, c32(0))
		})),
		bomb("grow a table in steps", "by 1,000, and all tables together", write(func(m *module) {
			m.Table(1, -1)
			m.Table(90_000, -1)
			m.Hook(Hook, nil, wasmtest.Forever(wasmtest.NullFunc, c32(1000), wasmtest.TableGrow, failedGrow))
		})),
	}, hostMemory()...)
}

// hostMemory are guests that fill the memory of the host instead.
func hostMemory() []Guest {
	type importer func(name string, params []vt, results ...vt) fn
	imports := func(name, why string, code abi.Code, f func(m *module, extism importer)) Guest {
		return Guest{Name: name, Why: why, Code: code, Wasm: write(func(m *module) {
			f(m, func(name string, params []vt, results ...vt) fn {
				return m.Import(abi.ExtismModule, name, params, results)
			})
		})}
	}
	trapOnNull := slices.Concat(op(0x50), wasmtest.If(wasmtest.Unreachable)) // i64.eqz
	pair := []vt{wasmtest.I64, wasmtest.I64}
	return []Guest{
		imports("allocate from the host", "blocks of 1 MiB that are never freed",
			abi.CodeMemory, func(m *module, extism importer) {
				alloc := extism("alloc", i64, wasmtest.I64)
				m.Hook(Hook, nil, wasmtest.Forever(c64(1<<20), call(alloc), trapOnNull))
			}),
		imports("allocate bytes", "a block of a byte costs what the host remembers of it",
			abi.CodeMemory, func(m *module, extism importer) {
				alloc := extism("alloc", i64, wasmtest.I64)
				m.Hook(Hook, nil, wasmtest.Forever(c64(1), call(alloc), trapOnNull))
			}),
		imports("allocate the impossible", "2^63 bytes",
			abi.CodeMemory, func(m *module, extism importer) {
				alloc := extism("alloc", i64, wasmtest.I64)
				m.Hook(Hook, nil, c64(-1<<63), call(alloc), trapOnNull, c32(0))
			}),
		imports("allocate and free", "in a loop it takes time and no memory",
			abi.CodeDeadline, func(m *module, extism importer) {
				alloc, free := extism("alloc", i64, wasmtest.I64), extism("free", i64)
				m.Hook(Hook, nil, wasmtest.Forever(c64(1<<20), call(alloc), call(free)))
			}),
		imports("variables", "one more key each time, with a value of 1 MiB",
			abi.CodeMemory, func(m *module, extism importer) {
				alloc, store := extism("alloc", i64, wasmtest.I64), extism("store_u64", pair)
				setVar := extism("var_set", pair)
				m.Hook(Hook, []vt{wasmtest.I64, wasmtest.I64, wasmtest.I64},
					wasmtest.Forever(
						c64(1<<20), call(alloc), set(0), c64(8), call(alloc), set(1),
						get(2), c64(1), wasmtest.Add64, set(2), get(1), get(2), call(store), get(1), get(0), call(setVar)))
			}),
		{Name: "error text of all memory", Why: "it is cut before it is copied", Code: abi.CodeExit,
			Wasm: write(func(m *module) {
				fail := m.Import(abi.ImportModule, "error_write", []vt{wasmtest.I32, wasmtest.I32}, nil)
				m.Memory(pages, -1, "memory")
				m.Hook(Hook, nil, c32(0), c32('x'), c32(pages*page), wasmtest.MemoryFill, c32(0), c32(pages*page), call(fail),
					c32(1))
			})},
		{Name: "log of all memory", Why: "16 files of 4 MiB in one write: what is over the quota is dropped",
			Wasm: write(func(m *module) {
				out := m.Import(wasi, "fd_write", []vt{wasmtest.I32, wasmtest.I32, wasmtest.I32, wasmtest.I32}, i32)
				m.Memory(pages, -1, "memory")
				vectors := bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0x40, 0}, 16)
				m.Data(1024, vectors)
				m.Hook(Hook, nil, c32(1<<20), c32('x'), c32(63<<20), wasmtest.MemoryFill, c32(1), c32(1024), c32(16), c32(8),
					call(out))
			})},
	}
}

const wasi = "wasi_snapshot_preview1"
