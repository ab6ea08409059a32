// Package kit is the author's kit: what turns a folder with a plugin's source
// into a module that a host can load.
//
// Start with [Build] for plugins in Go; [Embed] puts a manifest into a module
// that another compiler made. Both refuse what the runtime would refuse to
// load, so that an author hears it first.
package kit
