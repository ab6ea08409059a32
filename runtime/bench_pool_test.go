package runtime_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/kit"
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
		stock := perCall(b, 100, nil, stockCall(b, input))
		b.Run(fmt.Sprintf("stock/%d", size), func(b *testing.B) {
			b.ReportMetric(stock, "ns/op")
			for b.Loop() {
			}
		})
		for _, way := range []string{"hit", "miss", "sustained"} {
			b.Run(fmt.Sprintf("%s/%d", way, size), func(b *testing.B) {
				o := runtime.PluginOptions{}
				if way == "miss" {
					o.Warm = -1
				}
				p := load(b, newRuntime(b, runtime.Options{}), wasmtest.Echo(pre), o)
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
						for runtime.Idle(p) == 0 {
							goruntime.Gosched()
						}
					}
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				ns := perCall(b, 0, before, call)
				b.ReportMetric(ns, "ns/op")
				b.ReportMetric(stock/ns, "x-stock")
			})
		}
	}
}

// perCall times calls, without what comes before each: n of them, or as many
// as the benchmark wants.
func perCall(b *testing.B, n int, before, call func()) float64 {
	var sum time.Duration
	calls := 0
	for n > calls || n == 0 && b.Loop() {
		if before != nil {
			before()
		}
		start := time.Now()
		call()
		sum += time.Since(start)
		calls++
	}
	return float64(sum.Nanoseconds()) / float64(calls)
}

func stockCall(b *testing.B, input []byte) func() {
	ctx := context.Background()
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasmtest.ExtismEcho(pre)}}, Timeout: 10_000}
	code, err := extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{EnableWasi: true}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { code.Close(ctx) })
	return func() {
		inst, err := code.Instance(ctx, extism.PluginInstanceConfig{})
		if err != nil {
			b.Fatal(err)
		}
		defer inst.Close(ctx)
		if _, out, err := inst.CallWithContext(ctx, pre, input); err != nil || len(out) != len(input) {
			b.Fatal(len(out), err)
		}
	}
}

// guest builds one of the plugins of this project.
func guest(tb testing.TB, name string) []byte {
	tb.Helper()
	out := filepath.Join(tb.TempDir(), name+".wasm")
	if _, err := kit.Build(context.Background(), kit.Options{Dir: filepath.Join(shared.Root(tb), "plugins", name), Out: out}); err != nil {
		tb.Fatal(err)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	return wasm
}

// BenchmarkInstance is what it takes to have an instance of a guest in Go: to
// start it, or to restore it in either way; and with a call of a small input.
func BenchmarkInstance(b *testing.B) {
	input := []byte(`{"abi":1,"hook":"pre_compact","session":{"id":"s"},"trigger":{"reason":"manual"},"budget":{},"config":{},"messages":[{"id":"m1","role":"user","content":"keep: this"}]}`)
	p := load(b, newRuntime(b, runtime.Options{}), guest(b, "keeper"), runtime.PluginOptions{})
	for _, way := range []string{"copied", "mapped"} {
		x, err := runtime.InstancesOf(p, way == "mapped")
		if err != nil {
			b.Fatal(err)
		}
		defer x.Close()
		run := func(name string, f func() error) {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		if way == "copied" {
			run("started", x.Start)
		}
		run(way, func() error { return x.Restore(nil) })
		run(way+"-and-called", func() error { return x.Restore(input) })
	}
}
