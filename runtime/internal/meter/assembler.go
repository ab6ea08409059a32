package meter

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// assembler writes instructions that are given in the text format.
type assembler struct {
	b []byte
	// names are the indices of what was added, functions and globals.
	names map[string]uint32
}

// opcodes are the instructions that are added to guests. Blocks take and leave
// nothing; there is one memory.
var opcodes = map[string]string{
	"unreachable": "\x00", "loop": "\x03\x40", "if": "\x04\x40", "else": "\x05", "end": "\x0b",
	"br": "\x0c", "br_if": "\x0d", "call": "\x10", "call_indirect": "\x11", "drop": "\x1a", "select": "\x1b",
	"local.get": "\x20", "local.set": "\x21", "local.tee": "\x22", "global.get": "\x23", "global.set": "\x24",
	"memory.size": "\x3f\x00", "memory.grow": "\x40\x00", "memory.copy": "\xfc\x0a\x00\x00", "memory.fill": "\xfc\x0b\x00",
	"i32.const": "\x41", "i64.const": "\x42",
	"i32.eq": "\x46", "i32.lt_s": "\x48", "i32.gt_u": "\x4b", "i32.le_u": "\x4d", "i64.gt_u": "\x56",
	"i32.add": "\x6a", "i32.sub": "\x6b", "i32.or": "\x72", "i32.shr_u": "\x76", "i64.add": "\x7c", "i64.shl": "\x86",
	"i64.extend_i32_u": "\xad",
}

// emit appends instructions. An operand is a number, the name of something that
// was added or of one of the constants, or an underscore for the next argument.
func (a *assembler) emit(text string, args ...uint32) {
	constant := false
	for word := range strings.FieldsSeq(text) {
		if code, ok := opcodes[word]; ok {
			a.b = append(a.b, code...)
			constant = strings.HasSuffix(word, ".const")
			continue
		}
		var v uint32
		if word == "_" {
			v, args = args[0], args[1:]
		} else {
			v = a.operand(word)
		}
		if constant {
			a.b = wasm.AppendS64(a.b, int64(int32(v)))
		} else {
			a.b = wasm.AppendU32(a.b, v)
		}
	}
}

func (a *assembler) operand(word string) uint32 {
	if v, ok := a.names[word]; ok {
		return v
	}
	if v, ok := constants[word]; ok {
		return v
	}
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil {
		panic(fmt.Sprintf("meter: %q is no operand", word))
	}
	return uint32(n)
}
