package runtime_test

import (
	"bytes"
	"context"
	"fmt"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"os"
	"path/filepath"
	"testing"

	extism "github.com/extism/go-sdk"

	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// BenchmarkEcho is one call that returns its input: over the bulk calls, over
// the calls of the Extism ABI in this runtime, and in the stock SDK with a
// time limit (a new instance for each call, as here, and the same one again).
func BenchmarkEcho(b *testing.B) {
	for _, size := range []int{64, 1 << 20} {
		input := bytes.Repeat([]byte("x"), size)
		for name, wasm := range map[string][]byte{"bulk": wasmtest.Echo(pre), "extism-abi": wasmtest.ExtismEcho(pre)} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				p := plugintest.MustLoad(b, plugintest.New(b, runtime.Options{}), wasm, runtime.PluginOptions{})
				repeat(b, size, func() {
					out, _, err := p.CallRaw(context.Background(), pre, input)
					if err != nil || len(out) != size {
						b.Fatal(len(out), err)
					}
				})
			})
		}
		b.Run(fmt.Sprintf("stock-sdk-fresh/%d", size), func(b *testing.B) { repeat(b, size, stockEcho(b, input, true)) })
		b.Run(fmt.Sprintf("stock-sdk-same/%d", size), func(b *testing.B) { repeat(b, size, stockEcho(b, input, false)) })
	}
}

func repeat(b *testing.B, size int, call func()) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
}

// stockCall is one call in the stock SDK with a time limit, in a fresh instance
// each time or in the same one.
func stockCall(b *testing.B, wasm []byte, export string, input []byte, fresh bool) func() []byte {
	ctx := context.Background()
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Timeout: 10_000}
	code, err := extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{EnableWasi: true}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { code.Close(ctx) })
	var inst *extism.Plugin
	return func() []byte {
		if fresh || inst == nil {
			if inst, err = code.Instance(ctx, extism.PluginInstanceConfig{}); err != nil {
				b.Fatal(err)
			}
		}
		_, out, err := inst.CallWithContext(ctx, export, input)
		if err != nil {
			b.Fatal(err)
		}
		if fresh {
			inst.Close(ctx)
		}
		return out
	}
}

// stockEcho is stockCall of an echo.
func stockEcho(b *testing.B, input []byte, fresh bool) func() {
	call := stockCall(b, wasmtest.ExtismEcho(pre), pre, input, fresh)
	return func() {
		if out := call(); len(out) != len(input) {
			b.Fatal(len(out))
		}
	}
}

// BenchmarkLoad is the load of a plugin of 1.9 MB, compiled and from the cache.
func BenchmarkLoad(b *testing.B) {
	wasm, err := os.ReadFile(filepath.Join(plugintest.SDKDir(b), "wasm", "count_vowels.wasm"))
	if err != nil {
		b.Fatal(err)
	}
	for _, cached := range []bool{false, true} {
		b.Run(map[bool]string{false: "cold", true: "cached"}[cached], func(b *testing.B) {
			var o runtime.Options
			if cached {
				o.CacheDir = b.TempDir()
			}
			r := plugintest.New(b, o)
			if cached {
				plugintest.MustLoad(b, r, wasm, runtime.PluginOptions{AnyExport: true})
			}
			for b.Loop() {
				p := plugintest.MustLoad(b, r, wasm, runtime.PluginOptions{AnyExport: true})
				b.StopTimer()
				p.Close(context.Background())
				b.StartTimer()
			}
		})
	}
}

// BenchmarkCountVowels is one call of a plugin that Extism's library for Rust
// built, on both engines and in the stock SDK with a time limit (a new instance
// for each call, as the engines make it, and the same one again).
func BenchmarkCountVowels(b *testing.B) {
	wasm, err := os.ReadFile(filepath.Join(plugintest.SDKDir(b), "wasm", "count_vowels.wasm"))
	if err != nil {
		b.Fatal(err)
	}
	input := bytes.Repeat([]byte("hello world "), 100)
	const export = "count_vowels"
	for _, engine := range engines {
		b.Run(engine, func(b *testing.B) {
			p := plugintest.MustLoad(b, plugintest.New(b, runtime.Options{}), wasm,
				runtime.PluginOptions{AnyExport: true, Engine: engineOf(engine)})
			repeat(b, len(input), func() {
				if out, _, err := p.CallRaw(context.Background(), export, input); err != nil ||
					!bytes.HasPrefix(out, []byte(`{"count":300,`)) {
					b.Fatalf("%q, %v", out, err)
				}
			})
		})
	}
	for name, fresh := range map[string]bool{"stock-sdk-fresh": true, "stock-sdk-same": false} {
		b.Run(name, func(b *testing.B) {
			call := stockCall(b, wasm, export, input, fresh)
			repeat(b, len(input), func() {
				if out := call(); !bytes.HasPrefix(out, []byte(`{"count":300,`)) {
					b.Fatalf("%q", out)
				}
			})
		})
	}
}
