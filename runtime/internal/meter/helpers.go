package meter

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// The functions that are added. The first three are always there; the others
// take the place of operations on ranges and of growing, or come before them:
// nothing may run for long without a look at the clock, or be large without one
// at the limits.
const (
	// helpSlow is what a check calls where fuel or stack are used up, helpPause
	// what follows a call of an imported function. helpWhole is [Whole].
	helpSlow = iota
	helpPause
	helpWhole
	// These take the place of an instruction. Filling and copying charge by
	// length, and do what is long in pieces. What is out of bounds is left to
	// the instruction itself, which then does nothing but trap.
	helpFill
	helpCopy
	helpGrowMemory
	// These are called before one, with its last operand, a length, which they
	// give back. helpGrowTable gives back what no table can grow by where the
	// host refuses.
	helpBytes
	helpElements
	helpGrowTable
	helperCount
)

// piece is how many bytes are moved between two looks at the fuel.
const piece = 1 << 20

// The code of helpers, in the text format: see assembler.
const (
	refuel = "global.get fuel call tick global.set fuel "
	slow   = "global.get fuel i32.const 0 i32.lt_s if i32.const ReasonFuel " + refuel + "end " +
		"global.get depth global.get mark i32.lt_s if i32.const ReasonStack global.get depth call tick global.set mark end"

	// A length is charged or, where that is less, as much as there can be.
	chargeLength = "global.get fuel local.get 0 i32.const most local.get 0 i32.const most i32.le_u select " +
		"i32.const shift i32.shr_u i32.sub global.set fuel global.get fuel " + slowIfNegative + "local.get 0"

	// The host is told where the memory could not grow: guests handle that in
	// ways of their own. It is asked before a table grows.
	growMemory = "local.get 0 memory.grow local.tee 1 i32.const -1 i32.eq " +
		"if i32.const ReasonMemory local.get 0 call tick drop end local.get 1"
	growTable = "local.get 0 i32.const -1 i32.const ReasonTable local.get 0 call tick select"
)

// Filling (to, value, length) and copying (to, from, length). What is longer than
// a piece is done in pieces but for the last, which is charged before and looks
// at the fuel behind, where nothing has to be kept for it.
const (
	fill = isLong + "if " + outside0 + "if " + fillAll + "end " + nextPiece +
		"local.get 0 local.get 1 i32.const piece memory.fill " + advance0 + endPiece + charge + fillAll + checkAfter
	// A copy to behind where it comes from goes from the last piece to the
	// first, as its ranges may overlap.
	copying = isLong + "if " + outside0 + outside1 + "i32.or if " + copyAll + "end " + nextPiece +
		"local.get 0 local.get 1 i32.gt_u if local.get 0 local.get 2 i32.add local.get 1 local.get 2 i32.add " +
		"i32.const piece memory.copy else local.get 0 local.get 1 i32.const piece memory.copy " + advance0 + advance1 +
		"end " + endPiece + charge + copyAll + checkAfter

	fillAll    = "local.get 0 local.get 1 local.get 2 memory.fill "
	copyAll    = "local.get 0 local.get 1 local.get 2 memory.copy "
	charge     = "global.get fuel local.get 2 i32.const bytesShift i32.shr_u i32.sub global.set fuel "
	checkAfter = "global.get fuel " + slowIfNegative

	// outside is whether the range from a local on is not in the memory.
	outside0 = "local.get 0 " + beyond
	outside1 = "local.get 1 " + beyond
	beyond   = "i64.extend_i32_u local.get 2 i64.extend_i32_u i64.add " +
		"memory.size i64.extend_i32_u i64.const 16 i64.shl i64.gt_u "

	isLong    = "local.get 2 i32.const piece i32.gt_u "
	nextPiece = "loop global.get fuel i32.const pieceCost i32.sub global.set fuel " + checkAfter +
		"local.get 2 i32.const piece i32.sub local.set 2 "
	endPiece = isLong + "br_if 0 end end "
	advance0 = "local.get 0 i32.const piece i32.add local.set 0 "
	advance1 = "local.get 1 i32.const piece i32.add local.set 1 "
)

// constants are what the code of helpers names.
var constants = map[string]uint32{
	"ReasonFuel": ReasonFuel, "ReasonStack": ReasonStack, "ReasonTable": ReasonTable, "ReasonMemory": ReasonMemory,
	"ReasonReturn": ReasonReturn, "piece": piece, "pieceCost": piece >> bytesShift, "bytesShift": bytesShift,
	"maxBytes": wasm.MaxBytes, "maxElements": wasm.MaxElements,
}

// helperTable has, for each helper, its name in stack traces, its type in numbers
// of i32, how many locals it has beside, and its code.
var helperTable = [helperCount]struct {
	name                    string
	params, results, locals int
	code                    string
}{
	helpSlow:       {Prefix + "check", 0, 0, 0, slow},
	helpPause:      {Prefix + "pause", 0, 0, 0, "i32.const ReasonReturn " + refuel},
	helpWhole:      {Whole, 0, 1, 0, "i32.const 1"},
	helpFill:       {Prefix + "memory.fill", 3, 0, 0, fill},
	helpCopy:       {Prefix + "memory.copy", 3, 0, 0, copying},
	helpGrowMemory: {Prefix + "memory.grow", 1, 1, 1, growMemory},
	helpBytes:      {Prefix + "bytes", 1, 1, 0, chargeUpTo("maxBytes", "bytesShift")},
	helpElements:   {Prefix + "elements", 1, 1, 0, chargeUpTo("maxElements", "0")},
	helpGrowTable:  {Prefix + "table.grow", 1, 1, 0, growTable},
}

func chargeUpTo(most, shift string) string {
	return strings.NewReplacer("most", most, "shift", shift).Replace(chargeLength)
}

// helpers are those that a module needs, in the order of their first use.
type helpers struct {
	first uint32              // the index of the first of them
	place [helperCount]uint32 // behind it, and one more
	list  []uint32
}

// function is the index of a helper, which is added where it is new.
func (h *helpers) function(kind uint32) uint32 {
	if h.place[kind] == 0 {
		h.list = append(h.list, kind)
		h.place[kind] = uint32(len(h.list))
	}
	return h.first + h.place[kind] - 1
}

// helperType is the type of a helper.
func helperType(kind uint32) wasm.FuncType {
	h := &helperTable[kind]
	i32 := func(n int) []wasm.ValueType { return slices.Repeat([]wasm.ValueType{wasm.I32}, n) }
	return wasm.FuncType{Params: i32(h.params), Results: i32(h.results)}
}

// helperBody is the code of a helper, its locals included.
func (w *bodyWriter) helperBody(kind uint32) []byte {
	h := &helperTable[kind]
	a := assembler{names: w.names, b: []byte{0}}
	if h.locals > 0 {
		a.b = []byte{1, byte(h.locals), byte(wasm.I32)}
	}
	a.emit(h.code)
	return append(a.b, wasm.OpEnd)
}
