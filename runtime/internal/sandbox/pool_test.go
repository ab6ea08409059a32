package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/soak"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/internal/sandbox"
)

func callRaw(t *testing.T, p *runtime.Plugin, input string) {
	t.Helper()
	if out, _, err := p.CallRaw(context.Background(), pre, []byte(input)); err != nil || string(out) != input {
		t.Errorf("%q: %q, %v", input, out, err)
	}
}

// Nothing is prepared for a plugin that was called once; then as many as
// allowed wait, and none after a time without calls or after Close.
func TestPool(t *testing.T) {
	for _, tc := range []struct{ warm, want int }{{0, 2}, {1, 1}, {5, 5}, {-1, 0}} {
		t.Run(fmt.Sprintf("warm %d", tc.warm), func(t *testing.T) {
			p, code := spied(t, sandbox.Options{}, plugintest.New(t, runtime.Options{}), wasmtest.Echo(pre),
				runtime.PluginOptions{Warm: tc.warm})
			callRaw(t, p, "first")
			time.Sleep(5 * time.Millisecond)
			if n := code.Idle(); n != 0 {
				t.Errorf("%d wait after one call", n)
			}
			for range 3 {
				callRaw(t, p, "next")
				plugintest.Await(t, "the pool", func() bool { return code.Idle() == tc.want })
			}
			if tc.want == 0 {
				return
			}
			code.Expire() // calls took some
			if n := code.Idle(); n != tc.want {
				t.Errorf("%d wait after calls", n)
			}
			code.Expire()
			time.Sleep(5 * time.Millisecond)
			if n := code.Idle(); n != 0 {
				t.Errorf("%d wait with no calls", n)
			}
			callRaw(t, p, "again")
			plugintest.Await(t, "the pool", func() bool { return code.Idle() == tc.want })
			if err := p.Close(context.Background()); err != nil || code.Idle() != 0 {
				t.Errorf("%d wait after closing, %v", code.Idle(), err)
			}
		})
	}
}

// What waits for calls has a bound over all plugins of a runtime; the oldest
// goes first.
func TestPoolReserve(t *testing.T) {
	e := newEngine(t, sandbox.Options{WarmBytes: 300 << 10}) // two of 128 KiB each
	r := plugintest.New(t, runtime.Options{})
	old, oldCode := spiedOn(t, e, r, wasmtest.Echo(pre), runtime.PluginOptions{Warm: 1})
	young, youngCode := spiedOn(t, e, r, wasmtest.Echo(pre), runtime.PluginOptions{})
	callRaw(t, old, "a")
	callRaw(t, old, "b")
	plugintest.Await(t, "the first pool", func() bool { return oldCode.Idle() == 1 })
	callRaw(t, young, "c")
	callRaw(t, young, "d")
	plugintest.Await(t, "the second pool", func() bool { return youngCode.Idle() == 2 })
	plugintest.Await(t, "the first to give way", func() bool { return oldCode.Idle() == 0 })
	callRaw(t, old, "e")
	none, noneCode := spied(t, sandbox.Options{WarmBytes: -1}, plugintest.New(t, runtime.Options{}), wasmtest.Echo(pre),
		runtime.PluginOptions{})
	for range 3 {
		callRaw(t, none, "f")
	}
	if n := noneCode.Idle(); n != 0 {
		t.Errorf("%d wait where none may", n)
	}
}

// The memory of a guest is zero at first, whoever had it before.
func TestMemoryIsZero(t *testing.T) {
	const size = 1 << 20
	c := wasmtest.Const32
	r := plugintest.New(t, runtime.Options{})
	writer := plugintest.MustLoad(t, r, wasmtest.Build(func(m *wasmtest.Module) {
		m.Memory(size>>16, -1, "memory")
		m.Hook(pre, nil, c(0), c(-1), c(size), wasmtest.MemoryFill, c(0))
	}), runtime.PluginOptions{})
	reader := plugintest.MustLoad(t, r, wasmtest.Build(func(m *wasmtest.Module) {
		write := m.OutputWrite()
		m.Memory(1, -1, "memory")
		m.Hook(pre, nil, c(size>>16), wasmtest.MemoryGrow, wasmtest.Drop, c(0), c(size), wasmtest.Call(write))
	}), runtime.PluginOptions{})
	for range 30 {
		if _, _, err := writer.CallRaw(context.Background(), pre, nil); err != nil {
			t.Fatal(err)
		}
		out, _, err := reader.CallRaw(context.Background(), pre, nil)
		if err != nil || len(out) != size || bytes.ContainsFunc(out, func(r rune) bool { return r != 0 }) {
			t.Fatalf("%d bytes, not all zero, %v", len(out), err)
		}
	}
}

// Guests of all kinds at once, plugins and runtimes closed in the middle:
// every answer is right, and nothing is left afterwards.
func TestPoolHammer(t *testing.T) {
	// A guest's memory has two gigabytes of address space: one left shows.
	const room = 2048
	goroutines := goruntime.NumGoroutine()
	space, _ := memoryMB(t)
	guests := map[abi.Code][]byte{
		"": wasmtest.Echo(pre), abi.CodeTrap: wasmtest.Trap(pre), abi.CodeMemory: wasmtest.EatMemory(pre),
		abi.CodeExit: wasmtest.Exit(pre, 1), abi.CodeDeadline: wasmtest.Loop(pre),
	}
	var calls atomic.Int64
	for round := range soak.Count(1, 3, 3) {
		r, err := runtime.New(context.Background(), runtime.Options{WarmBytes: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for code, wasm := range guests {
			t.Run(fmt.Sprintf("round %d, code %q", round, code), func(t *testing.T) {
				limits := abi.Limits{TimeoutMS: 2_000, MemoryMB: room}
				switch code {
				case abi.CodeDeadline:
					limits.TimeoutMS = 5
				case abi.CodeMemory:
					limits.MemoryMB = 2
				}
				for i, p := range []*runtime.Plugin{
					plugintest.MustLoad(t, r, wasm, runtime.PluginOptions{Limits: limits}),
					plugintest.MustLoad(t, r, wasm, runtime.PluginOptions{Limits: limits, Warm: 4}),
				} {
					t.Run(fmt.Sprintf("warm %v", i == 1), func(t *testing.T) {
						for w := range 3 {
							wg.Go(func() {
								for n := 0; ; n++ {
									in := fmt.Sprintf("%s-%d-%d-%d", code, i, w, n)
									out, _, err := p.CallRaw(context.Background(), pre, []byte(in))
									switch got := abi.CodeOf(err); {
									case got == abi.CodeUsage: // closed
										return
									case got != code, got == "" && string(out) != in:
										t.Errorf("%q, %v, want %q", out, err, code)
										return
									}
									calls.Add(1)
								}
							})
						}
						if i == 1 {
							wg.Go(func() {
								time.Sleep(50 * time.Millisecond)
								if err := p.Close(context.Background()); err != nil {
									t.Error(err)
								}
							})
						}
					})
				}
			})
		}
		time.Sleep(150 * time.Millisecond)
		plugintest.Await(t, "a hundred calls", func() bool { return calls.Load() >= int64(100*(round+1)) })
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
	plugintest.Await(t, "goroutines to end", func() bool { return goruntime.NumGoroutine() <= goroutines+2 })
	plugintest.Await(t, "address space to be given back", func() bool {
		now, _ := memoryMB(t)
		return now < space+room-100
	})
}

// After some calls nothing grows any more: neither memory, nor mappings,
// nor goroutines, nor files.
func TestPoolSteady(t *testing.T) {
	calls := soak.Count(400, 4_000, 20_000)
	r := plugintest.New(t, runtime.Options{Counter: plugintest.Bytes{}, CacheDir: plugintest.CacheDir(t)})
	small := plugintest.MustLoad(t, r, wasmtest.Echo(pre), runtime.PluginOptions{})
	eater := plugintest.MustLoad(t, r, wasmtest.EatMemory(pre), runtime.PluginOptions{Limits: abi.Limits{MemoryMB: 4}})
	inGo := plugintest.MustLoad(t, r, plugintest.Guest(t, "plugins/keeper"), runtime.PluginOptions{})
	call := func(n int) {
		callRaw(t, small, "x")
		if n%10 == 0 {
			_, _, err := eater.CallRaw(context.Background(), pre, nil)
			plugintest.WantError(t, err, abi.CodeMemory)
		}
		if n%100 == 0 {
			if _, _, err := inGo.Call(context.Background(), plugintest.HookInput()); err != nil {
				t.Fatal(err)
			}
		}
	}
	look := func() (rss, mappings, goroutines, files int) {
		goruntime.GC()
		files = -1
		if list, err := os.ReadDir("/proc/self/fd"); err == nil {
			files = len(list)
		}
		_, rss = memoryMB(t)
		return rss, countMappings(t), goruntime.NumGoroutine(), files
	}
	for n := range min(calls, 1_000) {
		call(n)
	}
	rss, mappings, goroutines, files := look()
	for n := range calls {
		call(n)
	}
	rss2, mappings2, goroutines2, files2 := look()
	t.Logf("resident %d to %d MB, %d to %d mappings, %d to %d goroutines, %d to %d files", rss, rss2, mappings,
		mappings2, goroutines, goroutines2, files, files2)
	if rss2 > rss+64 || mappings2 > mappings+200 || goroutines2 > goroutines+10 || files2 > files+10 {
		t.Error("something grows")
	}
}

// countMappings is how many mappings the process has, 0 where that cannot be
// known.
func countMappings(tb testing.TB) int {
	tb.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	return strings.Count(string(maps), "\n")
}

// memoryMB is the address space and the memory of the process, 0 where that
// cannot be known.
func memoryMB(tb testing.TB) (space, resident int) {
	tb.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	if _, err := fmt.Sscan(string(data), &space, &resident); err != nil {
		tb.Fatal(err)
	}
	return space * os.Getpagesize() >> 20, resident * os.Getpagesize() >> 20
}
