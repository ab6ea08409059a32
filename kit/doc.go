// Package kit is the author's kit: what turns a folder with a plugin's source
// into a module that a host can load.
//
// Start with [Build], which knows Go, AssemblyScript and C; [Embed] puts a
// manifest into a module that any other compiler made. Both refuse what the
// runtime would refuse to load, so that an author hears it first.
//
// Package kit/scaffold writes a plugin to begin with, kit/dev builds it whenever
// its source changes, kit/survey shows what it does to sessions, kit/update
// what a new version of it changes, and kit/hookinput what a hook is given.
package kit
