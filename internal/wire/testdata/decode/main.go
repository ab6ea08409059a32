// Command decode is a module that reads the input of a hook as its export
// says, for benchmarks of the reading alone.
package main

import (
	"encoding/json"
	"runtime/debug"
	"unsafe"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wire"
)

//go:wasmimport kagewasm:host/env input_length
func inputLength() int32

//go:wasmimport kagewasm:host/env input_read
func inputRead(ptr unsafe.Pointer, offset, length int32) int32

// As abi/guest sets it.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(40 << 20)
}

func main() {}

func input() []byte {
	doc := make([]byte, inputLength())
	inputRead(unsafe.Pointer(unsafe.SliceData(doc)), 0, int32(len(doc)))
	return doc
}

//go:wasmexport copied
func copied() { input() }

//go:wasmexport wire
func readWire() {
	if err := wire.Unmarshal(input(), new(abi.Input)); err != nil {
		panic(err)
	}
}

//go:wasmexport json
func readJSON() {
	if err := json.Unmarshal(input(), new(abi.Input)); err != nil {
		panic(err)
	}
}
