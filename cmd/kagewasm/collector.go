package main

import (
	"math"
	"runtime/debug"
)

const (
	// tableBytes is what the program holds whatever the session: the ranks of
	// a tokenizer, the model catalog, the program itself.
	tableBytes = 40 << 20
	// bytesPerByte is what a session's text takes, as it was read and as it was
	// decoded; bytesPerMessage is what is known of a message beside it. Both
	// leave room: a collector that is pressed costs more than it saves.
	bytesPerByte    = 3
	bytesPerMessage = 1280
)

// holdMemory asks the collector to keep the process near what the session
// needs, instead of letting garbage double whatever is alive. A limit the
// operator has set stays, and so does the default where guests with memories
// of their own take part.
func holdMemory(session, messages, plugins int) {
	if plugins == 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(tableBytes + bytesPerByte*int64(session) + bytesPerMessage*int64(messages))
		giveBack()
	}
}
