package runtime_test

import (
	"context"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

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
		all = append(all, plugintest.Pauses(f))
	}
	plugintest.ReportSpread(b, all, "pause")
}
