package runtime_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"

	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/runtime"
)

// BenchmarkFirstCall is what a process waits for at its start: to load a plugin
// in Go that was compiled before, and to call it once; here, and in the stock
// SDK with a time limit and the engine's cache on disk. The plugin is the one
// with go-pdk, which both run; x-stock is how many times as long stock takes
// for both together.
func BenchmarkFirstCall(b *testing.B) {
	wasm, dirs := plugintest.GoGuest(b, "runtime/testdata/bench/pdk"), []string{b.TempDir(), b.TempDir()}
	if err := os.Chmod(dirs[0], 0o700); err != nil {
		b.Fatal(err)
	}
	input := plugintest.SessionInput(b)
	var ours, stock [2][]time.Duration
	round := func() {
		load, call := oursFirst(b, wasm, dirs[0], input)
		ours[0], ours[1] = append(ours[0], load), append(ours[1], call)
		load, call = stockFirst(b, wasm, dirs[1], input)
		stock[0], stock[1] = append(stock[0], load), append(stock[1], call)
	}
	round() // compiles
	ours, stock = [2][]time.Duration{}, [2][]time.Duration{}
	for b.Loop() {
		round()
	}
	b.ReportMetric(0, "ns/op")
	report := func(who string, d [2][]time.Duration) (sum float64) {
		for i, what := range []string{"-load-ms", "-call-ms"} {
			slices.Sort(d[i])
			ms := float64(d[i][len(d[i])/2].Microseconds()) / 1e3
			b.ReportMetric(ms, who+what)
			sum += ms
		}
		return sum
	}
	b.ReportMetric(report("stock", stock)/report("ours", ours), "x-stock")
}

func oursFirst(b *testing.B, wasm []byte, dir string, input []byte) (load, call time.Duration) {
	ctx, start := context.Background(), time.Now()
	r, err := runtime.New(ctx, runtime.Options{CacheDir: dir})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close(ctx)
	p, err := plugintest.Load(ctx, r, wasm, runtime.PluginOptions{})
	if err != nil {
		b.Fatal(err)
	}
	load, start = time.Since(start), time.Now()
	if _, _, err := p.CallRaw(ctx, pre, input); err != nil {
		b.Fatal(err)
	}
	return load, time.Since(start)
}

func stockFirst(b *testing.B, wasm []byte, dir string, input []byte) (load, call time.Duration) {
	ctx, start := context.Background(), time.Now()
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer cache.Close(ctx)
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Timeout: 60_000}
	code, err := extism.NewCompiledPlugin(ctx, manifest,
		extism.PluginConfig{EnableWasi: true, RuntimeConfig: wazero.NewRuntimeConfig().WithCompilationCache(cache)}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer code.Close(ctx)
	load, start = time.Since(start), time.Now()
	inst, err := code.Instance(ctx, extism.PluginInstanceConfig{})
	if err != nil {
		b.Fatal(err)
	}
	defer inst.Close(ctx)
	if _, _, err := inst.CallWithContext(ctx, pre, input); err != nil {
		b.Fatal(err)
	}
	return load, time.Since(start)
}
