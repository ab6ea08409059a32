package meter_test

import (
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// ranged is an operation on a range, or one of tables.
func (p *program) ranged() {
	if p.IntN(2) == 0 {
		p.tables()
		return
	}
	lengths := []int32{0, 9, 200, 70_000, 1<<20 - 1, 1 << 20, 1<<20 + 1, 2_300_000}
	kind := p.IntN(3)
	if kind == 0 {
		lengths = []int32{0, 9, 200, dataLength, dataLength + 1}
	}
	length := lengths[p.IntN(len(lengths))]
	p.place()
	switch kind {
	case 0:
		p.i32(0)
		p.i32(length)
		p.op(wasm.OpMisc, wasm.MiscMemoryInit, 0, 0)
	case 1:
		p.expr(wasm.I32, 1)
		p.i32(length)
		p.op(wasm.OpMisc, wasm.MiscMemoryFill, 0)
	case 2:
		p.place()
		p.i32(length)
		p.op(wasm.OpMisc, wasm.MiscMemoryCopy, 0, 0)
	}
	p.moved(length >> meter.BytesShift)
}

// place is an address from which even a long range is mostly in the memory.
func (p *program) place() {
	p.i32(int32([]int{0, 1, 8, 1 << 16, 300_000, 300_001, 3_000_000}[min(p.IntN(12), 6)]))
}

// moved counts, behind an operation, what it has done.
func (p *program) moved(units int32) {
	p.begin()
	p.weight += int64(units)
	p.begin()
}

// tables is an operation on the table.
func (p *program) tables() {
	length := int32(p.IntN(5))
	switch p.IntN(7) {
	case 0:
		p.i32(int32(p.IntN(3)))
		p.refFunc()
		p.i32(length)
		p.op(wasm.OpMisc, wasm.MiscTableFill, 0)
	case 1:
		p.i32(int32(p.IntN(3)))
		p.i32(int32(p.IntN(3)))
		p.i32(length)
		p.op(wasm.OpMisc, wasm.MiscTableInit, 1, 0)
	case 2:
		p.i32(int32(p.IntN(3)))
		p.i32(int32(p.IntN(3)))
		p.i32(length)
		p.op(wasm.OpMisc, wasm.MiscTableCopy, 0, 0)
	case 3:
		p.refFunc()
		p.op(wasm.OpI32Const, 1, wasm.OpMisc, wasm.MiscTableGrow, 0)
		p.index(wasm.OpLocalSet, p.local(wasm.I32))
		return
	case 4:
		p.op(wasm.OpI32Const, 1, wasm.OpMemoryGrow, 0)
		p.index(wasm.OpLocalSet, p.local(wasm.I32))
		return
	case 5:
		p.i32(int32(p.IntN(tableSize)))
		p.refFunc()
		p.op(wasm.OpTableSet, 0)
		return
	case 6:
		p.op(wasm.OpMisc, wasm.MiscTableSize, 0)
		p.index(wasm.OpLocalSet, p.local(wasm.I32))
		return
	}
	p.moved(length)
}

func (p *program) refFunc() { p.index(wasm.OpRefFunc, uint32(p.callee())) }

// callee is any function but the first, which sets the bound.
func (p *program) callee() int {
	if f := p.IntN(len(p.funcs)); f != 1 {
		return f
	}
	return imported
}
