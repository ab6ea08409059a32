// Package wasmtest writes WebAssembly modules byte by byte, so that tests can
// have guests that misbehave in any way without a compiler at hand.
//
// Ready-made guests come first: [Answer] says the same to every call, [Echo]
// returns its input, [Loop], [Trap], [Exit], [Fail] and [EatMemory] fail in one
// way each. [WithSection] puts a custom section, such as a manifest, into any
// module. Where none of them fits, [New] starts a [Module] to which imports,
// functions, memories, tables and data are added; the functions of code.go
// write the instructions.
//
// Nothing is checked: that is what the tests want to see checked elsewhere.
package wasmtest
