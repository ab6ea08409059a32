// Package host is what a guest finds around itself: the functions it may import
// and the operations behind them, whichever engine runs it.
//
// A [Call] is one call of a plugin: the guest, its limits, what goes in and comes
// out, and the services it has used. [Call.Run] makes it on an [Engine]'s code and
// says why it ended.
//
// Two front ends lead to the same operations: the calls of kagewasm:host/env
// (bulk.go), of which host_call carries an operation by name, and the Extism ABI
// (extism.go, extism_host.go). The table of operations is in operations.go, and
// capabilities are checked in Plugin.need; each operation is a service in a file of its
// own. WASI is in wasi.go.
package host
