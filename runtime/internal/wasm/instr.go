package wasm

import (
	"fmt"
	"math"
)

// Instr is an instruction: its bytes are those from Pos to End.
type Instr struct {
	Pos, End int
	// Value is the number of an i32.const or i64.const, or a block type: the
	// index of a type, or negative.
	Value int64
	// A and B are what follows, where it is one or two numbers: an index, a
	// depth, an offset. Of a br_table they are where its targets begin in
	// Code.Targets and how many there are, the default, which is the last,
	// included.
	A, B uint32
	// Sub is the code behind a prefix.
	Sub uint32
	Op  byte
	// Pop and Push are how many operands are taken and left, but for those of
	// blocks, branches and calls, which their types say.
	Pop, Push int8
}

// Code are the instructions of a function.
type Code struct {
	List    []Instr
	Targets []uint32 // of its br_tables
}

// Decode reads the instructions of a body, the last end included. It reuses
// the room of c. Whatever WebAssembly 2.0 does not have is an error.
func (c *Code) Decode(wasm []byte, b Body) error {
	c.List, c.Targets = c.List[:0], c.Targets[:0]
	r := &Reader{Data: wasm[:b.Stop], Pos: b.Code}
	for !r.Done() {
		in := Instr{Pos: r.Pos}
		in.Op = r.Byte()
		o := ops[in.Op]
		switch in.Op {
		case OpMisc:
			in.Sub = r.U32()
			o = miscOps[min(in.Sub, noCode)]
		case OpSIMD:
			in.Sub = r.simd()
			o = simdOps[min(in.Sub, noCode)]
		}
		in.Pop, in.Push = o.pop, o.push
		c.operands(r, &in, &o)
		in.End = r.Pos
		if r.Err != nil {
			return fmt.Errorf("at byte %d: %w", in.Pos, r.Err)
		}
		c.List = append(c.List, in)
	}
	return nil
}

// simd reads the code behind OpSIMD. It has to be written in as few bytes as it
// takes: the engine looks at the first of them alone, and what is behind a
// longer number would be other instructions to it than to us.
func (r *Reader) simd() uint32 {
	start := r.Pos
	code := r.U32()
	if code < 0x80 && r.Pos-start > 1 || r.Pos-start > 2 {
		r.Fail(errLongNumber)
	}
	return code
}

// blockType reads the type of a block. References to types, which further
// proposals have, would be followed by more.
func (r *Reader) blockType() int64 {
	v := r.S64()
	switch {
	case v >= 0 && v <= math.MaxUint32, v == -0x40, v >= int64(V128)-0x80 && v < 0:
	case v == int64(FuncRefT)-0x80, v == int64(ExternRef)-0x80:
	default:
		r.Fail(fmt.Errorf("a block of type %d", v))
	}
	return v
}

// zero reads a byte that says nothing.
func (r *Reader) zero() {
	if b := r.Byte(); b != 0 {
		r.Fail(fmt.Errorf("%#x where 0 has to be", b))
	}
}

// operands reads what follows the instruction's code.
func (c *Code) operands(r *Reader, in *Instr, o *op) {
	if !o.known {
		code := fmt.Sprintf("%#x", in.Op)
		if in.Op == OpMisc || in.Op == OpSIMD {
			code += fmt.Sprintf(" %#x", in.Sub)
		}
		r.Fail(fmt.Errorf("instruction %s, which WebAssembly 2.0 does not have", code))
	}
	for i, part := range o.follows {
		switch part {
		case 'u':
			if i == 0 {
				in.A = r.U32()
			} else {
				in.B = r.U32()
			}
		case 's':
			in.Value = r.S64()
		case 'b':
			in.Value = r.blockType()
		case 'z':
			r.zero()
		case 'v':
			r.Vector(func() { r.valueType() })
		case 'r':
			r.referenceType()
		case 't':
			in.A = uint32(len(c.Targets))
			r.Vector(func() { c.Targets = append(c.Targets, r.U32()) })
			c.Targets = append(c.Targets, r.U32())
			in.B = uint32(len(c.Targets)) - in.A
		case 'x':
			r.Bytes(16)
		default:
			r.Bytes(uint32(part - '0'))
		}
	}
}
