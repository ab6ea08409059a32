package cost

import (
	"math"
	"testing"
	"time"
)

const (
	// tries is how often two costs are compared before one is found to be too high.
	tries = 6
	// slack is what a collection of garbage may take of the processor's time in between.
	slack = 20 * time.Millisecond
)

// AtMost fails the test where f takes more than so many times the processor time of
// base. The two run in turn, and the least of each counts, as a busy machine only makes
// it longer. They run again only where f seems too long.
func AtMost(t testing.TB, times int, base, f func()) {
	t.Helper()
	least, took := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range tries {
		for range 3 { // a base that seemed long would hide how long f takes
			least = min(least, timeOf(base))
		}
		took = min(took, timeOf(f))
		if took <= time.Duration(times)*least+slack {
			return
		}
	}
	t.Errorf("%v of processor time, more than %d times %v", took, times, least)
}

// Linear fails the test where ten times as much takes more than 40 times the processor
// time. work prepares what is measured, on an input of size n.
func Linear(t testing.TB, n int, work func(n int) func()) {
	t.Helper()
	AtMost(t, 40, work(n), work(10*n))
}

func timeOf(f func()) time.Duration {
	began := processorTime()
	f()
	return processorTime() - began
}
