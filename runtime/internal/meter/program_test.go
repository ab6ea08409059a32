package meter_test

import (
	"math/rand/v2"
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// program is a generated module: functions of nested blocks, loops, branches,
// jumps and calls, with a bound on what runs. It can count by itself the weight
// of what runs.
type program struct {
	*rand.Rand
	endless bool // without the bound
	counts  bool
	types   []wasm.FuncType
	funcs   []int // the types of functions, of the imported one first
	bodies  [][]byte

	// Of the function being written.
	b      []byte
	locals []wasm.ValueType // the parameters included
	params int
	labels []label // the innermost last
	typ    wasm.FuncType
	// The basic block being written: where its count goes, and its weight.
	at     int
	weight int64
	budget int // statements that may still be written
}

// label is what a branch can go to.
type label struct {
	takes []wasm.ValueType
	loop  bool
	trips uint32 // the local that bounds a loop
}

const (
	globalCount = iota // i64: the weight of what ran
	globalGas          // i32: how many calls may still be made
	globalSome         // i32
	globals
)

const (
	gas        = 150
	tableSize  = 12
	memPages   = 40
	dataLength = 3_000
	imported   = 0 // the function (i32) -> i32
)

var i32x1 = []wasm.ValueType{wasm.I32}

// generate writes a program. Equal seeds give the same program, counting or
// not.
func generate(seed uint64, counts, endless bool) []byte {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 1)), counts: counts, endless: endless}
	p.types = []wasm.FuncType{{Params: i32x1, Results: i32x1}, {}}
	for range 3 {
		p.types = append(p.types, wasm.FuncType{Params: p.someTypes(4), Results: p.someTypes(3)})
	}
	p.funcs = []int{imported, 0}
	for range 2 + p.IntN(5) {
		p.funcs = append(p.funcs, p.IntN(len(p.types)))
	}
	for i := range p.funcs[1:] {
		p.function(i == 0, p.types[p.funcs[i+1]])
	}
	return p.module()
}

func (p *program) someTypes(most int) []wasm.ValueType {
	types := make([]wasm.ValueType, p.IntN(most))
	for i := range types {
		types[i] = []wasm.ValueType{wasm.I32, wasm.I32, wasm.I64, wasm.F64, wasm.V128}[p.IntN(5)]
	}
	return types
}

// function writes one function. The first sets the bound for all of them.
func (p *program) function(first bool, typ wasm.FuncType) {
	p.b, p.typ, p.params, p.budget = nil, typ, len(typ.Params), 25
	p.locals = append(slices.Clone(typ.Params), wasm.I32, wasm.I32, wasm.I64, wasm.F64, wasm.V128)
	p.labels = []label{{takes: typ.Results}}
	p.begin()
	switch {
	case first:
		p.i32(gas)
		p.index(wasm.OpGlobalSet, globalGas)
	case !p.endless:
		p.index(wasm.OpGlobalGet, globalGas)
		p.op(wasm.OpI32Eqz, wasm.OpIf, 0x40)
		p.begin()
		p.exprs(typ.Results)
		p.op(wasm.OpReturn)
		p.op(wasm.OpEnd)
		p.begin()
		p.index(wasm.OpGlobalGet, globalGas)
		p.i32(1)
		p.op(0x6b)
		p.index(wasm.OpGlobalSet, globalGas)
	}
	p.statements(2 + p.IntN(5))
	p.exprs(typ.Results)
	p.op(wasm.OpEnd)
	p.end()

	body := wasm.AppendU32(nil, uint32(len(p.locals)-p.params))
	for _, t := range p.locals[p.params:] {
		body = append(body, 1, byte(t))
	}
	p.bodies = append(p.bodies, append(body, p.b...))
}

// begin ends a basic block and begins another.
func (p *program) begin() {
	p.end()
	p.at, p.weight = len(p.b), 0
}

func (p *program) end() {
	if p.counts && p.weight != 0 {
		count := p.countCode(wasm.AppendS64([]byte{wasm.OpI64Const}, p.weight))
		p.b = slices.Insert(p.b, p.at, count...)
	}
	p.weight = 0
}

// countCode adds to the count what code leaves on the stack.
func (p *program) countCode(code []byte) []byte {
	return slices.Concat([]byte{wasm.OpGlobalGet, globalCount}, code, []byte{0x7c, wasm.OpGlobalSet, globalCount})
}

// op writes instructions and notes their weight.
func (p *program) op(code ...byte) {
	var c wasm.Code
	if err := c.Decode(code, wasm.Body{Stop: len(code)}); err != nil {
		panic(err)
	}
	for i := range c.List {
		p.weight += int64(meter.CostOf(&c.List[i]))
	}
	p.b = append(p.b, code...)
}

func (p *program) index(op byte, i uint32) { p.op(wasm.AppendU32([]byte{op}, i)...) }

func (p *program) i32(v int32) { p.op(wasm.AppendS64([]byte{wasm.OpI32Const}, int64(v))...) }

// newLocal adds a local.
func (p *program) newLocal(t wasm.ValueType) uint32 {
	p.locals = append(p.locals, t)
	return uint32(len(p.locals) - 1)
}

// local is any local of a type but those that bound loops, which come last.
func (p *program) local(t wasm.ValueType) uint32 {
	var some []uint32
	for i, typ := range p.locals[:p.params+5] {
		if typ == t {
			some = append(some, uint32(i))
		}
	}
	return some[p.IntN(len(some))]
}

func (p *program) exprs(types []wasm.ValueType) {
	for _, t := range types {
		p.expr(t, 2)
	}
}

// expr writes an expression of a type.
func (p *program) expr(t wasm.ValueType, depth int) {
	pick := p.IntN(8)
	if depth == 0 {
		pick %= 3
	}
	switch {
	case pick < 2:
		p.index(wasm.OpLocalGet, p.local(t))
	case t == wasm.I32:
		p.expr32(pick, depth)
	case t == wasm.I64 && pick == 2:
		p.op(wasm.AppendS64([]byte{wasm.OpI64Const}, p.Int64())...)
	case t == wasm.I64:
		p.expr(wasm.I64, depth-1)
		p.expr(wasm.I64, depth-1)
		p.op([]byte{0x7c, 0x7d, 0x7e, 0x83, 0x85}[p.IntN(5)])
	case t == wasm.F64 && pick == 2:
		p.op(wasm.OpF64Const, 0, 0, 0, 0, 0, 0, byte(p.IntN(256)), 0x40)
	case t == wasm.F64:
		p.expr(wasm.F64, depth-1)
		p.expr(wasm.F64, depth-1)
		p.op([]byte{0xa0, 0xa1, 0xa4}[p.IntN(3)]) // no NaN: its bits are not specified
	case pick == 2:
		p.op(append([]byte{wasm.OpSIMD, 12}, slices.Repeat([]byte{byte(p.IntN(256))}, 16)...)...)
	default:
		p.expr(wasm.V128, depth-1)
		p.expr(wasm.V128, depth-1)
		p.op([][]byte{{0xfd, 0x6e}, {0xfd, 0xae, 1}, {0xfd, 0x51}, {0xfd, 0x4e}}[p.IntN(4)]...)
	}
}

func (p *program) expr32(pick, depth int) {
	switch pick {
	case 2:
		p.i32(int32(p.IntN(300) - 20))
	case 3:
		p.expr(wasm.I32, depth-1)
		p.i32(1<<16 - 1)
		p.op(0x71)                       // and
		p.op(0x2d, 0, byte(p.IntN(100))) // load8_u
	case 4:
		p.index(wasm.OpGlobalGet, globalSome)
	case 5:
		p.expr(wasm.I32, depth-1)
		p.expr(wasm.I32, depth-1)
		p.expr(wasm.I32, depth-1)
		p.op(0x1b) // select
	case 6:
		p.expr(wasm.I64, depth-1)
		p.op(0xa7) // wrap
	default:
		p.expr(wasm.I32, depth-1)
		p.expr(wasm.I32, depth-1)
		ops := []byte{0x6a, 0x6b, 0x6c, 0x71, 0x73, 0x46, 0x48, 0x4b, 0x74}
		if p.IntN(50) == 0 {
			ops = []byte{0x6f} // a remainder, which may trap
		}
		p.op(ops[p.IntN(len(ops))])
	}
}

// module is the whole, all functions exported.
func (p *program) module() []byte {
	vec := func(n int, entries ...[]byte) []byte {
		return append(wasm.AppendU32(nil, uint32(n)), slices.Concat(entries...)...)
	}
	values := func(types []wasm.ValueType) []byte {
		b := wasm.AppendU32(nil, uint32(len(types)))
		for _, t := range types {
			b = append(b, byte(t))
		}
		return b
	}
	var types, funcs, codes, exports, elems [][]byte
	for _, t := range p.types {
		types = append(types, slices.Concat([]byte{0x60}, values(t.Params), values(t.Results)))
	}
	for i, body := range p.bodies {
		funcs = append(funcs, wasm.AppendU32(nil, uint32(p.funcs[i+1])))
		codes = append(codes, append(wasm.AppendU32(nil, uint32(len(body))), body...))
	}
	for i, name := range []string{"first", "second"} {
		exports = append(exports, append(wasm.AppendName(nil, name), wasm.KindFunc, byte(i+1)))
	}
	exports = append(exports, append(wasm.AppendName(nil, "some"), wasm.KindGlobal, globalSome))
	if p.counts {
		exports = append(exports, append(wasm.AppendName(nil, "count"), wasm.KindGlobal, globalCount))
	}
	for i := range tableSize - 2 {
		f := i % len(p.funcs)
		if f == 1 {
			f = imported
		}
		elems = append(elems, wasm.AppendU32(nil, uint32(f)))
	}
	i32Zero := []byte{byte(wasm.I32), 1, wasm.OpI32Const, 0, wasm.OpEnd}
	name := append(wasm.AppendName(wasm.AppendName(nil, "env"), "f"), wasm.KindFunc, 0)

	b := []byte("\x00asm\x01\x00\x00\x00")
	b = wasm.AppendSection(b, wasm.SectionType, vec(len(types), types...))
	b = wasm.AppendSection(b, wasm.SectionImport, vec(1, name))
	b = wasm.AppendSection(b, wasm.SectionFunction, vec(len(funcs), funcs...))
	b = wasm.AppendSection(b, wasm.SectionTable, []byte{1, byte(wasm.FuncRefT), 1, tableSize, 2 * tableSize})
	b = wasm.AppendSection(b, wasm.SectionMemory, []byte{1, 1, memPages, memPages + 2})
	b = wasm.AppendSection(b, wasm.SectionGlobal,
		vec(globals, []byte{byte(wasm.I64), 1, wasm.OpI64Const, 0, wasm.OpEnd}, i32Zero, i32Zero))
	b = wasm.AppendSection(b, wasm.SectionExport, vec(len(exports), exports...))
	b = wasm.AppendSection(b, wasm.SectionElement, slices.Concat([]byte{2, 0, wasm.OpI32Const, 0, wasm.OpEnd},
		vec(len(elems), elems...), []byte{1, 0}, vec(len(elems), elems...)))
	b = wasm.AppendSection(b, wasm.SectionDataCount, []byte{1})
	b = wasm.AppendSection(b, wasm.SectionCode, vec(len(codes), codes...))
	data := slices.Repeat([]byte{7, 9, 11}, dataLength/3)
	return wasm.AppendSection(b, wasm.SectionData, slices.Concat([]byte{1, 1}, vec(len(data), data)))
}
