package extism_test

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// differing are the calls that the engines answer differently: each shows one
// difference, so that one that vanishes is found.
func differing() []engineCase {
	c32, c64, call, get := wasmtest.Const32, wasmtest.Const64, wasmtest.Call, wasmtest.Get
	i64 := []wasmtest.Type{wasmtest.I64}
	type imp = func(string, string, string) wasmtest.Func
	raw := []byte("0123456789")
	short := limited(abi.Limits{TimeoutMS: 200})
	return []engineCase{
		{name: "loop", wasm: wasmtest.Loop(pre), raw: raw, o: short, code: abi.CodeDeadline,
			differs: []string{"message"}, why: "upstream does not know in which function it stopped"},
		{name: "loop in start", wasm: wasmtest.Build(func(m *wasmtest.Module) {
			wasmtest.WithHook(m)
			m.Start(m.Func(nil, nil, nil, wasmtest.Forever()))
		}), raw: raw, o: short, code: abi.CodeDeadline,
			differs: []string{"message"}, why: "the same, before the call"},
		{name: "loop in _initialize", wasm: wasmtest.Build(func(m *wasmtest.Module) {
			wasmtest.WithHook(m)
			m.Export("_initialize", m.Func(nil, nil, nil, wasmtest.Forever()))
		}), raw: raw, o: short, code: abi.CodeDeadline,
			differs: []string{"message", "phase"}, why: "the SDK initializes a guest within its first call"},
		{name: "fuel", wasm: spin(10_000_000), raw: raw, o: limited(abi.Limits{Fuel: 100_000}), code: abi.CodeFuel,
			differs: []string{"code", "hint", "message", "phase", "warnings"},
			why:     "upstream counts nothing; a warning says so"},
		{name: "stack", wasm: nested(20_000), raw: raw, o: limited(abi.Limits{StackBytes: 64 << 10}), code: abi.CodeStack,
			differs: []string{"code", "hint", "message", "phase"},
			why:     "upstream has the engine's own bound, of some hundred MiB"},
		{name: "tables", wasm: wasmtest.Build(func(m *wasmtest.Module) {
			m.Table(0, -1)
			m.Hook(pre, nil, wasmtest.NullFunc, c32(1000), wasmtest.TableGrow, c32(-1), wasmtest.Sub32,
				wasmtest.IfZeroTrap, c32(0))
		}), raw: raw, o: limited(abi.Limits{TableElements: 100}), code: abi.CodeMemory,
			differs: []string{"code", "hint", "message", "phase"},
			why:     "upstream does not count them"},
		{name: "calls without a loop", wasm: exponential(28), raw: raw, o: limited(abi.Limits{TimeoutMS: 100}),
			code:    abi.CodeDeadline,
			differs: []string{"logs", "message"},
			why: "upstream looks at the clock in loops alone: the guest runs to its end, which its log line " +
				"shows, and only its answer is refused"},
		{name: "load outside", wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			m.Hook(pre, nil, c64(1<<40), call(imp("load_u8", "l", "i")))
		}), raw: raw, code: abi.CodeTrap, differs: []string{"code", "message", "phase"},
			why: "the kernel answers 0"},
		{name: "store outside", wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			m.Hook(pre, nil, c64(1<<40), c32(1), call(imp("store_u8", "li", "")), c32(0))
		}), raw: raw, code: abi.CodeTrap, differs: []string{"code", "message", "phase"},
			why: "the kernel does nothing"},
		{name: "output outside", wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			m.Hook(pre, nil, c64(1<<40), c64(8), call(imp("output_set", "ll", "")), c32(0))
		}), raw: raw, code: abi.CodeTrap, differs: []string{"code", "message", "phase"},
			why: "the kernel takes it for no output"},
		{name: "read across the input's end", wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			m.Hook(pre, nil, c64(6), call(imp("input_load_u64", "l", "l")), wasmtest.Wrap64)
		}), raw: raw, differs: []string{"code", "message", "phase"},
			why: "0 here; the SDK reads what lies behind the input"},
		{name: "input_set", wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			m.Hook(pre, nil, c64(0), c64(0), call(imp("input_set", "ll", "")), c32(0))
		}), raw: raw, code: abi.CodeDenied, differs: []string{"code", "message", "phase"},
			why: "no PDK calls it, and the input is the host's"},
		{name: "memory_bytes", wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			m.Hook(pre, nil, call(imp("memory_bytes", "", "l")), wasmtest.Wrap64)
		}), raw: raw, differs: []string{"code", "message", "phase"},
			why: "there is no memory until there is a block; the kernel begins with a page"},
		{name: "input nearly as large as the memory", wasm: wasmtest.Nothing(pre), raw: make([]byte, 4<<20-100),
			o:       limited(abi.Limits{MemoryMB: 4}),
			differs: []string{"code", "hint", "message", "phase"},
			why:     "the kernel keeps a copy of it, which counts; here a guest reads the host's"},
		{name: "variables over the memory", wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			text, alloc, varSet := wasmtest.Texts(imp), imp("alloc", "l", "l"), imp("var_set", "ll", "")
			var code []byte
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				code = slices.Concat(code, text(0, name), get(0), c64(1<<20), call(alloc), call(varSet))
			}
			m.Hook(pre, i64, code, c32(0))
		}), raw: raw, o: limited(abi.Limits{MemoryMB: 4}), code: abi.CodeMemory,
			differs: []string{"code", "hint", "message"},
			why:     "the SDK keeps variables beside its memory, within the same limit, and says so in its own words"},
	}
}

// spin is a guest that counts to n.
func spin(n int32) []byte {
	return wasmtest.Build(func(m *wasmtest.Module) {
		m.Hook(pre, []wasmtest.Type{wasmtest.I32}, wasmtest.While(
			wasmtest.Get(0), wasmtest.Const32(1), wasmtest.Add32, wasmtest.Set(0), wasmtest.Get(0), wasmtest.Const32(n),
			wasmtest.LtU32), wasmtest.Const32(0))
	})
}

// nested is a guest that calls itself n times before it returns.
func nested(n int32) []byte {
	return wasmtest.Build(func(m *wasmtest.Module) {
		i32 := []wasmtest.Type{wasmtest.I32}
		m.Func(i32, i32, nil, wasmtest.Get(0), []byte{0x04, 0x7f},
			wasmtest.Get(0), wasmtest.Const32(1), wasmtest.Sub32, wasmtest.Call(0), []byte{0x05}, wasmtest.Const32(0),
			[]byte{0x0b})
		m.Hook(pre, nil, wasmtest.Const32(n), wasmtest.Call(0))
	})
}

// exponential is a guest of functions that each call the one before twice, and
// a line of log at its end.
func exponential(depth int) []byte {
	return wasmtest.Build(func(m *wasmtest.Module) {
		i32 := wasmtest.I32
		write := m.Import("wasi_snapshot_preview1", "fd_write", []wasmtest.Type{i32, i32, i32, i32}, []wasmtest.Type{i32})
		m.Memory(1, -1, "memory")
		m.Data(0, []byte{64, 0, 0, 0, 4, 0, 0, 0})
		m.Data(64, []byte("done"))
		f := m.Func(nil, nil, nil)
		for range depth {
			f = m.Func(nil, nil, nil, wasmtest.Call(f), wasmtest.Call(f))
		}
		m.Hook(pre, nil, wasmtest.Call(f), wasmtest.Const32(1), wasmtest.Const32(0), wasmtest.Const32(1),
			wasmtest.Const32(16), wasmtest.Call(write))
	})
}
