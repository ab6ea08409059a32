package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// What an engine holds while it compiles is mostly the machine code that it has made
// and the places in it that it has to remember. Real plugins take up to 26 bytes for
// each of theirs. Instructions of two bytes that become a hundred took 97, and a module
// of 12 MiB of them more than a gigabyte.
const (
	maxMemory     = 32 << 20 // for any module
	maxMemoryByte = 40       // for each byte it has

	// MaxScratch is what is taken meanwhile for one function. The largest that was found,
	// of GHC, is estimated at half of it; those of Go plugins and QuickJS at a fifth.
	MaxScratch = 128 << 20
)

// memoryBytes is about how much memory an instruction takes: what the process held at
// most for modules of 3 MB of it, divided by their number, on amd64.
var (
	memoryBytes = costTable(16, []costRow{
		{130, "10"},          // call
		{250, "11"},          // call_indirect
		{140, "25-26"},       // table.get, table.set
		{110, "28-35"},       // loads
		{60, "36-3e"},        // stores
		{200, "40"},          // memory.grow
		{250, "6d-70 7f-82"}, // integer division, which traps
		{390, "a8-ab ae-b1"}, // floats to integers, which traps
		{70, "d2"},           // ref.func
	})
	memoryBytesMisc = costTable(220, []costRow{{250, "00-07"}})
	memoryBytesSIMD = costTable(50, []costRow{{130, "62"}})
)

// scratchBytes is about how much an instruction takes while its function is compiled:
// what the process held at most for a function of 250 KB of it, divided by their number.
var scratchBytes = costTable(800, []costRow{
	{50, "00-01 0b 1a 20-22 41-44"}, // constants, locals, what is no code
	{1_600, "10-11 25-26 40 d2"},    // calls, tables
	{4_200, "28-35"},                // loads
	{2_500, "36-3e fc-fd"},          // stores, vectors, ranges
	{4_000, "6d-70 7f-82"},          // integer division
	{7_000, "a8-ab ae-b1"},          // floats to integers
})

const (
	memoryCheck  = 100 // for a check of ours, which is a call
	memoryLocal  = 9   // for each local, whether or not it is used
	scratchCheck = 1_600
)

// compileMemory estimates how much memory an engine keeps of compiling the function with
// the given edits, and how much it takes for that meanwhile.
func (f *function) compileMemory(edits []edit) (kept, scratch int) {
	for i := range f.code.List {
		in := &f.code.List[i]
		scratch += int(scratchBytes[in.Op])
		switch in.Op {
		case wasm.OpMisc:
			kept += int(memoryBytesMisc[in.Sub])
		case wasm.OpSIMD:
			kept += int(memoryBytesSIMD[in.Sub])
		default:
			kept += int(memoryBytes[in.Op])
		}
	}
	return kept + memoryCheck*len(edits) + memoryLocal*f.locals, scratch + scratchCheck*len(edits)
}
