// Package kit is the author's kit: [New] writes a plugin to begin with, and [Build] compiles its folder
// to a module that a host can load. Build knows Go, AssemblyScript and C; [Embed] puts a manifest into
// a module that any other compiler made. Build and Embed refuse what the runtime would refuse to load,
// so that an author hears it first.
//
// Package kit/check verifies and measures what was built, in a Go test or a continuous build, and
// kit/cassette replays the requests it makes, so that this needs no network.
package kit
