package hostile_test

import (
	"bytes"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// Time are guests that take for ever: nothing but the clock, or fuel, ends
// them.
func Time() []Guest {
	return slices.Concat(loops(), chains(), ranges(), slowCode(), Carry())
}

func forever(name, why string, wasm func() []byte) Guest {
	return Guest{Name: name, Why: why, Wasm: wasm, Code: abi.CodeDeadline}
}

// beginning is a guest that never gets to its hook.
func beginning(name, why string, where func(m *module, f fn)) Guest {
	g := forever(name, why, write(func(m *module) {
		where(m, m.Func(nil, nil, nil, wasmtest.Forever()))
		innocent(m)
	}))
	g.Phase = abi.PhaseInstantiate
	return g
}

func loops() []Guest {
	hs := forever("loop in hs_init", "the entry of Haskell is under the limit, too", write(func(m *module) {
		m.Export("hs_init", m.Func([]vt{wasmtest.I32, wasmtest.I32}, nil, nil, wasmtest.Forever()))
		innocent(m)
	}))
	hs.Phase = abi.PhaseInstantiate
	return []Guest{
		forever("loop in hook", "the head of a loop counts", endless(nil)),
		forever("loop with loads", "so does that of a loop that computes", endless(i32, get(0), wasmtest.Load32, set(0))),
		forever("loop over br_table", "and the jumps back of one that is a dispatch", hook(i32,
			wasmtest.Repeat(wasmtest.Block(wasmtest.Block(get(0), wasmtest.BrTable(0, 1, 2)), c32(1), set(0), wasmtest.Br(1)),
				c32(0), set(0), wasmtest.Br(0)))),
		beginning("loop in start", "the limit covers the start section", (*module).Start),
		beginning("loop in _initialize", "and the entry of a reactor", func(m *module, f fn) { m.Export("_initialize", f) }),
		beginning("loop in constructors", "and those of C++", func(m *module, f fn) { m.Export("__wasm_call_ctors", f) }),
		hs,
		forever("loop in alloc", "what a guest exports for its host to call is as limited as a hook", write(func(m *module) {
			alloc := m.Func(i32, i32, nil, wasmtest.Forever())
			m.Export("alloc", alloc)
			m.Hook(Hook, nil, c32(8), call(alloc))
		})),
	}
}

func chains() []Guest {
	leaf := bytes.Repeat([]byte{0x20, 0, 0x41, 3, 0x6a, 0x21, 0}, 120<<10/7) // local = local + 3
	return []Guest{
		forever("exponential calls", "60 functions, each calling the one before twice: calls are charged ahead",
			write(func(m *module) {
				f := m.Func(nil, nil, nil)
				for range 60 {
					f = m.Func(nil, nil, nil, call(f), call(f))
				}
				m.Hook(Hook, nil, call(f), c32(0))
			})),
		forever("exponential recursion", "fib(200): calls in a cycle count", write(func(m *module) {
			fib := fn(0)
			m.Func(i32, i32, nil,
				get(0), c32(2), wasmtest.LtU32, wasmtest.If(c32(1), wasmtest.Return),
				get(0), c32(1), wasmtest.Sub32, call(fib), get(0), c32(2), wasmtest.Sub32, call(fib), wasmtest.Add32)
			m.Hook(Hook, nil, c32(200), call(fib))
		})),
		forever("exponential calls through a table", "60 functions that a table leads to", write(func(m *module) {
			m.Table(61, -1)
			t := m.Type(nil, nil)
			funcs := []fn{m.Func(nil, nil, nil)}
			for i := range int32(60) {
				funcs = append(funcs, m.Func(nil, nil, nil, c32(i), wasmtest.CallIndirect(t), c32(i), wasmtest.CallIndirect(t)))
			}
			m.Elements(0, funcs...)
			m.Hook(Hook, nil, c32(60), wasmtest.CallIndirect(t), c32(0))
		})),
		forever("long leaf in a loop", "120 KB without a branch weigh as much as they take", write(func(m *module) {
			f := m.Func(nil, nil, i32, leaf)
			m.Hook(Hook, nil, wasmtest.Forever(wasmtest.Times(1000, call(f))))
		})),
		forever("long leaf without a loop", "and are charged to whoever calls them", write(func(m *module) {
			f := tower(m, 1000, 2, call(m.Func(nil, nil, i32, leaf)))
			m.Hook(Hook, nil, call(f), c32(0))
		})),
	}
}

func ranges() []Guest {
	const all = pages * page
	inTable := func(name, why string, code ...[]byte) Guest {
		return forever(name, why, write(func(m *module) {
			m.Table(100_000, -1)
			t := tower(m, 100, 4, code...)
			m.PassiveElements(slices.Repeat([]fn{t}, 50_000)...)
			m.Hook(Hook, nil, call(t), c32(0))
		}))
	}
	return []Guest{
		forever("fill", "memory.fill of all memory, again and again without a loop: charged by length",
			towered(100, nil, c32(0), c32(7), c32(all-page), wasmtest.MemoryFill)),
		forever("copy forwards", "memory.copy, done in pieces",
			towered(100, nil, c32(0), c32(page), c32(all-page), wasmtest.MemoryCopy)),
		forever("copy backwards", "from the end, its ranges overlapping",
			towered(100, nil, c32(page), c32(0), c32(all-page), wasmtest.MemoryCopy)),
		forever("init", "memory.init of 1 MiB",
			towered(100, func(m *module) { m.Passive(bytes.Repeat([]byte{1}, 1<<20)) }, c32(0), c32(0), c32(1<<20),
				wasmtest.MemoryInit)),
		forever("init all memory", "memory.init of 11 MiB",
			towered(100, func(m *module) { m.Passive(bytes.Repeat([]byte{1}, 11<<20)) }, c32(0), c32(0), c32(11<<20),
				wasmtest.MemoryInit)),
		inTable("fill a table", "table.fill of 100,000 elements",
			c32(0), wasmtest.NullFunc, c32(100_000), wasmtest.TableFill),
		inTable("copy a table", "table.copy", c32(1), c32(0), c32(99_999), wasmtest.TableCopy),
		inTable("init a table", "table.init", c32(0), c32(0), c32(50_000), wasmtest.TableInit),
		inTable("grow a table by nothing", "each growth asks the host",
			wasmtest.NullFunc, c32(0), wasmtest.TableGrow, wasmtest.Drop),
		forever("grow memory by nothing", "memory.grow returns to the engine each time",
			endless(nil, c32(0), wasmtest.MemoryGrow, wasmtest.Drop)),
	}
}

// slowCode is code whose instructions take longer than others.
func slowCode() []Guest {
	f64 := []vt{wasmtest.F64}
	filled := slices.Concat(c32(0), c32(1), c32(pages*page), wasmtest.MemoryFill)
	// at = (at * 1664525 + 1013904223 + what is there) % (64 MiB - 4)
	step := slices.Concat(get(0), c32(1664525), wasmtest.Mul32, c32(1013904223), wasmtest.Add32, get(0), wasmtest.Load32,
		wasmtest.Add32, c32(pages*page-8), wasmtest.And32, set(0))
	const divS64, sqrt64, div64, ctz = 0x7f, 0x9f, 0xa3, 0x68
	touch := write(func(m *module) {
		m.Memory(pages, -1, "memory")
		var code []byte
		for at := int32(0); at < pages*page; at += 4096 {
			code = slices.Concat(code, c32(at), c32(1), wasmtest.Store32)
		}
		m.Hook(Hook, nil, code, wasmtest.Forever())
	})
	return []Guest{
		forever("pointer chase", "each load misses the caches: loads weigh more than sums",
			hook(i32, filled, wasmtest.Forever(step))),
		forever("long pointer chase", "5,000 of them without a branch",
			hook(i32, filled, wasmtest.Forever(wasmtest.Times(5000, step)))),
		forever("divide", "integer division, each needing the last",
			endless(i64, wasmtest.Times(200, c64(-1), get(0), c64(3), op(0x84), op(divS64), set(0)))),
		forever("square roots", "of doubles",
			hook(f64, wasmtest.ConstF64(1e300), set(0), wasmtest.Forever(wasmtest.Times(200, get(0), op(sqrt64),
				wasmtest.ConstF64(1.7), op(div64), set(0))))),
		forever("touch every page", "without a loop: a store to a page that was never used waits for the kernel", touch),
		forever("grow and touch", "page by page, and on where there is no more", write(func(m *module) {
			m.Memory(1, -1, "memory")
			m.Hook(Hook, nil, wasmtest.Repeat(
				c32(1), wasmtest.MemoryGrow, wasmtest.Drop,
				wasmtest.MemorySize, c32(page), wasmtest.Mul32, c32(4), wasmtest.Sub32, c32(1), wasmtest.Store32,
				wasmtest.Br(0)), wasmtest.Unreachable)
		})),
	}
}
