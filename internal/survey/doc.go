// Package survey shows what a plugin does to a corpus: every session through
// the real pipeline, once, with the plugin taking part.
//
// Read sessions with a [Corpus], or take [Samples]; [Run] surveys them, and
// [Compare] says what is different between two surveys, of two versions of a
// plugin or two builds.
//
// The runtime that loads the plugin has [KV] for its storage. Each session of a
// survey then begins with the same memory, as a rule an empty one: a row depends
// on its session and the plugin alone, so rows can be made side by side, and
// what changes in one is not the doing of another.
package survey
