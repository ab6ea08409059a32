// Package meter rewrites WebAssembly modules so that a host can stop them: a
// guest that runs counts down fuel and stack in globals of its own, and calls
// the host when either is used up. Nothing else about it changes: for any valid
// module the rewritten one is valid and computes the same.
//
// [Rewrite] is the one function. It refuses what would take an engine too long
// to compile, every instruction that WebAssembly 2.0 does not have, every index
// beyond what the guest has of its own, and bytes that the engine would read in
// another way. Custom sections are dropped, but for the names of functions.
//
// # How fuel is counted
//
// Every instruction has a weight (see weight.go), and a checkpoint
// charges, before anything ahead of it runs, the weight of the heaviest path
// from there to the next checkpoint. So the fuel used is never less than the
// weight of what ran, is the same on every machine and engine, and needs no
// counting but at checkpoints. These are
//
//   - loops: at the head or, in the loops that compilers of languages with jumps
//     write around a br_table, at the jumps that go back;
//   - calls that may come back to where they are made: those through a table,
//     and in each cycle of direct calls one;
//   - the ends of blocks, and the entries of functions, behind which a long
//     path begins, and places in very long code without a branch.
//
// Calls of all other functions are charged to the caller, as if they stood
// there; so a call from the host may run a short path that nobody is charged
// for. Operations on ranges of memory and tables are charged by length, and
// long fills and copies of memory are done in pieces.
//
// # How the stack is counted
//
// The same calls, in cycles and through tables, take the frames that may be
// stacked up to the next one of their kind from the depth that is left, and
// give them back when they return. The size of a frame is estimated from above,
// by counting values (see frame.go): real ones are mostly a tenth of it.
//
// # Why not a flag, or a timer
//
// A guest that does not return to the host cannot be interrupted, and a
// collection of the host's garbage has to wait for it. Counting returns often
// enough for both.
package meter
