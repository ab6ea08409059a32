package runtime

import (
	"errors"
	"fmt"
)

// The engine's decoder makes room for as many entries, bytes and locals as a
// module claims to have before it looks for them: seven bytes that claim four
// gigabytes of locals would end the process. So every section is walked first,
// and what it claims has to be there and within these bounds.
const (
	maxFuncs     = 200_000
	maxGlobals   = 10_000
	maxSegments  = 10_000 // of elements
	maxElements  = maxTableElements
	maxData      = 500_000
	maxBodyBytes = 256 << 10
	maxLocals    = 4_096
	maxInitExpr  = 16 // instructions of an initializer
)

// globals walks the global section.
func (r *reader) globals() {
	r.vectorUpTo(maxGlobals, func() {
		r.valueType()
		r.byte()
		r.initExpr()
	})
}

// elements walks the element section.
func (r *reader) elements() {
	left := uint32(maxElements)
	r.vectorUpTo(maxSegments, func() {
		kind := r.u32()
		if kind > 7 {
			r.fail(fmt.Errorf("an element segment of kind %d", kind))
			return
		}
		active, indexed, exprs := kind&1 == 0, kind&2 != 0, kind&4 != 0
		if active && indexed {
			r.u32() // the table
		}
		if active {
			r.initExpr()
		}
		if !active || indexed {
			r.byte() // the kind or type of elements
		}
		n := r.vectorUpTo(left, func() {
			if exprs {
				r.initExpr()
			} else {
				r.u32()
			}
		})
		left -= min(left, n)
	})
}

// bodies walks the code section.
func (r *reader) bodies() {
	r.vectorUpTo(maxFuncs, func() {
		body := r.bytes(r.u32())
		if len(body) > maxBodyBytes {
			r.fail(fmt.Errorf("a function of %d bytes, %d allowed", len(body), maxBodyBytes))
			return
		}
		locals := &reader{data: body}
		var sum uint64
		locals.vector(func() {
			if sum += uint64(locals.u32()); sum > maxLocals {
				locals.fail(fmt.Errorf("a function of more than %d locals", maxLocals))
			}
			locals.valueType()
		})
		if locals.err != nil {
			r.fail(locals.err)
		}
	})
}

// data walks the data section.
func (r *reader) segments() {
	r.vectorUpTo(maxData, func() {
		kind := r.u32()
		if kind > 2 {
			r.fail(fmt.Errorf("a data segment of kind %d", kind))
			return
		}
		if kind == 2 {
			r.u32() // the memory
		}
		if kind != 1 {
			r.initExpr()
		}
		r.bytes(r.u32())
	})
}

// vectorUpTo is vector for a list of bounded length. It returns the length.
func (r *reader) vectorUpTo(limit uint32, f func()) uint32 {
	n := r.u32()
	if n > limit {
		r.fail(fmt.Errorf("%d entries, %d allowed", n, limit))
		return 0
	}
	for i := n; i > 0 && r.err == nil; i-- {
		f()
	}
	return n
}

// initExpr walks an initializer: constants, and references to globals and
// functions.
func (r *reader) initExpr() {
	for range maxInitExpr {
		switch op := r.byte(); op {
		case 0x0b:
			return
		case 0x23, 0xd2: // global.get, ref.func
			r.u32()
		case 0x41, 0x42: // i32.const, i64.const
			r.skipSigned()
		case 0x43: // f32.const
			r.bytes(4)
		case 0x44: // f64.const
			r.bytes(8)
		case 0xd0: // ref.null
			r.byte()
		case 0xfd: // v128.const
			r.u32()
			r.bytes(16)
		default:
			r.fail(fmt.Errorf("an initializer with instruction %#x", op))
		}
		if r.err != nil {
			return
		}
	}
	r.fail(errors.New("an initializer that does not end"))
}

// skipSigned skips a signed LEB128 number.
func (r *reader) skipSigned() {
	for range 10 {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail(errors.New("a number is too long"))
}
