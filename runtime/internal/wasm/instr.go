package wasm

import "fmt"

// Instr is an instruction: its bytes are those from Pos to End.
type Instr struct {
	Pos, End int
	Op       byte
	// Sub is the code behind a prefix.
	Sub uint32
	// A and B are what follows, where it is one or two numbers: an index, a
	// depth, an offset. Of a br_table they are where its targets begin in
	// Code.Targets and how many there are, the default, which is the last,
	// included.
	A, B uint32
	// Value is the number of an i32.const or i64.const, or a block type: the
	// index of a type, or negative.
	Value int64
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
		if in.Op == OpMisc || in.Op == OpSIMD {
			in.Sub = r.U32()
			o = op{}
			switch {
			case in.Op == OpMisc && in.Sub < uint32(len(miscOps)):
				o = miscOps[in.Sub]
			case in.Op == OpSIMD && in.Sub < uint32(len(simdOps)):
				o = simdOps[in.Sub]
			}
		}
		in.Pop, in.Push = o.pop, o.push
		c.operands(r, &in, o.shape)
		in.End = r.Pos
		if r.Err != nil {
			return fmt.Errorf("at byte %d: %w", in.Pos, r.Err)
		}
		c.List = append(c.List, in)
	}
	return nil
}

// operands reads what follows the instruction's code.
func (c *Code) operands(r *Reader, in *Instr, s shape) {
	switch s {
	case none:
	case index:
		in.A = r.U32()
	case twoIndex, memarg:
		in.A, in.B = r.U32(), r.U32()
	case blockType, signed:
		in.Value = r.S64()
	case one:
		in.A = uint32(r.Byte())
	case four:
		r.Bytes(4)
	case eight:
		r.Bytes(8)
	case sixteen:
		r.Bytes(16)
	case memargOne:
		in.A, in.B = r.U32(), r.U32()
		r.Byte()
	case table:
		in.A = uint32(len(c.Targets))
		r.Vector(func() { c.Targets = append(c.Targets, r.U32()) })
		c.Targets = append(c.Targets, r.U32())
		in.B = uint32(len(c.Targets)) - in.A
	case types:
		r.Vector(func() { r.valueType() })
	default:
		if in.Op == OpMisc || in.Op == OpSIMD {
			r.Fail(fmt.Errorf("instruction %#x %#x, which WebAssembly 2.0 does not have", in.Op, in.Sub))
			return
		}
		r.Fail(fmt.Errorf("instruction %#x, which WebAssembly 2.0 does not have", in.Op))
	}
}
