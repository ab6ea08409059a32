package wasmtest

import (
	"encoding/binary"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// dataAt is where the guests keep their constants.
const dataAt = 64

// Answer is a guest that answers every call of the hook with the text, JSON or
// not.
func Answer(hook, json string) []byte {
	m := New()
	write := m.OutputWrite()
	m.Memory(pages(dataAt+len(json)), -1, "memory")
	m.Data(dataAt, []byte(json))
	m.Hook(hook, nil, Const32(dataAt), Const32(int32(len(json))), Call(write))
	return m.Bytes()
}

// Nothing is a guest that answers nothing.
func Nothing(hook string) []byte { return only(hook, Const32(0)) }

// Loop is a guest that never returns.
func Loop(hook string) []byte { return only(hook, Forever()) }

// Trap is a guest that hits an unreachable instruction.
func Trap(hook string) []byte { return only(hook, Unreachable) }

// Recurse is a guest that calls itself without end.
func Recurse(hook string) []byte {
	return only(hook, Call(0), Const32(1), Add32)
}

func only(hook string, code ...[]byte) []byte {
	m := New()
	m.Memory(1, -1, "memory")
	m.Hook(hook, nil, code...)
	return m.Bytes()
}

// EatMemory is a guest that grows its memory until it gets no more, and traps
// then.
func EatMemory(hook string) []byte {
	return only(hook, While(Const32(16), MemoryGrow, Const32(-1), Sub32), Unreachable)
}

// Exit is a guest that ends itself with WASI's proc_exit.
func Exit(hook string, code uint32) []byte {
	m := New()
	exit := m.Import("wasi_snapshot_preview1", "proc_exit", []Type{I32}, nil)
	m.Memory(1, -1, "memory")
	m.Hook(hook, nil, Const32(int32(code)), Call(exit), Const32(0))
	return m.Bytes()
}

// Fail is a guest that says why it fails and returns 1.
func Fail(hook, why string) []byte {
	m := New()
	fail := m.Import(abi.ImportModule, "error_write", []Type{I32, I32}, nil)
	m.Memory(pages(dataAt+len(why)), -1, "memory")
	m.Data(dataAt, []byte(why))
	m.Hook(hook, nil, Const32(dataAt), Const32(int32(len(why))), Call(fail), Const32(1))
	return m.Bytes()
}

// HostCall is a guest that makes one host call and answers with the response.
func HostCall(hook, op, request string) []byte {
	m := New()
	write := m.OutputWrite()
	call := m.Import(abi.ImportModule, "host_call", []Type{I32, I32, I32, I32}, []Type{I32})
	read := m.Import(abi.ImportModule, "response_read", []Type{I32, I32, I32}, []Type{I32})
	reqAt := dataAt + len(op)
	respAt := reqAt + len(request)
	m.Memory(pages(respAt+1<<20), -1, "memory")
	m.Data(dataAt, []byte(op+request))
	m.Hook(hook, []Type{I32},
		Const32(dataAt), Const32(int32(len(op))), Const32(int32(reqAt)), Const32(int32(len(request))), Call(call), Set(0),
		Const32(int32(respAt)), Const32(0), Get(0), Call(read), Drop,
		Const32(int32(respAt)), Get(0), Call(write))
	return m.Bytes()
}

// Log is a guest that writes a line to WASI's standard error and answers
// nothing.
func Log(hook, line string) []byte {
	m := New()
	write := m.Import("wasi_snapshot_preview1", "fd_write", []Type{I32, I32, I32, I32}, []Type{I32})
	m.Memory(pages(dataAt+len(line)), -1, "memory")
	m.Data(0, binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, dataAt), uint32(len(line))))
	m.Data(dataAt, []byte(line))
	m.Hook(hook, nil, Const32(2), Const32(0), Const32(1), Const32(16), Call(write))
	return m.Bytes()
}

// Echo is a guest that answers with its input, over the bulk calls.
func Echo(hook string) []byte {
	m := New()
	write := m.OutputWrite()
	length := m.Import(abi.ImportModule, "input_length", nil, []Type{I32})
	read := m.Import(abi.ImportModule, "input_read", []Type{I32, I32, I32}, []Type{I32})
	m.Memory(1, -1, "memory")
	m.Hook(hook, nil,
		// Room for the input, behind the first page.
		Call(length), Const32(16), shiftRight, Const32(1), Add32, MemoryGrow, Drop,
		Const32(1<<16), Const32(1<<16), Const32(0), Call(length), Call(read), Call(write))
	return m.Bytes()
}

// ExtismEcho is a guest that answers with its input, over the calls of the
// Extism ABI: eight bytes at a time, as Extism's own libraries do.
func ExtismEcho(hook string) []byte {
	m := New()
	imp := func(name string, params []Type, results ...Type) Func {
		return m.Import(abi.ExtismModule, name, params, results)
	}
	length := imp("input_length", nil, I64)
	load64 := imp("input_load_u64", []Type{I64}, I64)
	load8 := imp("input_load_u8", []Type{I64}, I32)
	alloc := imp("alloc", []Type{I64}, I64)
	store64 := imp("store_u64", []Type{I64, I64})
	store8 := imp("store_u8", []Type{I64, I32})
	output := imp("output_set", []Type{I64, I64})
	m.Memory(1, -1, "memory")
	const n, at, i = 0, 1, 2
	step := func(by int64) []byte { return slices.Concat(Get(i), Const64(by), Add64, Set(i)) }
	m.Hook(hook, []Type{I64, I64, I64},
		Call(length), Set(n), Get(n), Call(alloc), Set(at),
		Block(
			While(
				Get(i), Const64(8), Add64, Get(n), gtU64, breakOut,
				Get(at), Get(i), Add64, Get(i), Call(load64), Call(store64), step(8), Const32(1)),
		),
		Block(
			While(
				Get(i), Get(n), geU64, breakOut,
				Get(at), Get(i), Add64, Get(i), Call(load8), Call(store8), step(1), Const32(1)),
		),
		Get(at), Get(n), Call(output), Const32(0))
	return m.Bytes()
}

var (
	shiftRight = []byte{0x76}       // i32.shr_u
	gtU64      = []byte{0x56}       // i64.gt_u
	geU64      = []byte{0x5a}       // i64.ge_u
	breakOut   = []byte{0x0d, 0x01} // br_if 1: out of the loop and the block around it
)

// OutputWrite imports the bulk call output_write.
func (m *Module) OutputWrite() Func {
	return m.Import(abi.ImportModule, "output_write", []Type{I32, I32}, []Type{I32})
}

// WithManifest returns the module with a manifest section.
func WithManifest(wasm []byte, manifest string) []byte {
	return WithSection(wasm, abi.ManifestSection, []byte(manifest))
}

// pages is how many pages hold n bytes.
func pages(n int) uint32 { return uint32((n + 1<<16 - 1) >> 16) }
