package wasm

import (
	"errors"
	"fmt"
	"iter"
)

func (m *Module) globals(r *Reader) {
	r.VectorUpTo(maxGlobals, func() {
		m.Globals = append(m.Globals, r.globalType())
		m.init(r)
	})
}

func (m *Module) elements(r *Reader) {
	left := uint32(MaxElements)
	r.VectorUpTo(maxSegments, func() {
		kind := r.U32()
		if kind > 7 {
			r.Fail(fmt.Errorf("an element segment of kind %d", kind))
			return
		}
		active, indexed, exprs := kind&1 == 0, kind&2 != 0, kind&4 != 0
		if active && indexed {
			r.U32() // the table
		}
		if active {
			m.init(r)
		}
		switch {
		case active && !indexed: // functions
		case exprs:
			r.referenceType()
		default:
			r.zero() // functions
		}
		n := r.VectorUpTo(left, func() {
			if exprs {
				m.init(r)
				return
			}
			pos := r.Pos
			m.FuncRefs = append(m.FuncRefs, FuncRef{uint32(pos), r.U32()})
		})
		left -= min(left, n)
	})
}

func (m *Module) bodies(r *Reader) {
	r.VectorUpTo(MaxFuncs, func() {
		n := r.U32()
		start := r.Pos
		if r.Bytes(n); r.Err != nil {
			return
		}
		if n > MaxBody {
			r.Fail(bound{fmt.Errorf("a function of %d bytes, %d allowed", n, MaxBody)})
			return
		}
		b := &Reader{Data: r.Data[:r.Pos], Pos: start}
		var runs []Locals
		var sum uint64
		b.Vector(func() {
			l := Locals{N: b.U32()}
			if sum += uint64(l.N); sum > MaxLocals {
				b.Fail(bound{fmt.Errorf("a function of more than %d locals", MaxLocals)})
			}
			l.Type = b.valueType()
			runs = append(runs, l)
		})
		if b.Err != nil {
			r.Fail(b.Err)
			return
		}
		m.Bodies = append(m.Bodies, Body{Start: start, Code: b.Pos, Stop: r.Pos, Locals: runs})
	})
}

func (m *Module) dataSection(r *Reader) {
	m.data = r.Data[r.Pos:]
	m.segments = int(r.VectorUpTo(maxData, func() { m.dataBytes += len(m.segment(r).Bytes) }))
}

// DataSize returns how many data segments there are, and how many bytes they hold together.
func (m *Module) DataSize() (segments, bytes int) { return m.segments, m.dataBytes }

func (m *Module) segment(r *Reader) (d Data) {
	kind := r.U32()
	if kind > 2 {
		r.Fail(fmt.Errorf("a data segment of kind %d", kind))
		return d
	}
	if kind == 2 {
		r.U32() // the memory
	}
	if d.Active = kind != 1; d.Active {
		d.Offset = m.init(r)
	}
	d.Bytes = r.Bytes(r.U32())
	return d
}

// Data goes through the data segments, in their order. They are read again each time: a guest in Go has
// sixty thousand, and a list of them is longer than what they say.
func (m *Module) Data() iter.Seq[Data] {
	return func(yield func(Data) bool) {
		if m.data == nil {
			return
		}
		r, walked := &Reader{Data: m.data}, new(Module) // m itself knows what initializers name
		for n := r.U32(); n > 0; n-- {
			if d := walked.segment(r); r.Err != nil || !yield(d) {
				return
			}
		}
	}
}

// init walks an initializer: constants, and references to globals and
// functions. It returns the first instruction.
func (m *Module) init(r *Reader) (first Init) {
	for i := range maxInit {
		op := r.Byte()
		if i == 0 {
			first.Op = op
		}
		switch op {
		case OpEnd:
			return first
		case OpGlobalGet:
			m.initGlobals = max(m.initGlobals, uint64(r.U32())+1)
		case OpRefFunc:
			pos := r.Pos
			m.FuncRefs = append(m.FuncRefs, FuncRef{uint32(pos), r.U32()})
		case OpI32Const:
			first.Value = int32(r.S64())
		case OpI64Const:
			r.S64()
		case OpF32Const:
			r.Bytes(4)
		case OpF64Const:
			r.Bytes(8)
		case OpRefNull:
			r.referenceType()
		case OpSIMD:
			if sub := r.Byte(); sub != simdConst {
				r.Fail(fmt.Errorf("an initializer with instruction %#x %#x", op, sub))
			}
			r.Bytes(16)
		default:
			r.Fail(fmt.Errorf("an initializer with instruction %#x", op))
		}
		if r.Err != nil {
			return first
		}
	}
	r.Fail(errors.New("an initializer that does not end"))
	return first
}
