package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/internal/sandbox"
)

// busyStart is a guest that changes all it has while it starts, in the start
// section and in _initialize, and then answers with what it has: a global, its
// memory's size, bytes of its data, its randomness and its clock, each of both
// times.
func busyStart() []byte {
	return wasmtest.Build(func(m *wasmtest.Module) {
		c, call, drop := wasmtest.Const32, wasmtest.Call, wasmtest.Drop
		random, fdWrite := wasmtest.WASI(m, "random_get", 2), wasmtest.WASI(m, "fd_write", 4)
		clock := m.Import("wasi_snapshot_preview1", "clock_time_get",
			[]wasmtest.Type{wasmtest.I32, wasmtest.I64, wasmtest.I32}, []wasmtest.Type{wasmtest.I32})
		write := m.OutputWrite()
		m.Memory(1, 8, "memory")
		m.Data(100, []byte("data"))
		m.Data(102, []byte("over it\nand half a line"))
		m.Data(200, []byte{102, 0, 0, 0, 23, 0, 0, 0})
		constant := m.Global(wasmtest.I32, false, c(7))
		count := m.Global(wasmtest.I64, true, wasmtest.Const64(-5))
		m.Global(wasmtest.F64, true, append([]byte{0x44}, make([]byte, 8)...))
		add := func(n int64) []byte {
			return bytes.Join([][]byte{wasmtest.GetGlobal(count), wasmtest.Const64(n), wasmtest.Add64,
				wasmtest.SetGlobal(count)}, nil)
		}
		m.Start(m.Func(nil, nil, nil,
			add(10), c(2), wasmtest.MemoryGrow, drop, c(0), c(8), call(random), drop,
			c(100_000), wasmtest.GetGlobal(constant), wasmtest.Store8,
			c(2), c(200), c(1), c(300), call(fdWrite), drop))
		m.Export("_initialize", m.Func(nil, nil, nil,
			add(100), c(1), wasmtest.Const64(1), c(8), call(clock), drop))
		m.Hook(pre, nil,
			add(1_000), c(16), c(8), call(random), drop, c(1), wasmtest.Const64(1), c(24), call(clock), drop,
			c(32), wasmtest.GetGlobal(count), wasmtest.Store64, c(40), wasmtest.MemorySize, wasmtest.Store8,
			c(41), c(100_000), wasmtest.Load8, wasmtest.Store8,
			c(0), c(128), call(write))
	})
}

// A call cannot tell how its instance came to be: started as any engine does,
// started by the host, restored, or out of the pool. Output, logs and peak
// memory are the same.
func TestRestored(t *testing.T) {
	ctx := context.Background()
	input := plugintest.SessionInput(t)
	guests := map[string][]byte{
		"all its state": busyStart(), "bulk calls": wasmtest.Echo(pre), "Extism ABI": wasmtest.ExtismEcho(pre),
		"data":      wasmtest.Answer(pre, `{"inject":"x"}`),
		"no memory": wasmtest.Build(wasmtest.WithHook), "a log": wasmtest.Log(pre, "line"),
		"host calls": wasmtest.HostCall(pre, "log", `{"message":"x"}`),
		"a failure":  wasmtest.Fail(pre, "no"), "a trap": wasmtest.Trap(pre), "memory eaten": wasmtest.EatMemory(pre),
		"an exit": wasmtest.Exit(pre, 3),
	}
	if soak.Count(0, 1, 1) > 0 { // as any engine starts them they have to be compiled, and TestImages has one
		guests["keeper, in Go"] = plugintest.Guest(t, "plugins/keeper")
		guests["markdown, in Go"] = plugintest.Guest(t, "plugins/markdown")
	}
	for name, wasm := range guests {
		t.Run(name, func(t *testing.T) {
			r := plugintest.New(t, runtime.Options{KV: &plugintest.KV{Data: map[string]string{}}, Counter: plugintest.Bytes{}})
			o := runtime.PluginOptions{Grants: runtime.Grants{KV: true}}
			attached, err := loadAttached(ctx, newEngine(t, sandbox.Options{}), r, wasm, o)
			if err != nil {
				t.Fatal(err)
			}
			p, code := spied(t, sandbox.Options{CacheDir: plugintest.CacheDir(t)}, r, wasm, o)
			want := answerOf(ctx, attached, input)
			if strings.HasSuffix(name, "in Go") && (want.err != "" || len(want.stats.HostCalls) == 0 && want.out == "") {
				t.Fatalf("it does nothing: %+v", want)
			}
			if name == "all its state" && (len(want.out) != 128 || len(want.stats.Logs) != 2) {
				t.Fatalf("%+v", want)
			}
			for i, how := range []string{"started", "restored", "out of the pool", "out of the pool again"} {
				t.Run(how, func(t *testing.T) {
					if i > 1 {
						plugintest.Await(t, "an idle instance", func() bool { return code.Idle() > 0 })
					}
					if got := answerOf(ctx, p, input); !reflect.DeepEqual(got, want) {
						t.Errorf("%s:\n%+v\nwant\n%+v", how, got, want)
					}
				})
			}
			if !code.Restores() {
				t.Error("it was not restored")
			}
		})
	}
}

// answer is what a call shows, but for the time it took.
type answer struct {
	out   string
	stats abi.CallStats
	err   string
}

func answerOf(ctx context.Context, p *runtime.Plugin, input []byte) answer {
	out, stats, err := p.CallRaw(ctx, pre, input)
	a := answer{out: string(out), stats: stats}
	a.stats.MS = 0
	if err != nil {
		a.err = err.Error()
	}
	return a
}

// Memory is restored by copying and by mapping, whichever the host chose.
func TestImages(t *testing.T) {
	p, code := spied(t, sandbox.Options{CacheDir: plugintest.CacheDir(t)},
		plugintest.New(t, runtime.Options{Counter: plugintest.Bytes{}}), plugintest.Guest(t, "plugins/keeper"),
		runtime.PluginOptions{})
	want := answerOf(context.Background(), p, plugintest.SessionInput(t)).out
	for _, mapped := range []bool{false, true} {
		t.Run(fmt.Sprintf("mapped %v", mapped), func(t *testing.T) {
			x, err := code.Instances(mapped)
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			for range 3 {
				if out, err := x.Restore(plugintest.SessionInput(t)); err != nil || string(out) != want || want == "" {
					t.Errorf("mapped %v: %q, %v, want %q", mapped, out, err, want)
				}
			}
		})
	}
}

// TestStartedAfresh: a guest that could tell is started afresh for every call, and answers the same
// each time.
func TestStartedAfresh(t *testing.T) {
	c := wasmtest.Const32
	for _, tc := range []struct {
		name, why string
		build     func(m *wasmtest.Module, write wasmtest.Func)
	}{
		{"asks its host", "the input is another in every call", func(m *wasmtest.Module, write wasmtest.Func) {
			length := m.Import(abi.ImportModule, "input_length", nil, []wasmtest.Type{wasmtest.I32})
			m.Memory(1, -1, "memory")
			m.Export("_initialize", m.Func(nil, nil, nil, c(64), wasmtest.Call(length), wasmtest.Store8))
		}},
		{"closes a stream", "a restored guest would have it open", func(m *wasmtest.Module, _ wasmtest.Func) {
			closeFile := wasmtest.WASI(m, "fd_close", 1)
			m.Memory(1, -1, "memory")
			m.Export("_initialize", m.Func(nil, nil, nil, c(64), c(1), wasmtest.Call(closeFile), wasmtest.Store8))
		}},
		{"changes a table", "tables are not part of the state", func(m *wasmtest.Module, _ wasmtest.Func) {
			m.Memory(1, -1, "memory")
			m.Table(1, 10)
			m.Export("_initialize", m.Func(nil, nil, nil, c(64), wasmtest.NullFunc, c(3), wasmtest.TableGrow, wasmtest.Store8))
		}},
		{"fills its memory", "a copy would be as large", func(m *wasmtest.Module, _ wasmtest.Func) {
			m.Memory(512, -1, "memory")
			m.Export("_initialize", m.Func(nil, nil, nil, c(0), c(1), c(32<<20), wasmtest.MemoryFill))
		}},
		{"has a global that is no number", "the host cannot set it", func(m *wasmtest.Module, _ wasmtest.Func) {
			m.Memory(1, -1, "memory")
			m.Global(wasmtest.FuncRef, true, wasmtest.NullFunc)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wasm := wasmtest.Build(func(m *wasmtest.Module) {
				write := m.OutputWrite()
				tc.build(m, write)
				m.Hook(pre, nil, c(64), c(8), wasmtest.Call(write))
			})
			r := plugintest.New(t, runtime.Options{})
			attached, err := loadAttached(t.Context(), newEngine(t, sandbox.Options{}), r, wasm, runtime.PluginOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p, code := spied(t, sandbox.Options{}, r, wasm, runtime.PluginOptions{})
			for _, input := range []string{"", "abc", "abcdef"} {
				t.Run(fmt.Sprintf("input %q", input), func(t *testing.T) {
					got, want := answerOf(context.Background(), p, []byte(input)),
						answerOf(context.Background(), attached, []byte(input))
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%+v, want %+v", got, want)
					}
				})
			}
			if code.Restores() {
				t.Errorf("it was restored: %s", tc.why)
			}
		})
	}
}

// What fails while a guest starts fails in every call, in the phase
// instantiate.
func TestStartFails(t *testing.T) {
	for _, tc := range []struct {
		name  string
		code  abi.Code
		build func(m *wasmtest.Module)
	}{
		{"a trap in the start section", abi.CodeTrap, func(m *wasmtest.Module) {
			m.Start(m.Func(nil, nil, nil, wasmtest.Unreachable))
		}},
		{"a loop in the start section", abi.CodeDeadline, func(m *wasmtest.Module) {
			m.Start(m.Func(nil, nil, nil, wasmtest.Forever()))
		}},
		{"a trap in _initialize", abi.CodeTrap, func(m *wasmtest.Module) {
			m.Export("_initialize", m.Func(nil, nil, nil, wasmtest.Unreachable))
		}},
		{"data outside of the memory", abi.CodeTrap, func(m *wasmtest.Module) { m.Data(1<<16-2, []byte("abc")) }},
		{"data far outside", abi.CodeTrap, func(m *wasmtest.Module) { m.Data(-1, nil); m.Data(0, []byte("abc")) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wasm := wasmtest.Build(func(m *wasmtest.Module) { m.Memory(1, -1, "memory"); tc.build(m); wasmtest.WithHook(m) })
			p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasm,
				runtime.PluginOptions{Limits: limitsFor(tc.code)})
			for range 2 {
				_, _, err := p.Call(context.Background(), plugintest.HookInput())
				if e := plugintest.WantError(t, err, tc.code); e.Phase != abi.PhaseInstantiate {
					t.Errorf("phase %s", e.Phase)
				}
			}
		})
	}
}

// Names of exports that the host gives itself are refused.
func TestReservedExports(t *testing.T) {
	wasm := wasmtest.Build(func(m *wasmtest.Module) {
		m.Export("kagewasm.start", m.Func(nil, nil, nil))
		wasmtest.WithHook(m)
	})
	_, err := plugintest.Load(context.Background(), plugintest.New(t, runtime.Options{}), wasm, runtime.PluginOptions{})
	plugintest.WantError(t, err, abi.CodeRefused)
}
