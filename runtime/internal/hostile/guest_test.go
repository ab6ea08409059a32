package hostile_test

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// Hook is the hook of all guests.
const Hook = string(abi.HookPreCompact)

// Guest is a module that misbehaves. Its call has the default limits.
type Guest struct {
	Name string
	Why  string // what it tries, and what stops it
	Wasm func() []byte
	// Code is what a call ends with: deadline, where nothing but time and fuel
	// end it. It is refused where the module is not to be loaded, and empty
	// where the guest does no harm.
	Code abi.Code
	// Phase is where the call ends; the zero value is that of the call itself.
	Phase abi.Phase
	// Judged is what a compaction says to its answer as a compactor. Empty: what the
	// call ended with.
	Judged abi.Code
	// OrRefused: the module may be refused as well; what matters is that
	// either is decided soon.
	OrRefused bool
	// Asks for capabilities, which tests grant.
	Asks []abi.Capability
}

// All are the guests of all topics.
func All() []Guest {
	return slices.Concat(Time(), Memory(), Stack(), Compile(), Loading(), Form(), Output(), Answers(), Host())
}

// Manifest is what a guest that asks for capabilities says of itself, nil for
// all others.
func (g *Guest) Manifest() *abi.Manifest {
	if g.Asks == nil {
		return nil
	}
	m := &abi.Manifest{Name: "hostile", ABI: abi.Version, Hooks: []abi.Hook{abi.HookPreCompact},
		Capabilities: make(map[abi.Capability]abi.Request)}
	for _, c := range g.Asks {
		m.Capabilities[c] = abi.Request{Reason: "to misuse it"}
	}
	return m
}

// Short names for what every guest is written with.
type (
	module = wasmtest.Module
	fn     = wasmtest.Func
	vt     = wasmtest.Type
)

var (
	c32  = wasmtest.Const32
	c64  = wasmtest.Const64
	get  = wasmtest.Get
	set  = wasmtest.Set
	call = wasmtest.Call
	op   = wasmtest.Op

	i32 = []vt{wasmtest.I32}
	i64 = []vt{wasmtest.I64}
)

// A page of memory, and how many of them the guests have by default: as many
// as they may.
const (
	page  = 1 << 16
	pages = 1024
)

// write builds a module.
func write(f func(m *module)) func() []byte {
	return func() []byte {
		m := wasmtest.New()
		f(m)
		return m.Bytes()
	}
}

// hook is a module whose hook runs the code, with all the memory there is.
func hook(locals []vt, code ...[]byte) func() []byte {
	return write(func(m *module) {
		m.Memory(pages, -1, "memory")
		m.Hook(Hook, locals, append(code, c32(0))...)
	})
}

// endless is hook for code that a loop repeats.
func endless(locals []vt, code ...[]byte) func() []byte {
	return hook(locals, wasmtest.Forever(code...))
}

// innocent adds a hook that answers nothing.
func innocent(m *module) { m.Hook(Hook, nil, c32(0)) }

// tower repeats code without a loop: a function calls the one below n times,
// levels of them, and the lowest is the code n times.
func tower(m *module, n, levels int, code ...[]byte) fn {
	f := m.Func(nil, nil, nil, wasmtest.Times(n, code...))
	for range levels {
		f = m.Func(nil, nil, nil, wasmtest.Times(n, call(f)))
	}
	return f
}

// towered is a hook whose code is repeated for ever, nearly, without a loop.
func towered(n int, prepare func(m *module), code ...[]byte) func() []byte {
	return write(func(m *module) {
		m.Memory(pages, -1, "memory")
		if prepare != nil {
			prepare(m)
		}
		f := tower(m, n, 4, code...)
		m.Hook(Hook, nil, call(f), c32(0))
	})
}
