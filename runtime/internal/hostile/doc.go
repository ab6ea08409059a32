// Package hostile tests the sandbox against guests that try what SECURITY calls
// attacks. It has tests alone.
//
// Each guest is a module, a sentence on what it tries and what stops it, and what
// must become of a call; the files *_guests_test.go have them by topic. All of them
// run through the sandbox (sandbox_test.go) and as compactor and observer of whole
// compactions (compaction_test.go). Benchmarks measure how long the worst take to
// stop.
package hostile
