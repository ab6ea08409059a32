// Package sandbox is the engine that plugins run on: wazero, with every limit
// held from inside of the guest.
//
// [New] makes an engine, [Engine.Compile] rewrites and compiles a module
// (compile.go, cache.go), and each run takes an instance: one that waits in the
// pool, one restored from a snapshot, or one that starts as any engine would start
// it (code.go).
//
// Package meter writes the checks that charge fuel into modules (charge.go there);
// the host's half, which hands fuel out, stops a guest that has none left and looks
// at the time, is fuel.go. Memory lies outside of Go's
// heap, in slots that are used again (memory.go, slots.go). The first run leaves a
// snapshot of the guest as it was after _initialize, which later instances are
// restored from (snapshot.go, image.go, ahead_linux.go); a module whose state is not all in its
// memory and globals has none (initstate.go). What waits for calls is bounded for
// all plugins together (pool.go, idle.go).
package sandbox
