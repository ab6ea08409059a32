// Package kit is the author's kit: what turns a folder with a plugin's source
// into a module that a host can load.
//
// Start with [Build], which knows Go, AssemblyScript and C; [Embed] puts a
// manifest into a module that any other compiler made. Both refuse what the
// runtime would refuse to load, so that an author hears it first. Package
// kit/scaffold writes a plugin to begin with.
package kit
