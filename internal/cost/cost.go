// Package cost holds what the host spends on bytes from strangers against bounds:
// for any input of n bytes, so much processor time and memory for each byte, and a
// little that is there for any: [Bound.Check]. It has to run alone:
// tests that call it are not parallel. [AtMost] and [Linear] hold two costs against each other.
package cost

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
)

// What a byte may cost.
const (
	TimePerByte  = 2 * time.Microsecond
	BytesPerByte = 40
)

// Bound is what may be spent on an input beside what each byte of it may cost.
type Bound struct {
	Time  time.Duration
	Bytes int
}

var (
	// Text is for texts: a configuration, a manifest.
	Text = Bound{100 * time.Millisecond, 6 << 20}
	// Module is for modules. Each function is rewritten as a whole: the largest has
	// 256 KiB, and 40 bytes are there for each instruction, which may be a byte.
	Module = Bound{100 * time.Millisecond, 32 << 20}
)

// Check fails the test where f spends too much on an input of n bytes. It runs f up
// to four times, as what else the machine does counts too. Under the race detector
// it only runs f.
func (b Bound) Check(t testing.TB, what string, n int, f func()) {
	t.Helper()
	if Raced {
		f()
		return
	}
	most := b.Time + time.Duration(n)*TimePerByte
	took, made := Of(f)
	for range 2 {
		if took > most {
			again, _ := Of(f)
			took = min(took, again)
		}
	}
	if took > most {
		t.Errorf("%s: %d bytes took %v, %v a byte", what, n, took, took/time.Duration(max(n, 1)))
	}
	mostBytes := uint64(b.Bytes + n*BytesPerByte)
	if made <= mostBytes {
		return // what was made in all is more than was there at once
	}
	if held := peak(f); held > mostBytes {
		t.Errorf("%s: %d bytes took %d bytes of memory, %d a byte", what, n, held, held/uint64(max(n, 1)))
	}
}

// Of returns the processor time that f takes, and the bytes that it allocates.
func Of(f func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processorTime()
	f()
	took := processorTime() - began
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}

// peak returns about how much memory f holds at once.
func peak(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	base, most := inUse(), atomic.Uint64{}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			most.Store(max(most.Load(), inUse()))
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-done
	return most.Load() - min(base, most.Load())
}
