package wasmtest

import (
	"encoding/binary"
	"slices"
)

// Type is the type of a value.
type Type byte

// The types of values and of table elements.
const (
	I32     Type = 0x7f
	I64     Type = 0x7e
	F32     Type = 0x7d
	F64     Type = 0x7c
	V128    Type = 0x7b
	FuncRef Type = 0x70
)

// Func is the index of a function.
type Func uint32

// Module is a module being written. Make one with [New].
type Module struct {
	types, imports, funcs, tables, memories list
	globals, exports, elements, codes, data list
	start, dataCount                        []byte
	customs                                 []byte
	imported, defined                       uint32
}

// New starts an empty module.
func New() *Module { return &Module{} }

// list is the content of a section: entries and how many.
type list struct {
	n     uint32
	bytes []byte
}

func (l *list) add(b ...byte) {
	l.n++
	l.bytes = append(l.bytes, b...)
}

func (m *Module) typeOf(params, results []Type) uint32 {
	b := []byte{0x60}
	for _, side := range [][]Type{params, results} {
		b = append(b, leb(uint64(len(side)))...)
		for _, t := range side {
			b = append(b, byte(t))
		}
	}
	m.types.add(b...)
	return m.types.n - 1
}

// Import imports a function. Imports come before the first [Module.Func].
func (m *Module) Import(module, name string, params, results []Type) Func {
	if m.defined > 0 {
		panic("wasmtest: import after a function")
	}
	m.imports.add(slices.Concat(text(module), text(name), []byte{0x00}, leb(uint64(m.typeOf(params, results))))...)
	m.imported++
	return Func(m.imported - 1)
}

// ImportMemory imports a memory of at least min pages.
func (m *Module) ImportMemory(module, name string, min uint32) {
	m.imports.add(slices.Concat(text(module), text(name), []byte{0x02, 0x00}, leb(uint64(min)))...)
}

// Func adds a function; code is its instructions without the last end.
func (m *Module) Func(params, results, locals []Type, code ...[]byte) Func {
	m.funcs.add(leb(uint64(m.typeOf(params, results)))...)
	body := leb(uint64(len(locals)))
	for _, t := range locals {
		body = append(body, 0x01, byte(t))
	}
	body = append(append(body, slices.Concat(code...)...), opEnd)
	m.codes.add(append(leb(uint64(len(body))), body...)...)
	m.defined++
	return Func(m.imported + m.defined - 1)
}

// Type adds a type of functions, for [CallIndirect].
func (m *Module) Type(params, results []Type) uint32 { return m.typeOf(params, results) }

// Passive adds data that is put nowhere, for [MemoryInit].
func (m *Module) Passive(bytes []byte) {
	m.data.add(slices.Concat([]byte{0x01}, leb(uint64(len(bytes))), bytes)...)
	m.dataCount = leb(uint64(m.data.n))
}

// PassiveElements adds functions that are put nowhere, for [TableInit].
func (m *Module) PassiveElements(funcs ...Func) {
	b := append([]byte{0x01, 0x00}, leb(uint64(len(funcs)))...)
	for _, f := range funcs {
		b = append(b, leb(uint64(f))...)
	}
	m.elements.add(b...)
}

// Hook adds a function () -> i32 and exports it.
func (m *Module) Hook(name string, locals []Type, code ...[]byte) Func {
	f := m.Func(nil, []Type{I32}, locals, code...)
	m.Export(name, f)
	return f
}

// Export exports a function.
func (m *Module) Export(name string, f Func) {
	m.exports.add(slices.Concat(text(name), []byte{0x00}, leb(uint64(f)))...)
}

// Memory adds a memory of min pages that may grow to max; a negative max is
// none. A name exports it.
func (m *Module) Memory(min uint32, max int64, export string) {
	m.memories.add(limits(min, max)...)
	if export != "" {
		m.exports.add(slices.Concat(text(export), []byte{0x02}, leb(uint64(m.memories.n-1)))...)
	}
}

// Table adds a table of function references; a negative max is none.
func (m *Module) Table(min uint32, max int64) {
	m.tables.add(append([]byte{byte(FuncRef)}, limits(min, max)...)...)
}

// Global adds a global with a constant as its first value, and returns its
// index.
func (m *Module) Global(t Type, mutable bool, value []byte) uint32 {
	flag := byte(0)
	if mutable {
		flag = 1
	}
	m.globals.add(slices.Concat([]byte{byte(t), flag}, value, []byte{opEnd})...)
	return m.globals.n - 1
}

// Elements puts functions into table 0 from index at on.
func (m *Module) Elements(at int32, funcs ...Func) {
	b := slices.Concat([]byte{0x00}, Const32(at), []byte{opEnd}, leb(uint64(len(funcs))))
	for _, f := range funcs {
		b = append(b, leb(uint64(f))...)
	}
	m.elements.add(b...)
}

// Data puts bytes into the memory at an address.
func (m *Module) Data(at int32, bytes []byte) {
	m.DataAt(Const32(at), bytes)
}

// DataAt puts bytes into the memory at an address that is an expression.
func (m *Module) DataAt(at, bytes []byte) {
	m.data.add(slices.Concat([]byte{0x00}, at, []byte{opEnd}, leb(uint64(len(bytes))), bytes)...)
}

// Start makes f the start function.
func (m *Module) Start(f Func) { m.start = leb(uint64(f)) }

// Custom adds a custom section at the end.
func (m *Module) Custom(name string, content []byte) {
	m.customs = append(m.customs, Section(0, append(text(name), content...))...)
}

// FuncNames adds a name section with a name for each function, from the first
// one on, imports included.
func (m *Module) FuncNames(names ...string) {
	var l list
	for i, n := range names {
		l.add(append(leb(uint64(i)), text(n)...)...)
	}
	sub := append(leb(uint64(l.n)), l.bytes...)
	m.Custom("name", slices.Concat([]byte{0x01}, leb(uint64(len(sub))), sub))
}

// Bytes is the module.
func (m *Module) Bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	add := func(id byte, l list) {
		if l.n > 0 {
			out = append(out, Section(id, append(leb(uint64(l.n)), l.bytes...))...)
		}
	}
	add(1, m.types)
	add(2, m.imports)
	add(3, m.funcs)
	add(4, m.tables)
	add(5, m.memories)
	add(6, m.globals)
	add(7, m.exports)
	if m.start != nil {
		out = append(out, Section(8, m.start)...)
	}
	add(9, m.elements)
	if m.dataCount != nil {
		out = append(out, Section(12, m.dataCount)...)
	}
	add(10, m.codes)
	add(11, m.data)
	return append(out, m.customs...)
}

// Section is a section of any kind, for what no other function writes.
func Section(id byte, content []byte) []byte {
	return slices.Concat([]byte{id}, leb(uint64(len(content))), content)
}

// WithSection returns the module with a custom section added at its end.
func WithSection(wasm []byte, name string, content []byte) []byte {
	return slices.Concat(wasm, Section(0, append(text(name), content...)))
}

func text(s string) []byte { return append(leb(uint64(len(s))), s...) }

func limits(min uint32, max int64) []byte {
	if max < 0 {
		return append([]byte{0x00}, leb(uint64(min))...)
	}
	return slices.Concat([]byte{0x01}, leb(uint64(min)), leb(uint64(max)))
}

func leb(v uint64) []byte { return binary.AppendUvarint(nil, v) }

func sleb(v int64) []byte {
	var b []byte
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// Build is the module that f makes.
func Build(f func(*Module)) []byte {
	m := New()
	f(m)
	return m.Bytes()
}

// WithHook adds a hook pre_compact that answers nothing.
func WithHook(m *Module) { m.Hook("pre_compact", nil, Const32(0)) }

// WASI imports a WASI function of i32 parameters.
func WASI(m *Module, name string, params int) Func {
	return m.Import("wasi_snapshot_preview1", name, slices.Repeat([]Type{I32}, params), []Type{I32})
}
