// Package wasm reads core WebAssembly modules: what a host has to know of one
// before it compiles it, and the instructions of its functions.
//
// [Parse] walks every section and holds what it claims against bounds, because
// the engine's decoder makes room for as many entries as a module claims to
// have before it looks for them. [Instrs] walks a function's code. Both know
// WebAssembly 2.0 exactly and refuse everything else; neither validates types,
// which the engine does.
package wasm
