// Package hostile has guests that try what SECURITY calls attacks: each a
// module, a sentence on what it tries and what stops it, and what is to become
// of a call. Tests run all of them through the sandbox, and through whole
// compactions; benchmarks measure how long the worst take to stop.
package hostile
