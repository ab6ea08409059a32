//go:build unix

package runtime_test

import (
	"bytes"
	"context"
	"fmt"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// BenchmarkPool is one call that returns its input: with an instance that
// waits for it (the time of the call alone, not of making the next instance),
// with none, and one call after the other, the making included. Beside it the
// stock SDK with a time limit and a new instance for each call, in the same
// run: x-stock is how many times as long that takes.
func BenchmarkPool(b *testing.B) {
	for _, size := range []int{64, 1 << 20} {
		input := bytes.Repeat([]byte("x"), size)
		stock := 0.0
		b.Run(fmt.Sprintf("stock/%d", size), func(b *testing.B) { stock = perCall(b, nil, stockEcho(b, input, true)) })
		for _, way := range []string{"hit", "miss", "sustained"} {
			b.Run(fmt.Sprintf("%s/%d", way, size), func(b *testing.B) {
				o := runtime.PluginOptions{}
				if way == "miss" {
					o.Warm = -1
				}
				p := plugintest.MustLoad(b, plugintest.New(b, runtime.Options{}), wasmtest.Echo(pre), o)
				call := func() {
					if out, _, err := p.CallRaw(context.Background(), pre, input); err != nil || len(out) != size {
						b.Fatal(len(out), err)
					}
				}
				call()
				call()
				var before func()
				if way == "hit" {
					before = func() {
						// More than it takes to make one. A sleep would count the core's waking up.
						for begun := time.Now(); time.Since(begun) < 500*time.Microsecond; {
							goruntime.Gosched()
						}
					}
				}
				b.ReportMetric(stock/perCall(b, before, call), "x-stock")
			})
		}
	}
}

// perCall times calls, without what comes before each.
func perCall(b *testing.B, before, call func()) float64 {
	var sum time.Duration
	b.ReportAllocs()
	for b.Loop() {
		if before != nil {
			before()
		}
		start := time.Now()
		call()
		sum += time.Since(start)
	}
	ns := float64(sum.Nanoseconds()) / float64(b.N)
	b.ReportMetric(ns, "ns/op")
	return ns
}

// BenchmarkCallers is the processor time of a call, user and system, of one
// caller and of four at once.
func BenchmarkCallers(b *testing.B) {
	for _, guestName := range []string{"echo", "keeper"} {
		wasm, input := wasmtest.Echo(pre), bytes.Repeat([]byte("x"), 1<<10)
		if guestName == "keeper" {
			wasm, input = plugintest.Guest(b, "plugins/"+guestName), plugintest.SessionInput(b)
		}
		one := 0.0
		for _, callers := range []int{1, 4} {
			b.Run(fmt.Sprintf("%s/%d", guestName, callers), func(b *testing.B) {
				p := plugintest.MustLoad(b, plugintest.New(b, runtime.Options{Counter: plugintest.Bytes{}}), wasm,
					runtime.PluginOptions{})
				call := func() {
					if _, _, err := p.CallRaw(context.Background(), pre, input); err != nil {
						b.Error(err)
					}
				}
				call()
				call()
				b.ResetTimer()
				before := processorTime(b)
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							call()
						}
					})
				}
				wg.Wait()
				ns := float64((processorTime(b) - before).Nanoseconds()) / float64(b.N)
				b.ReportMetric(ns, "cpu-ns/op")
				if callers == 1 {
					one = ns
				} else {
					b.ReportMetric(ns/one, "x-one")
				}
			})
		}
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
