package runtime_test

import (
	"context"
	"math"
	goruntime "runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/hostile"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// BenchmarkStop is how late guests end that only time ends (late-ms), and how
// long they keep the world from stopping for the collector of garbage
// (pause-ms): the median of the rounds, and the worst, in which there is what
// else the machine does.
func BenchmarkStop(b *testing.B) {
	const timeout = 50
	r := plugintest.New(b, runtime.Options{Counter: plugintest.Bytes{}, KV: &plugintest.KV{Data: map[string]string{}}})
	for _, g := range slices.Concat(hostile.Time(), hostile.Host()) {
		if g.Code != abi.CodeDeadline {
			continue
		}
		b.Run(g.Name, func(b *testing.B) {
			o := runtime.PluginOptions{Limits: abi.Limits{TimeoutMS: timeout}, Manifest: g.Manifest()}
			if o.Manifest != nil {
				o.Grants = plugintest.GrantAll(o.Manifest)
			}
			p := plugintest.MustLoad(b, r, g.Wasm(), o)
			defer p.Close(context.Background())
			call := func() {
				if _, _, err := p.Call(context.Background(), plugintest.HookInput()); abi.CodeOf(err) != abi.CodeDeadline {
					b.Fatal(err)
				}
			}
			var late, pause []time.Duration
			for b.Loop() {
				start := time.Now()
				call()
				late = append(late, time.Since(start)-timeout*time.Millisecond)
				pause = append(pause, pauses(call))
			}
			reportSpread(b, late, "late")
			reportSpread(b, pause, "pause")
		})
	}
}

// BenchmarkPause is the longest pause of the world while a guest spins for half
// a second: in this runtime, on bare wazero, and with its own time limit; and
// while nothing runs, which is what the machine adds.
func BenchmarkPause(b *testing.B) {
	wasm := counted(1_500_000_000)(b)
	for name, run := range map[string]func() time.Duration{"ours": oursRuns(b, wasm), "bare": wazeroRuns(b, wasm, false)} {
		b.Run(name, func(b *testing.B) { reportPauses(b, func() { run() }) })
	}
	b.Run("nothing", func(b *testing.B) { reportPauses(b, func() { time.Sleep(500 * time.Millisecond) }) })
	hook := onWazero(b, wasmtest.Loop(pre), true)
	b.Run("watched", func(b *testing.B) {
		reportPauses(b, func() {
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			defer cancel()
			if _, err := hook.Call(ctx); err == nil {
				b.Fatal("it returned")
			}
			hook = onWazero(b, wasmtest.Loop(pre), true) // a stop closes the instance
		})
	})
}

func reportPauses(b *testing.B, f func()) {
	var all []time.Duration
	for b.Loop() {
		all = append(all, pauses(f))
	}
	reportSpread(b, all, "pause")
}

// reportSpread reports the median and the worst.
func reportSpread(b *testing.B, all []time.Duration, what string) {
	slices.Sort(all)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1e3, what+"-ms")
	b.ReportMetric(float64(all[len(all)-1].Microseconds())/1e3, "worst-"+what+"-ms")
}

// pauses is the longest time that the world was being stopped, or stood, while
// f ran and the collector did all the time.
func pauses(f func()) time.Duration {
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
