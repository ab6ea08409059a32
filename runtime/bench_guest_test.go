package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"os"
	"path/filepath"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"
	gojson "github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/runtime"
)

// megabyte is the input of pre_compact for a session of 1.1 MB: the demo over
// and over, each time with ids of its own.
func megabyte(b *testing.B) (in *abi.Input, doc []byte) {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(shared.Root(b), "testdata", "demo.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	var msgs []abi.Message
	for size := 0; size < 1_100_000; {
		for line := range bytes.Lines(data) {
			var m abi.Message
			if err := json.Unmarshal(line, &m); err != nil {
				b.Fatal(err)
			}
			if m.Role == "" {
				continue // the first line names tools
			}
			m.ID = fmt.Sprintf("m%05d", len(msgs))
			msgs = append(msgs, m)
			if size += len(line); size >= 1_100_000 {
				break
			}
		}
	}
	in = abitest.NewInput(new(abi.Manifest), msgs, 0)
	if doc, err = json.Marshal(in); err != nil {
		b.Fatal(err)
	}
	return in, doc
}

// BenchmarkGuestDecode reads the input of a hook in a guest, with what
// abi/guest reads it with and with encoding/json. The time of a call that only
// copies the input in is taken off.
func BenchmarkGuestDecode(b *testing.B) {
	_, doc := megabyte(b)
	p := plugintest.MustLoad(b, plugintest.New(b, runtime.Options{}),
		plugintest.GoGuest(b, "internal/wire/testdata/decode"), runtime.PluginOptions{AnyExport: true})
	call := func(b *testing.B, export string) time.Duration {
		start := time.Now()
		if _, _, err := p.CallRaw(context.Background(), export, doc); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	for _, export := range []string{"wire", "json"} {
		b.Run(export, func(b *testing.B) {
			var reading time.Duration
			for b.Loop() {
				reading += call(b, export) - call(b, "copied")
			}
			b.ReportMetric(float64(len(doc)*b.N)/1e6/reading.Seconds(), "MB/s")
			b.ReportMetric(float64(reading.Microseconds())/1e3/float64(b.N), "read-ms/op")
		})
	}
}

// BenchmarkGuestCompact is pre_compact on a session of 1.1 MB, in two guests of
// the same logic: one with abi/guest in this runtime, with all bodies and with
// those it asks for (content: lazy), and one with encoding/json and go-pdk in
// the stock SDK with a time limit, in a new instance for each call and in the
// same one again. Each round makes all calls; x-fresh and x-same are how many
// times longer stock takes.
func BenchmarkGuestCompact(b *testing.B) {
	in, _ := megabyte(b)
	wasm := plugintest.GoGuest(b, "runtime/testdata/bench/guest")
	full, lazy := oursCompact(b, wasm, abi.ContentFull, in), oursCompact(b, wasm, abi.ContentLazy, in)
	stock := stockCompact(b, plugintest.GoGuest(b, "runtime/testdata/bench/pdk"), in)
	var fullTime, lazyTime, freshTime, sameTime time.Duration
	for b.Loop() {
		want := full(&fullTime)
		for name, got := range map[string]*abi.Output{"lazy": lazy(&lazyTime), "fresh": stock(true, &freshTime),
			"same": stock(false, &sameTime)} {
			if got.Summary != want.Summary || len(got.Messages) != len(want.Messages) ||
				len(got.Superseded) != len(want.Superseded) {
				b.Fatalf("%s answers otherwise: %.200s, want %.200s", name, got.Summary, want.Summary)
			}
		}
	}
	for unit, t := range map[string]time.Duration{"full-ms": fullTime, "lazy-ms": lazyTime, "stock-fresh-ms": freshTime,
		"stock-same-ms": sameTime} {
		b.ReportMetric(float64(t.Microseconds())/1e3/float64(b.N), unit)
	}
	b.ReportMetric(freshTime.Seconds()/fullTime.Seconds(), "x-fresh")
	b.ReportMetric(sameTime.Seconds()/fullTime.Seconds(), "x-same")
}

func oursCompact(b *testing.B, wasm []byte, content abi.ContentMode,
	in *abi.Input) func(total *time.Duration) *abi.Output {

	p := plugintest.MustLoad(b, plugintest.New(b, runtime.Options{}), wasm, runtime.PluginOptions{Manifest: &abi.Manifest{
		ABI: abi.Version, Name: "bench", Version: "1.0.0", Roles: []abi.PluginRole{abi.RoleCompactor},
		Hooks: []abi.Hook{abi.HookPreCompact}, Content: content,
	}})
	return func(total *time.Duration) *abi.Output {
		start := time.Now()
		out, _, err := p.Call(context.Background(), in)
		if err != nil {
			b.Fatal(err)
		}
		*total += time.Since(start)
		return out
	}
}

func stockCompact(b *testing.B, wasm []byte, in *abi.Input) func(fresh bool, total *time.Duration) *abi.Output {
	ctx := context.Background()
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Timeout: 60_000}
	code, err := extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{EnableWasi: true}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { code.Close(ctx) })
	instance := func() *extism.Plugin {
		inst, err := code.Instance(ctx, extism.PluginInstanceConfig{})
		if err != nil {
			b.Fatal(err)
		}
		return inst
	}
	same := instance()
	return func(fresh bool, total *time.Duration) *abi.Output {
		start := time.Now()
		doc, err := gojson.MarshalWithOption(in, gojson.DisableHTMLEscape())
		if err != nil {
			b.Fatal(err)
		}
		inst := same
		if fresh {
			inst = instance()
			defer inst.Close(ctx)
		}
		_, answer, err := inst.CallWithContext(ctx, pre, doc)
		if err != nil {
			b.Fatal(err)
		}
		out := new(abi.Output)
		if err := gojson.Unmarshal(answer, out); err != nil {
			b.Fatal(err)
		}
		*total += time.Since(start)
		return out
	}
}
