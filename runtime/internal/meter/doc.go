// Package meter rewrites WebAssembly modules so that a host can stop them. A
// rewritten guest counts down its fuel and its stack in globals of its own, and
// calls the host when either is used up. Nothing else about it changes: a valid
// module stays valid and computes the same.
//
// [Rewrite] is the function to begin with. It refuses modules that would take an
// engine too long to compile, instructions that WebAssembly 2.0 does not have,
// indices beyond what the guest has of its own, and bytes that the engine would
// read in another way. It drops custom sections, but for the names of functions.
// [Stub] makes a module of the same shape without code.
//
// # Where fuel is charged
//
// In charge.go. Every instruction has a cost (cost.go). A check charges, before
// anything ahead of it runs, the cost of the heaviest path from there to the
// next check. So the fuel used is never less than the cost of what ran, and is
// the same on every machine and engine. Checks stand
//
//   - in loops: at the head (tightloop.go) or, where compilers write jumps as a
//     loop around a br_table, at the jumps that go back (dispatch.go);
//   - at calls that may come back to where they are made: those through a table,
//     and one in each cycle of direct calls (calls.go);
//   - at the ends of blocks and the entries of functions behind which a long path
//     begins, and in very long code without a branch.
//
// All other functions are charged to their callers, as if they stood there. Nobody
// is charged for the short path of a function that the host calls. Operations on
// ranges of memory and tables are charged by length, and long fills and copies of
// memory are done in pieces (helpers.go). The code of a check is in body.go.
//
// # How the stack is counted
//
// The calls with checks also take the frames that may be stacked up to the next
// such call from the depth that is left, and give them back when they return.
// The size of a frame is an estimate from above (frame.go): real frames are
// mostly a tenth of it.
//
// # Why not a flag, or a timer
//
// A guest that does not return to the host cannot be interrupted, and a
// collection of the host's garbage has to wait for it. Counting returns often
// enough for both.
package meter
