// Package guest is what the author of a plugin imports: it registers handlers
// for hooks, decodes their input, encodes their answer, and carries the host
// calls. A plugin is
//
//	package main
//
//	import (
//		"github.com/kagewasm/kagewasm/abi"
//		"github.com/kagewasm/kagewasm/abi/guest"
//	)
//
//	func init() { guest.Register(guest.Plugin{PreCompact: remember}) }
//
//	func main() { guest.Main() }
//
//	func remember(c *guest.Call) (*abi.Output, error) {
//		return &abi.Output{Retain: []string{c.Input.Session.ID}}, nil
//	}
//
// built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared
//
// which is what kagewasm build runs. Start with [Plugin] and [Call].
//
// The same code builds natively: handlers are tested with plain go test, over
// the host of abi/guest/guesttest, and [Main] then serves one call from the
// command line.
//
// What a handler can count on: one call, one fresh instance. Nothing a handler
// leaves in memory is there in the next call; what has to last goes through
// [Call.KV]. There is no clock (use Input.Time), no file system and no
// environment, and random numbers are the same in every call. The network is
// [Call.HTTP] and a model [Call.Complete], each where the manifest asks and the
// operator grants.
//
// In a module reading takes time, and texts take memory. A plugin that looks
// at few messages says content: lazy in its manifest: it is given all of them
// without their bodies, and goes through those it wants with [Call.Bodies].
//
// The package depends on abi and the standard library alone.
package guest
