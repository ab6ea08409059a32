// Package kit is the author's kit: what turns a folder with a plugin's source
// into a module that a host can load.
//
// Start with [Build] for plugins in Go; [Embed] puts a manifest into a module
// that another compiler made. Both refuse what the runtime would refuse to
// load, so that an author hears it first.
//
// Package kit/dev does that whenever the source changes, kit/survey shows what a
// plugin does to sessions, and kit/update what a new version of it changes.
package kit
