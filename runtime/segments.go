package runtime

import "fmt"

// usesSegments reports whether code of the module uses an instruction that
// looks at a segment after it was applied, or changes a table: memory.init,
// data.drop, table.init, elem.drop, table.set, table.grow, table.fill and
// table.copy. Code that is not understood counts as using them.
func usesSegments(wasm []byte) bool {
	sections, err := split(wasm)
	if err != nil {
		return true
	}
	for _, s := range sections {
		if s.id == sectionCode {
			r := &reader{data: s.content}
			r.vector(r.plainBody)
			return r.err != nil
		}
	}
	return false
}

// plainBody walks a function, and fails at an instruction that usesSegments is
// about.
func (r *reader) plainBody() {
	b := &reader{data: r.bytes(r.u32())}
	b.vector(func() { b.u32(); b.valueType() })
	for !b.done() {
		b.instruction()
	}
	if b.err != nil {
		r.fail(b.err)
	}
}

func (r *reader) instruction() {
	op := r.byte()
	switch {
	case op >= 0x45 && op <= 0xc4: // arithmetic
	case op >= 0x28 && op <= 0x3e: // loads and stores
		r.u32()
		r.u32()
	case op == 0x00, op == 0x01, op == 0x05, op == 0x0b, op == 0x0f, op == 0x1a, op == 0x1b, op == 0xd1:
	case op == 0x02, op == 0x03, op == 0x04, op == 0x41, op == 0x42: // blocks and constants
		r.skipSigned()
	case op == 0x0c, op == 0x0d, op == 0x10, op >= 0x20 && op <= 0x25, op == 0x3f, op == 0x40, op == 0xd0, op == 0xd2:
		r.u32()
	case op == 0x0e: // br_table
		r.vector(func() { r.u32() })
		r.u32()
	case op == 0x11: // call_indirect
		r.u32()
		r.u32()
	case op == 0x1c: // select with types
		r.vector(func() { r.valueType() })
	case op == 0x43:
		r.bytes(4)
	case op == 0x44:
		r.bytes(8)
	case op == 0xfc:
		r.miscInstruction()
	case op == 0xfd:
		r.vectorInstruction()
	default:
		r.fail(fmt.Errorf("instruction %#x", op))
	}
}

func (r *reader) miscInstruction() {
	switch op := r.u32(); op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating conversions
	case 11, 16: // memory.fill, table.size
		r.u32()
	case 10: // memory.copy
		r.u32()
		r.u32()
	default:
		r.fail(fmt.Errorf("instruction 0xfc %d", op))
	}
}

func (r *reader) vectorInstruction() {
	switch op := r.u32(); {
	case op <= 11, op == 92, op == 93: // loads and stores
		r.u32()
		r.u32()
	case op == 12, op == 13: // v128.const, i8x16.shuffle
		r.bytes(16)
	case op >= 21 && op <= 34: // lanes
		r.byte()
	case op >= 84 && op <= 91: // loads and stores of lanes
		r.u32()
		r.u32()
		r.byte()
	case op > 255:
		r.fail(fmt.Errorf("instruction 0xfd %d", op))
	}
}
