package main

import (
	"bytes"
	"math"
	"runtime/debug"
)

const (
	// tableBytes is what the program holds whatever the session: the ranks of
	// a tokenizer, the model catalog, the program itself.
	tableBytes = 48 << 20
	// bytesPerByte and bytesPerLine are what a session takes: its text as it
	// was read and as it was decoded, and what is known of each message.
	bytesPerByte = 2
	bytesPerLine = 512
)

// holdMemory asks the collector to keep the process near what the session
// needs, instead of letting garbage double whatever is alive. It costs no time
// worth measuring (BENCHMARKS.md). A limit the operator has set stays, and so
// does the default where guests with memories of their own take part.
func holdMemory(session []byte, plugins int) {
	if plugins == 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(int64(tableBytes + bytesPerByte*len(session) + bytesPerLine*bytes.Count(session, []byte("\n"))))
	}
}
