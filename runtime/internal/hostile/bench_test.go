package hostile_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
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
	for _, g := range slices.Concat(Time(), Host()) {
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
				pause = append(pause, plugintest.Pauses(call))
			}
			plugintest.ReportSpread(b, late, "late")
			plugintest.ReportSpread(b, pause, "pause")
		})
	}
}

// BenchmarkCompileBomb is how long it takes to compile, or to refuse, what is
// made to take long: the median and the worst of the rounds. refused is 1 where
// it is not compiled.
func BenchmarkCompileBomb(b *testing.B) {
	for _, g := range Compile() {
		b.Run(g.Name, func(b *testing.B) {
			ctx, r, wasm := context.Background(), plugintest.New(b, runtime.Options{}), g.Wasm()
			var all []time.Duration
			refused := 0.0
			for b.Loop() {
				start := time.Now()
				p, err := plugintest.Load(ctx, r, wasm, runtime.PluginOptions{})
				all = append(all, time.Since(start))
				if err != nil {
					refused = 1
					continue
				}
				p.Close(ctx)
			}
			plugintest.ReportSpread(b, all, "load")
			b.ReportMetric(refused, "refused")
		})
	}
}

// BenchmarkSteady is 100,000 calls: what the process has resident after the
// first 1,000, and at the end.
func BenchmarkSteady(b *testing.B) {
	p := plugintest.MustLoad(b, plugintest.New(b, runtime.Options{}), Memory()[1].Wasm(),
		runtime.PluginOptions{Limits: abi.Limits{MemoryMB: 1}})
	good := plugintest.MustLoad(b, plugintest.New(b, runtime.Options{}), wasmtest.Echo(Hook), runtime.PluginOptions{})
	calls := func(n int) {
		for range n {
			if _, _, err := good.CallRaw(context.Background(), Hook, []byte("{}")); err != nil {
				b.Fatal(err)
			}
			if _, _, err := p.CallRaw(context.Background(), Hook, nil); abi.CodeOf(err) != abi.CodeMemory {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		calls(500)
		first := resident(b, "VmRSS")
		calls(49_500)
		b.ReportMetric(float64(first)/(1<<20), "first-MiB")
		b.ReportMetric(float64(resident(b, "VmRSS"))/(1<<20), "last-MiB")
	}
}
