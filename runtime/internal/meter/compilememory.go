package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// What an engine holds while it compiles is mostly the machine code that it has made
// and the places in it that it has to remember. Real plugins take up to 26 bytes for
// each of theirs. Instructions of two bytes that become a hundred took 97, and a module
// of 12 MiB of them more than a gigabyte.
const (
	maxMemory     = 32 << 20 // for any module
	maxMemoryByte = 40       // for each byte it has
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

const (
	memoryCheck = 100 // for a check of ours, which is a call
	memoryLocal = 9   // for each local, whether or not it is used
)

// compileMemory estimates how much memory an engine takes to compile the function with
// the given edits.
func (f *function) compileMemory(edits []edit) (bytes int) {
	for i := range f.code.List {
		switch in := &f.code.List[i]; in.Op {
		case wasm.OpMisc:
			bytes += int(memoryBytesMisc[in.Sub])
		case wasm.OpSIMD:
			bytes += int(memoryBytesSIMD[in.Sub])
		default:
			bytes += int(memoryBytes[in.Op])
		}
	}
	return bytes + memoryCheck*len(edits) + memoryLocal*f.locals
}
