package wasm

import (
	"iter"
	"strconv"
	"strings"
)

// The instructions that a reader or a rewriter has to know by name. The
// others are in the table below by what follows them and what they do to the
// operand stack.
const (
	OpUnreachable  = 0x00
	OpNop          = 0x01
	OpBlock        = 0x02
	OpLoop         = 0x03
	OpIf           = 0x04
	OpElse         = 0x05
	OpEnd          = 0x0b
	OpBr           = 0x0c
	OpBrIf         = 0x0d
	OpBrTable      = 0x0e
	OpReturn       = 0x0f
	OpCall         = 0x10
	OpCallIndirect = 0x11
	OpDrop         = 0x1a
	OpSelectT      = 0x1c
	OpLocalGet     = 0x20
	OpLocalSet     = 0x21
	OpLocalTee     = 0x22
	OpGlobalGet    = 0x23
	OpGlobalSet    = 0x24
	OpTableSet     = 0x26
	OpI32Load      = 0x28
	OpI64Store32   = 0x3e // the last of loads and stores
	OpMemoryGrow   = 0x40
	OpI32Const     = 0x41
	OpI64Const     = 0x42
	OpF32Const     = 0x43
	OpF64Const     = 0x44
	OpI32Eqz       = 0x45
	OpRefNull      = 0xd0
	OpRefFunc      = 0xd2
	OpMisc         = 0xfc // a prefix
	OpSIMD         = 0xfd // a prefix
)

// Instructions behind the prefix OpMisc.
const (
	MiscMemoryInit = 8
	MiscDataDrop   = 9
	MiscMemoryCopy = 10
	MiscMemoryFill = 11
	MiscTableInit  = 12
	MiscElemDrop   = 13
	MiscTableCopy  = 14
	MiscTableGrow  = 15
	MiscTableSize  = 16
	MiscTableFill  = 17
)

const simdConst = 12 // v128.const, behind OpSIMD

// op is what follows an instruction's code, and how many operands it takes and
// leaves, where that does not depend on types. In follows, u is a number, s a
// signed one, b the type of a block, z a byte that is 0, v a list of value types,
// r a type of references, t the targets of a br_table, 1, 4, 8 and x bytes, the
// last of them 16.
type op struct {
	follows   string
	pop, push int8
	known     bool
}

// codes are instructions, as ranges of codes in hexadecimal, that are alike.
type codes struct {
	ranges, follows string
	pop, push       int8
}

var (
	ops = table([]codes{
		{"00-01 05 0b 0f", "", 0, 0},
		{"02-03", "b", 0, 0},
		{"04", "b", 1, 0},
		{"0c 10", "u", 0, 0},
		{"0d 21 24", "u", 1, 0},
		{"0e", "t", 1, 0},
		{"11", "uu", 1, 0},
		{"1a", "", 1, 0},
		{"1b", "", 3, 1},
		{"1c", "v", 3, 1},
		{"20 23 d2", "u", 0, 1},
		{"22 25", "u", 1, 1},
		{"26", "u", 2, 0},
		{"28-35", "uu", 1, 1},
		{"36-3e", "uu", 2, 0},
		{"3f", "z", 0, 1},
		{"40", "z", 1, 1},
		{"41-42", "s", 0, 1},
		{"43", "4", 0, 1},
		{"44", "8", 0, 1},
		{"45 50 67-69 79-7b 8b-91 99-9f a7-c4 d1", "", 1, 1},
		{"46-4f 51-66 6a-78 7c-8a 92-98 a0-a6", "", 2, 1},
		{"d0", "r", 0, 1},
	})
	miscOps = table([]codes{
		{"00-07", "", 1, 1},
		{"08", "uz", 3, 0},
		{"09 0d", "u", 0, 0},
		{"0a", "zz", 3, 0},
		{"0b", "z", 3, 0},
		{"0c 0e", "uu", 3, 0},
		{"0f", "u", 2, 1},
		{"10", "u", 0, 1},
		{"11", "u", 3, 0},
	})
	simdOps = table([]codes{
		{"00-0a 5c-5d", "uu", 1, 1},
		{"0b", "uu", 2, 0},
		{"0c", "x", 0, 1},
		{"0d", "x", 2, 1},
		{"0e 23-4c 4e-51 65-66 6b-73 76-79 7b 82 85-86 8b-93 " +
			"95-99 9b-9f ab-ae b1 b5-ba bc-bf cb-ce d1 d5-df e4-eb f0-f7", "", 2, 1},
		{"0f-14 4d 53 5e-64 67-6a 74-75 7a 7c-81 83-84 87-8a 94 " +
			"a0-a1 a3-a4 a7-aa c0-c1 c3-c4 c7-ca e0-e1 e3 ec-ed ef f8-ff", "", 1, 1},
		{"15-16 18-19 1b 1d 1f 21", "1", 1, 1},
		{"17 1a 1c 1e 20 22", "1", 2, 1},
		{"52", "", 3, 1},
		{"54-57", "uu1", 2, 1},
		{"58-5b", "uu1", 2, 0},
	})
)

const noCode = 256 // that no instruction has

// table lays out instructions by their codes.
func table(rows []codes) (t [noCode + 1]op) {
	for _, row := range rows {
		for code := range Codes(row.ranges) {
			t[code] = op{row.follows, row.pop, row.push, true}
		}
	}
	return t
}

// Codes are those of a list of codes and ranges in hexadecimal: "00-01 05".
func Codes(list string) iter.Seq[byte] {
	return func(yield func(byte) bool) {
		for text := range strings.FieldsSeq(list) {
			first, last, wide := strings.Cut(text, "-")
			if !wide {
				last = first
			}
			end, _ := strconv.ParseUint(last, 16, 8)
			for code, _ := strconv.ParseUint(first, 16, 8); code <= end; code++ {
				if !yield(byte(code)) {
					return
				}
			}
		}
	}
}
