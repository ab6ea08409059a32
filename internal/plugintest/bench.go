package plugintest

import (
	"math"
	goruntime "runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"
)

// ReportSpread reports the median and the worst.
func ReportSpread(b *testing.B, all []time.Duration, what string) {
	slices.Sort(all)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1e3, what+"-ms")
	b.ReportMetric(float64(all[len(all)-1].Microseconds())/1e3, "worst-"+what+"-ms")
}

// Pauses returns the longest stop-the-world pause of the collector while f ran. The collector runs all
// that time.
func Pauses(f func()) time.Duration {
	before := pauseCounts()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for ran := false; ; ran = true {
			select {
			case <-stop:
				if ran {
					return
				}
			case <-time.After(2 * time.Millisecond):
			}
			goruntime.GC()
		}
	}()
	f()
	close(stop)
	<-stopped
	after := pauseCounts()
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] > before.Counts[i] {
			end := after.Buckets[i+1]
			if math.IsInf(end, 1) {
				end = after.Buckets[i]
			}
			return time.Duration(end * float64(time.Second))
		}
	}
	panic("the collector did not run")
}

func pauseCounts() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	h := *s[0].Value.Float64Histogram()
	h.Counts = slices.Clone(h.Counts)
	return &h
}
