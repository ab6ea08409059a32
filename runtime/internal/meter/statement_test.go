package meter_test

import (
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// statements writes some statements.
func (p *program) statements(n int) {
	for range n {
		if p.budget--; p.budget < 0 {
			return
		}
		p.statement()
	}
}

func (p *program) statement() {
	// Sometimes with operands below that are not its own.
	if p.IntN(6) == 0 {
		t := p.locals[p.params+p.IntN(5)]
		p.expr(t, 1)
		defer func() { p.index(wasm.OpLocalSet, p.local(t)) }()
	}
	switch p.IntN(14) {
	case 0, 1:
		t := p.locals[p.params+p.IntN(5)]
		p.expr(t, 3)
		p.index(wasm.OpLocalSet, p.local(t))
	case 2:
		p.expr(wasm.I32, 2)
		p.index(wasm.OpGlobalSet, globalSome)
	case 3:
		p.address()
		p.expr(wasm.I64, 2)
		p.op(0x37, 0, byte(p.IntN(100))) // i64.store
	case 4:
		p.block()
	case 5:
		p.loop()
	case 6:
		p.tight()
	case 7:
		p.condition()
	case 8:
		p.dispatch()
	case 9, 10:
		p.call()
	case 11:
		p.ranged()
	case 12:
		p.leaveIf()
	case 13:
		p.switches()
	}
}

// address is one in the memory.
func (p *program) address() {
	p.expr(wasm.I32, 1)
	p.i32(1<<16 - 1)
	p.op(0x71)
}

// blockType is an index of a type that is there already, void mostly.
func (p *program) blockType() (wasm.FuncType, []byte) {
	if p.IntN(2) == 0 {
		return wasm.FuncType{}, []byte{0x40}
	}
	i := p.IntN(len(p.types))
	return p.types[i], wasm.AppendS64(nil, int64(i))
}

// open writes the begin of a block, with what it takes on the stack, and puts
// that into locals.
func (p *program) open(op byte, typ wasm.FuncType, code []byte, l label) {
	p.op(append([]byte{op}, code...)...)
	p.labels = append(p.labels, l)
	p.begin()
	p.drop(typ.Params)
}

// drop puts operands into locals.
func (p *program) drop(types []wasm.ValueType) {
	for _, t := range slices.Backward(types) {
		p.index(wasm.OpLocalSet, p.local(t))
	}
}

// close writes the end of a block with its results, or leaves it in another
// way.
func (p *program) close(typ wasm.FuncType) {
	switch p.IntN(8) {
	case 0:
		p.leave()
		p.dead()
	default:
		p.exprs(typ.Results)
	}
	p.op(wasm.OpEnd)
	p.labels = p.labels[:len(p.labels)-1]
	p.begin()
	p.drop(typ.Results)
}

func (p *program) block() {
	typ, code := p.blockType()
	p.exprs(typ.Params)
	p.open(wasm.OpBlock, typ, code, label{takes: typ.Results})
	p.statements(1 + p.IntN(4))
	p.close(typ)
}

func (p *program) condition() {
	typ, code := p.blockType()
	p.exprs(typ.Params)
	p.expr(wasm.I32, 2)
	p.open(wasm.OpIf, typ, code, label{takes: typ.Results})
	p.statements(1 + p.IntN(3))
	if len(typ.Params) > 0 || len(typ.Results) > 0 || p.IntN(2) == 0 {
		p.exprs(typ.Results)
		p.op(wasm.OpElse)
		p.begin()
		p.drop(typ.Params)
		p.statements(1 + p.IntN(3))
	}
	p.close(typ)
}

// enter begins a loop with a local that bounds its turns.
func (p *program) enter(typ wasm.FuncType, code []byte) {
	trips := p.newLocal(wasm.I32)
	p.i32(int32(p.IntN(5)))
	p.index(wasm.OpLocalSet, trips)
	p.exprs(typ.Params)
	p.open(wasm.OpLoop, typ, code, label{takes: typ.Params, loop: true, trips: trips})
}

func (p *program) loop() {
	typ, code := p.blockType()
	p.enter(typ, code)
	p.statements(1 + p.IntN(4))
	p.again(0)
	p.close(typ)
}

// tight is a loop that calls nothing.
func (p *program) tight() {
	typ, code := p.blockType()
	typ.Params = nil
	if code[0] != 0x40 {
		typ, code = wasm.FuncType{Results: []wasm.ValueType{wasm.I32}}, []byte{byte(wasm.I32)}
	}
	p.enter(typ, code)
	for range 1 + p.IntN(4) {
		switch p.IntN(5) {
		case 0:
			p.leaveIf()
		case 1:
			p.expr(wasm.I32, 1)
			p.op(wasm.OpIf, 0x40)
			p.labels = append(p.labels, label{})
			p.begin()
			p.leave()
			p.op(wasm.OpEnd)
			p.labels = p.labels[:len(p.labels)-1]
			p.begin()
		default:
			t := p.locals[p.params+p.IntN(5)]
			p.expr(t, 3)
			p.index(wasm.OpLocalSet, p.local(t))
		}
	}
	p.again(0)
	p.close(typ)
}

// again goes back to a loop if it may take another turn.
func (p *program) again(depth int) {
	l := p.labels[len(p.labels)-1-depth]
	p.exprs(l.takes)
	p.turn(l)
	p.index(wasm.OpBrIf, uint32(depth))
	p.begin()
	p.drop(l.takes)
}

// turn leaves on the stack whether a loop may take another turn.
func (p *program) turn(l label) {
	if p.endless {
		p.i32(1)
		return
	}
	p.index(wasm.OpLocalGet, l.trips)
	p.i32(1)
	p.op(0x6b)
	p.index(wasm.OpLocalTee, l.trips)
	p.i32(0)
	p.op(0x4a) // gt_s
}

// leaveIf branches to any label on a condition.
func (p *program) leaveIf() {
	depth := p.IntN(len(p.labels))
	l := p.labels[len(p.labels)-1-depth]
	if l.loop {
		p.again(depth)
		return
	}
	p.exprs(l.takes)
	p.expr(wasm.I32, 2)
	p.index(wasm.OpBrIf, uint32(depth))
	p.begin()
	p.drop(l.takes)
}

// leave goes elsewhere for good, but never back.
func (p *program) leave() {
	depth := p.IntN(len(p.labels))
	l := p.labels[len(p.labels)-1-depth]
	switch {
	case l.loop && !p.endless, p.IntN(4) == 0:
		p.exprs(p.typ.Results)
		p.op(wasm.OpReturn)
	case p.IntN(30) == 0:
		p.op(wasm.OpUnreachable)
	default:
		p.exprs(l.takes)
		p.index(wasm.OpBr, uint32(depth))
	}
	p.begin()
}

// dead is code that never runs, with operands from nowhere.
func (p *program) dead() {
	for range p.IntN(4) {
		switch p.IntN(7) {
		case 0:
			p.op(0x6a, wasm.OpDrop)
		case 1:
			p.op(wasm.OpLoop, 0x40, wasm.OpBr, 0, wasm.OpEnd)
		case 2:
			p.op(wasm.OpMisc, wasm.MiscMemoryFill, 0)
		case 3:
			p.index(wasm.OpCall, uint32(p.callee()))
			p.op(wasm.OpUnreachable)
		case 4:
			p.op(wasm.OpCallIndirect, 0, 0, wasm.OpDrop)
		case 5:
			p.op(wasm.OpMisc, wasm.MiscTableGrow, 0, wasm.OpDrop)
		case 6:
			p.op(wasm.OpLoop, 0x40, wasm.OpI32Const, 1, wasm.OpBrIf, 0, wasm.OpUnreachable, wasm.OpEnd)
		}
	}
	p.op(wasm.OpUnreachable)
	p.begin()
	p.weight = 0
}

// switches branches by a table out of some blocks.
func (p *program) switches() {
	n := 1 + p.IntN(3)
	for range n {
		p.op(wasm.OpBlock, 0x40)
		p.labels = append(p.labels, label{})
		p.begin()
	}
	p.expr(wasm.I32, 2)
	table := wasm.AppendU32([]byte{wasm.OpBrTable}, uint32(n))
	for range n + 1 {
		table = append(table, byte(p.IntN(n)))
	}
	p.op(table...)
	for range n {
		p.op(wasm.OpEnd)
		p.labels = p.labels[:len(p.labels)-1]
		p.begin()
		p.statements(1)
	}
}

// dispatch writes what compilers write for jumps: a loop around blocks around
// a br_table, and behind each block code that jumps to others.
func (p *program) dispatch() {
	n := 2 + p.IntN(4)
	to, trips := p.newLocal(wasm.I32), p.newLocal(wasm.I32)
	p.i32(int32(p.IntN(6)))
	p.index(wasm.OpLocalSet, trips)
	p.i32(int32(p.IntN(n)))
	p.index(wasm.OpLocalSet, to)
	p.op(wasm.OpBlock, 0x40)
	p.labels = append(p.labels, label{})
	p.begin()
	p.op(wasm.OpLoop, 0x40)
	back := label{loop: true, trips: trips}
	p.labels = append(p.labels, back)
	p.begin()
	for range n {
		p.op(wasm.OpBlock, 0x40)
		p.labels = append(p.labels, label{})
	}
	p.index(wasm.OpLocalGet, to)
	table := wasm.AppendU32([]byte{wasm.OpBrTable}, uint32(n-1))
	for i := range n {
		table = append(table, byte(i))
	}
	p.op(table...)
	for i := range n {
		p.op(wasm.OpEnd)
		p.labels = p.labels[:len(p.labels)-1]
		p.begin()
		p.statements(1)
		for range p.IntN(3) {
			p.jump(i, n, to, back)
		}
	}
	p.again(0)
	p.op(wasm.OpEnd)
	p.labels = p.labels[:len(p.labels)-1]
	p.begin()
	p.op(wasm.OpEnd)
	p.labels = p.labels[:len(p.labels)-1]
	p.begin()
}

// jump jumps from behind block i of a dispatch of n, on a condition.
func (p *program) jump(i, n int, to uint32, l label) {
	target := p.IntN(n)
	depth := n - 1 - i // the loop, from behind block i
	if target <= i {
		p.turn(l)
	} else {
		p.expr(wasm.I32, 1)
	}
	p.op(wasm.OpIf, 0x40)
	p.begin()
	p.i32(int32(target))
	p.index(wasm.OpLocalSet, to)
	if target > i {
		p.weight -= meter.CostDispatch // the rewritten one does not pass it
	}
	p.index(wasm.OpBr, uint32(depth+1))
	p.op(wasm.OpEnd)
	p.begin()
}

func (p *program) call() {
	f := p.callee()
	typ := p.types[p.funcs[f]]
	p.exprs(typ.Params)
	switch {
	case p.IntN(3) > 0:
		p.index(wasm.OpCall, uint32(f))
		if f == imported {
			p.weight += meter.CostImport
		}
	default: // whatever is there, if it is of the type
		p.expr(wasm.I32, 1)
		p.i32(15)
		p.op(0x71)
		p.op(wasm.OpCallIndirect, byte(p.funcs[f]), 0)
	}
	p.begin()
	p.drop(typ.Results)
}
