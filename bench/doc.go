// Command bench compares kagewasm with what people would take in its place, in the same run
// on the same machine: vocabularies of npm and tiktoken-go for counting, langchain's
// trimMessages and the compaction of pi for compacting, stock extism/go-sdk and
// hashicorp/go-plugin for calling a plugin.
//
//	go run . -o results.json -tables ../BENCHMARKS.md -charts ../docs/bench
//
// It is a module of its own, so that nothing else downloads what it compares with. The
// packages of npm are installed by `make compare`, which runs all of it. Sessions are those of the shared data
// where they are there, else the demo's, made longer.
//
// What is measured is processor time, user and system, the median of the runs; the ratio is
// what counts, since machines differ.
package main
