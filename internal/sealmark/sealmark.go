// Package sealmark marks what stands for a compaction of the proxy where a client keeps it: the text can be read with
// the proxy's key alone, but everybody sees whose it is.
package sealmark

// Prefix begins the sealed text. What has another is somebody else's.
const Prefix = "kagewasm1."
