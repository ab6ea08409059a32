package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// The cost of an instruction is about the time that the slowest engine of
// today's machines needs for it, in fifths of a nanosecond, in a program written
// to be slow: an access to memory misses the nearer caches.
const (
	costPlain  = 1
	costBranch = 2
	// costImport is a call that leaves the guest.
	costImport = 250
	// costDispatch is what is at the head of a dispatch.
	costDispatch = costPlain + 2*costBranch

	// costMove is a value that is handed over: to a block or loop where ways meet, to
	// a function, or back. Some are for nothing, as they stay in registers: of those
	// on the stack of operands, and of the locals that a block changes.
	costMove   = 2
	freeValues = 4
	freeLocals = 16

	// A unit of fuel moves 1<<bytesShift bytes, or one element of a table.
	bytesShift = 3
)

// costs are for instructions without a prefix, and behind the two prefixes. What
// is behind calls and in ranges comes on top.
var (
	costs = costTable(costPlain, []costRow{
		{0, "01-03 05 0b 1a"},                // nop, block, loop, else, end, drop
		{costBranch, "04 0c-0d 0f"},          // if, br, br_if, return
		{2 * costBranch, "0e"},               // br_table
		{6, "10"},                            // call
		{12, "11"},                           // call_indirect: the table and the type
		{4, "25-26 28-3e"},                   // memory, tables
		{2_000, "40"},                        // memory.grow
		{25, "6d-70 7f-82 91 95 9f a3"},      // division, square roots
		{4, "8b-90 92-94 96-9e a0-a2 a4-bf"}, // other floats, conversions
		{500, "d2"},                          // ref.func: the engine asks the host
	})
	miscCosts = costTable(3*6, []costRow{ // a range: two calls beside
		{8, "00-07"},    // saturating truncations
		{4, "09 0d 10"}, // dropping a segment, table.size
		{2_000, "0f"},   // table.grow
	})
	simdCosts = costTable(3, []costRow{
		{4, "00-0b 54-5d"},        // memory
		{12, "62 95 cc d5 fc-fd"}, // what takes several steps
		{25, "e3 e7 ef f3"},       // division, square roots
	})
)

type costRow struct {
	cost  uint32
	codes string
}

func costTable(other uint32, rows []costRow) (t [256]uint32) {
	for i := range t {
		t[i] = other
	}
	for _, row := range rows {
		for code := range wasm.Codes(row.codes) {
			t[code] = row.cost
		}
	}
	return t
}

// handOver is the cost of values that are handed over, and of locals that may be.
func handOver(values, locals int32) uint32 {
	return costMove * uint32(max(0, values-freeValues)+max(0, locals-freeLocals))
}

// costOf is the cost of one instruction.
func costOf(in *wasm.Instr) uint32 {
	switch in.Op {
	case wasm.OpMisc:
		return miscCosts[in.Sub]
	case wasm.OpSIMD:
		return simdCosts[in.Sub]
	}
	return costs[in.Op]
}
