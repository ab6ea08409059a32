package hostile_test

import (
	"bytes"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// Form are modules that are none, or that ask for what no plugin has: all are
// refused before the engine sees them.
func Form() []Guest {
	return slices.Concat(malformed(), foreign(), reserved())
}

func refused(name, why string, wasm func() []byte) Guest {
	return Guest{Name: name, Why: why, Wasm: wasm, Code: abi.CodeRefused}
}

// raw is a module of the given sections.
func raw(sections ...[]byte) func() []byte {
	return func() []byte { return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), slices.Concat(sections...)) }
}

// code is a module with one more function, of the given instructions.
func code(instructions ...[]byte) func() []byte {
	return write(func(m *module) {
		m.Memory(1, -1, "memory")
		innocent(m)
		m.Func(nil, nil, nil, instructions...)
	})
}

func malformed() []Guest {
	sec := wasmtest.Section
	most := []byte{0xff, 0xff, 0xff, 0xff, 0x0f} // 2^32 - 1
	return []Guest{
		refused("nothing", "an empty file", func() []byte { return nil }),
		refused("text", "a file of another kind", func() []byte { return []byte("(module)") }),
		refused("component", "a component, not a module", func() []byte { return []byte("\x00asm\x0d\x00\x01\x00") }),
		refused("a count of types that lies", "4 billion of them in 5 bytes", raw(sec(1, most))),
		refused("a count of functions that lies", "and no code", raw(sec(1, []byte{1, 0x60, 0, 0}), sec(3, most))),
		refused("a count of elements that lies", "in a segment", raw(sec(9, slices.Concat([]byte{1, 1, 0}, most)))),
		refused("a count of locals that lies", "4 billion locals in one entry",
			raw(sec(1, []byte{1, 0x60, 0, 0}), sec(3, []byte{1, 0}), sec(10, slices.Concat([]byte{1, 8, 1}, most, []byte{0x7f,
				0x0b})))),
		refused("locals that add up", "two entries of 2^31",
			raw(sec(1, []byte{1, 0x60, 0, 0}), sec(3, []byte{1, 0}), sec(10, slices.Concat([]byte{1, 14, 2}, []byte{0x80, 0x80,
				0x80, 0x80, 0x08, 0x7f}, []byte{0x80, 0x80, 0x80, 0x80, 0x08, 0x7e}, []byte{0x0b})))),
		refused("a section that is too long", "for the file", raw([]byte{1}, most)),
		refused("sections out of order", "functions before types", raw(sec(3, []byte{0}), sec(1, []byte{0}))),
		refused("a section twice", "two of types", raw(sec(1, []byte{0}), sec(1, []byte{0}))),
		refused("an unknown section", "of kind 42", raw(sec(42, nil))),
		refused("a number that is too long", "a LEB128 of 11 bytes", raw(sec(1, append(bytes.Repeat([]byte{0x80}, 10), 0)))),
		refused("no code", "a function without a body", raw(sec(1, []byte{1, 0x60, 0, 0}), sec(3, []byte{1, 0}))),
		refused("unbalanced blocks", "an end too many", code(op(0x0b))),
		refused("a block that is open", "an end too few", code(op(0x02, 0x40))),
		refused("an unknown opcode", "", code(op(0x27))),
		refused("no types", "an i32 less than needed", code(wasmtest.Add32, wasmtest.Drop)),
		refused("tail calls", "a proposal", code(op(0x12, 0))),
		refused("exceptions", "another", code(op(0x06, 0x40, 0x19, 0x0b))),
		refused("threads", "another", code(c32(0), op(0xfe, 0x10, 2, 0), wasmtest.Drop)),
		refused("typed references", "another", code(op(0xd4))),
		refused("garbage collection", "another", code(op(0xfb, 0x01, 0))),
		refused("relaxed vectors", "another", code(op(0xfd, 0x80, 0x02), wasmtest.Drop)),
		refused("shared memory", "threads again", raw(sec(5, []byte{1, 3, 1, 2}))),
		refused("64-bit memory", "another", raw(sec(5, []byte{1, 4, 1}))),
		refused("two memories", "another", write(func(m *module) { m.Memory(1, -1, ""); m.Memory(1, -1, ""); innocent(m) })),
		refused("a name that is no text", "an export of bytes that are no UTF-8",
			write(func(m *module) { innocent(m); m.Export("\xff\xfe", 0) })),
	}
}

func foreign() []Guest {
	imports := func(name, why, from, what string, params, results []vt) Guest {
		return refused(name, why, write(func(m *module) { m.Import(from, what, params, results); innocent(m) }))
	}
	return []Guest{
		imports("an unknown module", "the host has none of that name", "env", "system", i32, i32),
		imports("an unknown function", "in a known module", wasi, "path_chmod", i32, i32),
		imports("another signature", "than the function has", abi.ImportModule, "output_write", i64, i64),
		refused("an imported memory", "memory is the guest's own",
			write(func(m *module) { m.ImportMemory("env", "memory", 1); innocent(m) })),
		refused("two exports of a name", "which of them is the hook?", write(func(m *module) { innocent(m); innocent(m) })),
		refused("a hook with parameters", "hooks take nothing",
			write(func(m *module) { m.Export(Hook, m.Func(i32, i32, nil, c32(0))) })),
		refused("a hook with another result", "and return an i32",
			write(func(m *module) { m.Export(Hook, m.Func(nil, i64, nil, c64(0))) })),
		refused("a hook that is a memory", "a function is called", write(func(m *module) { m.Memory(1, -1, Hook) })),
		refused("a hook out of range", "function 1,000 of 1",
			write(func(m *module) { innocent(m); m.Export("post_compact", 1000) })),
		refused("no hook", "there is nothing to call",
			write(func(m *module) { m.Export("main", m.Func(nil, i32, nil, c32(0))) })),
		refused("an import with a huge name", "it is cut in the error",
			write(func(m *module) { m.Import(strings.Repeat("x", 1<<20), "\x1b[2J", nil, nil); innocent(m) })),
	}
}

// reserved are modules that reach for what the meter adds. Their own indices
// end where its begin.
func reserved() []Guest {
	return []Guest{
		refused("import the tick", "its module is the host's", write(func(m *module) {
			m.Import("kagewasm:meter", "tick", []vt{wasmtest.I32, wasmtest.I32}, i32)
			innocent(m)
		})),
		refused("export the fuel", "names that begin like the host's are refused",
			write(func(m *module) { innocent(m); m.Export("kagewasm.fuel", 0) })),
		refused("export the start", "those of detached modules, too",
			write(func(m *module) { innocent(m); m.Export("kagewasm.start", 0) })),
		refused("read the fuel", "global 0 of none: there is one only after rewriting",
			code(wasmtest.GetGlobal(0), wasmtest.Drop)),
		refused("write the fuel", "which would be time for ever", code(c32(1<<30), wasmtest.SetGlobal(0))),
		refused("write the depth", "which would be stack for ever", code(c32(1<<30), wasmtest.SetGlobal(1))),
		refused("call the meter", "function 2 of 2", code(call(2))),
		refused("refer to the meter", "or take a reference of it", code(wasmtest.RefFunc(2), wasmtest.Drop)),
		refused("put the meter into a table", "or an element",
			write(func(m *module) { innocent(m); m.Table(4, -1); m.Elements(0, 1, 2, 3) })),
		refused("start with the meter", "or begin with it", write(func(m *module) { innocent(m); m.Start(1) })),
		refused("export the meter", "or export it", write(func(m *module) { innocent(m); m.Export("x", 2) })),
		refused("a type of the meter", "or use its type", code(c32(0), wasmtest.CallIndirect(9))),
		refused("a global of the meter as an offset", "or its globals in a segment", write(func(m *module) {
			m.Memory(1, -1, "memory")
			innocent(m)
			m.DataAt(wasmtest.GetGlobal(0), []byte("x"))
		})),
	}
}
