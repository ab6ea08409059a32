package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// early is how much garbage there may be beside what is alive, in hundredths, before the first collection, and while a
// session is compacted: most commands end before it comes.
const early = 600

// limited says that the memory has a limit, see holdMemory.
var limited atomic.Bool

// collectLate has the first collection come at 24 MB in place of 4, unless the operator says how often garbage is
// collected. From then on it is as usual, as a server needs it.
func collectLate() {
	if os.Getenv("GOGC") == "" {
		usual := debug.SetGCPercent(early)
		runtime.AddCleanup(new([16]byte), func(percent int) {
			if !limited.Load() {
				debug.SetGCPercent(percent)
			}
		}, usual)
	}
}

const (
	// tableBytes is what the program holds whatever the session: the ranks of
	// a tokenizer, the model catalog, the program itself.
	tableBytes = 31 << 20
	// bytesPerByte is what a session's text takes as it was decoded, and as much again for what is made of it; as it was
	// read it takes another one, where that is a copy. bytesPerMessage is what is known of a short message beside it: of
	// a long one it is less, as much of the room for its text is left. All of this leaves room: a collector that is
	// pressed costs more than it saves.
	bytesPerByte    = 2
	bytesPerMessage = 4096
	shortMessage    = 512
)

// holdMemory asks the collector to keep the process near what the session
// needs, instead of letting garbage double whatever is alive. A limit the
// operator has set stays, and so does the default where guests with memories
// of their own take part.
func holdMemory(session int, copied bool, messages, plugins int) {
	if plugins == 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		size := int64(session) * bytesPerByte
		if copied {
			size += int64(session)
		}
		beside := bytesPerMessage - 2*(session/max(1, messages)-shortMessage)
		beside = min(max(beside, bytesPerMessage*3/8), bytesPerMessage)
		debug.SetMemoryLimit(tableBytes + size + int64(beside)*int64(messages))
		if limited.Store(true); os.Getenv("GOGC") == "" {
			debug.SetGCPercent(early)
		}
		giveBack()
	}
}
