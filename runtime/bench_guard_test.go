package runtime_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// BenchmarkGuard is the same guest in this runtime, on bare wazero without any
// limit, and on wazero with its own time limit (WithCloseOnContextDone), in
// turns. Of each the fastest round counts. x-bare is how many times as long as
// the bare one ours takes, x-watched how many times longer the watched one.
func BenchmarkGuard(b *testing.B) {
	for _, g := range guarded {
		b.Run(g.name, func(b *testing.B) {
			wasm := g.wasm(b)
			ways := map[string]func() time.Duration{
				"ours": oursRuns(b, wasm), "bare": wazeroRuns(b, wasm, false), "watched": wazeroRuns(b, wasm, true),
			}
			best := map[string]time.Duration{"ours": math.MaxInt64, "bare": math.MaxInt64, "watched": math.MaxInt64}
			for b.Loop() {
				for range 5 {
					for way, run := range ways {
						best[way] = min(best[way], run())
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for way, took := range best {
				b.ReportMetric(float64(took.Microseconds())/1e3, way+"-ms")
			}
			b.ReportMetric(best["ours"].Seconds()/best["bare"].Seconds(), "x-bare")
			b.ReportMetric(best["watched"].Seconds()/best["ours"].Seconds(), "x-watched")
		})
	}
}

// guarded are guests of some 10 ms each.
var guarded = []struct {
	name string
	wasm func(b *testing.B) []byte
}{
	{"json", func(b *testing.B) []byte { return plugintest.GoGuest(b, "runtime/testdata/bench/json") }},
	{"tightest-loop", counted(20_000_000)},
	{"loop-with-loads", counted(10_000_000, wasmtest.Get(0), wasmtest.Const32(0xfffc), wasmtest.And32, wasmtest.Load32,
		wasmtest.Get(1), wasmtest.Add32, wasmtest.Set(1))},
	{"fib", func(*testing.B) []byte {
		return wasmtest.Build(func(m *wasmtest.Module) {
			i32 := []wasmtest.Type{wasmtest.I32}
			m.Func(i32, i32, nil,
				wasmtest.Get(0), wasmtest.Const32(2), wasmtest.LtU32, wasmtest.If(wasmtest.Const32(1), wasmtest.Return),
				wasmtest.Get(0), wasmtest.Const32(1), wasmtest.Sub32, wasmtest.Call(0), wasmtest.Get(0),
				wasmtest.Const32(2), wasmtest.Sub32, wasmtest.Call(0), wasmtest.Add32)
			m.Hook(pre, nil, wasmtest.Const32(30), wasmtest.Call(0), wasmtest.Drop, wasmtest.Const32(0))
		})
	}},
	{"call-indirect", func(*testing.B) []byte {
		return wasmtest.Build(func(m *wasmtest.Module) {
			m.Table(1, -1)
			typ := m.Type([]wasmtest.Type{wasmtest.I32}, []wasmtest.Type{wasmtest.I32})
			m.Elements(0, m.Func([]wasmtest.Type{wasmtest.I32}, []wasmtest.Type{wasmtest.I32}, nil, wasmtest.Get(0),
				wasmtest.Const32(3), wasmtest.Add32))
			count(m, 3_000_000, wasmtest.Get(1), wasmtest.Const32(0), wasmtest.CallIndirect(typ), wasmtest.Set(1))
		})
	}},
	{"memory-copy-4K", counted(100_000, wasmtest.Const32(0), wasmtest.Const32(8192), wasmtest.Const32(4096),
		wasmtest.MemoryCopy)},
	{"memory-copy-64B", counted(1_000_000, wasmtest.Const32(0), wasmtest.Const32(8192), wasmtest.Const32(64),
		wasmtest.MemoryCopy)},
}

// counted is a guest that repeats code n times. Local 0 counts down, local 1 is
// for the code.
func counted(n int32, code ...[]byte) func(*testing.B) []byte {
	return func(*testing.B) []byte {
		return wasmtest.Build(func(m *wasmtest.Module) { m.Memory(2, -1, "memory"); count(m, n, code...) })
	}
}

func count(m *wasmtest.Module, n int32, code ...[]byte) {
	code = append(code, wasmtest.Get(0), wasmtest.Const32(1), wasmtest.Sub32, wasmtest.Tee(0))
	m.Hook(pre, []wasmtest.Type{wasmtest.I32, wasmtest.I32}, wasmtest.Const32(n), wasmtest.Set(0),
		wasmtest.While(code...), wasmtest.Const32(0))
}

func oursRuns(b *testing.B, wasm []byte) func() time.Duration {
	p := plugintest.MustLoad(b, plugintest.New(b, runtime.Options{}), wasm,
		runtime.PluginOptions{Limits: abi.Limits{TimeoutMS: 60_000}})
	return func() time.Duration {
		start := time.Now()
		if _, _, err := p.CallRaw(context.Background(), pre, nil); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
}

// wazeroRuns is a call in an instance that was made before, on the engine
// alone.
func wazeroRuns(b *testing.B, wasm []byte, watched bool) func() time.Duration {
	ctx := context.Background()
	hook := onWazero(b, wasm, watched)
	return func() time.Duration {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		start := time.Now()
		if _, err := hook.Call(ctx); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
}

// onWazero is the hook of a guest on the engine alone, watched or without any
// limit.
func onWazero(b *testing.B, wasm []byte, watched bool) api.Function {
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(watched))
	b.Cleanup(func() { rt.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, rt)
	mod, err := rt.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		b.Fatal(err)
	}
	return mod.ExportedFunction(pre)
}
