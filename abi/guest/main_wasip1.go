package guest

import (
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/kagewasm/kagewasm/abi"
)

// A module's exports. Each takes nothing and returns 0, or 1 for a failure
// whose text was handed to error_write.

//go:wasmexport pre_compact
func exportPreCompact() int32 { return run(abi.HookPreCompact) }

//go:wasmexport post_compact
func exportPostCompact() int32 { return run(abi.HookPostCompact) }

//go:wasmexport turn_end
func exportTurnEnd() int32 { return run(abi.HookTurnEnd) }

// kagewasm build asks which hooks have a handler: a Go module exports all of them.
//
//go:wasmexport kagewasm_handlers
func exportHandlers() int32 { return answer(registered.plugin.handlers()) }

// The host's bulk calls; see abi.ImportModule. Pointers are of this module's
// memory, lengths in bytes.

//go:wasmimport kagewasm:host/env input_length
func hostInputLength() int32

//go:wasmimport kagewasm:host/env input_read
func hostInputRead(ptr unsafe.Pointer, offset, length int32) int32

//go:wasmimport kagewasm:host/env output_write
func hostOutputWrite(ptr unsafe.Pointer, length int32) int32

//go:wasmimport kagewasm:host/env error_write
func hostErrorWrite(ptr unsafe.Pointer, length int32)

//go:wasmimport kagewasm:host/env host_call
func hostCall(op unsafe.Pointer, opLen int32, req unsafe.Pointer, reqLen int32) int32

//go:wasmimport kagewasm:host/env response_read
func hostResponseRead(ptr unsafe.Pointer, offset, length int32) int32

// Main does nothing in a module, whose main never runs. In a program that was
// built as a command it says how to build a module.
func Main() {
	panic("guest: Main: a plugin is a module without a start: build it with -buildmode=c-shared (kagewasm build does)")
}

// An instance serves one call and is thrown away, and its memory never shrinks.
func init() {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(gcAbove)
}

// run serves one call.
func run(hook abi.Hook) int32 {
	out, err := registered.plugin.Serve(hook, readAll(hostInputLength(), hostInputRead), imported{})
	if err != nil {
		text := err.Error()
		hostErrorWrite(unsafe.Pointer(unsafe.StringData(text)), int32(len(text)))
		return 1
	}
	return answer(out)
}

// answer hands the output of a call to the host.
func answer(out []byte) int32 {
	if len(out) > 0 && hostOutputWrite(unsafe.Pointer(unsafe.SliceData(out)), int32(len(out))) != 0 {
		const text = "output: longer than the host allows"
		hostErrorWrite(unsafe.Pointer(unsafe.StringData(text)), int32(len(text)))
		return 1
	}
	return 0
}

// Garbage is collected from 8 MB on in a call that is given little, which most never have: from 4 MB on it was a fifth
// of the work on a session of half a megabyte, for no less memory in the end. Where a call is given more, a heap of
// three times what lives, or a limit below what lives, takes its memory by luck of size: collectors that may not take
// more than half of the time let a heap grow over its limit.
const (
	gcPercent     = 200
	gcPercentMuch = 75
	much          = 1 << 20  // bytes that a call is given
	gcAbove       = 40 << 20 // bytes; the default memory of a call is 64 MiB
)

// given is how many bytes the host has given.
var given int

// take notes what the host gives.
func take(length int32) {
	before := given
	if given += int(length); before <= much && given > much {
		debug.SetGCPercent(gcPercentMuch)
	}
}

// readAll copies length bytes out of the host.
func readAll(length int32, read func(ptr unsafe.Pointer, offset, length int32) int32) []byte {
	if length <= 0 {
		return nil
	}
	take(length)
	buf := make([]byte, length)
	n := read(unsafe.Pointer(unsafe.SliceData(buf)), 0, length)
	return buf[:max(0, min(n, length))]
}

// imported is the host behind the imports.
type imported struct{}

func (imported) HostCall(op abi.Op, request []byte) []byte {
	name := string(op)
	n := hostCall(unsafe.Pointer(unsafe.StringData(name)), int32(len(name)),
		unsafe.Pointer(unsafe.SliceData(request)), int32(len(request)))
	return readAll(n, hostResponseRead)
}

// handlers are the names of the hooks with a handler, separated by spaces.
func (p Plugin) handlers() []byte {
	var names []string
	for _, h := range abi.Hooks {
		if p.Handler(h) != nil {
			names = append(names, string(h))
		}
	}
	return []byte(strings.Join(names, " "))
}
