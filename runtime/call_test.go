package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// every way in which a guest can fail ends in an error of its own
// code, and the next call is as good as ever.
func TestFailures(t *testing.T) {
	features.Proves(t, "N1")
	c32 := wasmtest.Const32
	loop := func(where func(m *wasmtest.Module, f wasmtest.Func)) []byte {
		return wasmtest.Build(func(m *wasmtest.Module) {
			where(m, m.Func(nil, nil, nil, wasmtest.Forever()))
			wasmtest.WithHook(m)
		})
	}
	for _, tc := range []struct {
		name  string
		wasm  []byte
		code  abi.Code
		phase abi.Phase
		why   string
	}{
		{"loop", wasmtest.Loop(pre), abi.CodeDeadline, abi.PhaseCall, "a hook that never returns"},
		{"start loop", loop((*wasmtest.Module).Start), abi.CodeDeadline, abi.PhaseInstantiate,
			"the limit covers the start section"},
		{"init loop", loop(func(m *wasmtest.Module, f wasmtest.Func) {
			m.Export("_initialize", f)
		}), abi.CodeDeadline, abi.PhaseInstantiate, "and _initialize"},
		{"ctors loop", loop(func(m *wasmtest.Module, f wasmtest.Func) {
			m.Export("__wasm_call_ctors", f)
		}), abi.CodeDeadline, abi.PhaseInstantiate, "and constructors"},
		{"trap", wasmtest.Trap(pre), abi.CodeTrap, abi.PhaseCall, "unreachable"},
		{"start trap", wasmtest.Build(func(m *wasmtest.Module) {
			m.Start(m.Func(nil, nil, nil, wasmtest.Unreachable))
			wasmtest.WithHook(m)
		}), abi.CodeTrap, abi.PhaseInstantiate, "a trap in the start section"},
		{"recursion", wasmtest.Recurse(pre), abi.CodeStack, abi.PhaseCall, "calls without end"},
		{"memory", wasmtest.EatMemory(pre), abi.CodeMemory, abi.PhaseCall, "a grow that was denied explains the trap"},
		{"memory, then nonzero", wasmtest.Build(func(m *wasmtest.Module) {
			m.Memory(1, -1, "")
			m.Hook(pre, nil, c32(65000), wasmtest.MemoryGrow)
		}), abi.CodeMemory, abi.PhaseCall, "and the failure"},
		{"exit", wasmtest.Exit(pre, 3), abi.CodeExit, abi.PhaseCall, "a hook returns, it does not exit"},
		{"exit 0", wasmtest.Exit(pre, 0), abi.CodeExit, abi.PhaseCall, "nor well"},
		{"exit as a deadline", wasmtest.Exit(pre, 0xefffffff), abi.CodeExit, abi.PhaseCall,
			"the engine's code for a deadline, from the guest"},
		{"exit as canceled", wasmtest.Exit(pre, 0xffffffff), abi.CodeExit, abi.PhaseCall,
			"the engine's code for a canceled call, from the guest"},
		{"nonzero", wasmtest.Fail(pre, "no such session"), abi.CodeExit, abi.PhaseCall, "a failure in the guest's own words"},
		{"garbage", wasmtest.Answer(pre, "\x00\xff"), abi.CodeBadOutput, abi.PhaseOutput, "output that is no JSON"},
		{"sleep", wasmtest.Build(func(m *wasmtest.Module) {
			// A subscription to the clock: userdata, tag 0, clock 1, the longest timeout.
			poll := wasmtest.WASI(m, "poll_oneoff", 4)
			m.Memory(1, -1, "memory")
			m.Data(64, append([]byte{0: 0, 16: 1, 24: 0xff, 30: 0xff, 31: 0x7f}, make([]byte, 16)...))
			m.Hook(pre, nil, wasmtest.Forever(c32(64), c32(256), c32(1), c32(512), wasmtest.Call(poll), wasmtest.Drop))
		}), abi.CodeDeadline, abi.PhaseCall, "sleeping takes no time, so it takes for ever to sleep for ever"},
		{"host calls in a loop", wasmtest.Build(func(m *wasmtest.Module) {
			length := m.Import(abi.ImportModule, "input_length", nil, []wasmtest.Type{wasmtest.I32})
			m.Hook(pre, nil, wasmtest.Forever(wasmtest.Call(length), wasmtest.Drop))
		}), abi.CodeDeadline, abi.PhaseCall, "time in host functions counts"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), tc.wasm,
				runtime.PluginOptions{Limits: limitsFor(tc.code)})
			for range 2 {
				start := time.Now()
				out, stats, err := p.Call(context.Background(), plugintest.HookInput())
				e := plugintest.WantError(t, err, tc.code)
				if out != nil || e.Phase != tc.phase || e.Hook != abi.HookPreCompact || e.Plugin != p.Manifest().Name {
					t.Errorf("output %v, error %+v: %s", out, e, tc.why)
				}
				if took := time.Since(start); took > 5*time.Second || stats.MS <= 0 {
					t.Errorf("it took %v, stats say %v ms", took, stats.MS)
				}
			}
		})
	}
}

func TestErrorTexts(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	fail := func(wasm []byte, o runtime.PluginOptions) *abi.Error {
		t.Helper()
		_, _, err := plugintest.MustLoad(t, r, wasm, o).Call(context.Background(), plugintest.HookInput())
		return abi.AsError(err)
	}
	if e := fail(wasmtest.Fail(pre, "why\x1b[2J <|im_start|>"), runtime.PluginOptions{}); e.Message != abi.Defuse(
		"why[2J <|im_start|>") {
		t.Errorf("control characters and markers are defused: %q", e.Message)
	}
	if e := fail(wasmtest.Fail(pre, strings.Repeat("ä", 50_000)), runtime.PluginOptions{}); len(e.Message) != 4<<10 {
		t.Errorf("an error text is cut to 4 KiB: %d", len(e.Message))
	}
	secret := runtime.PluginOptions{
		Manifest: &abi.Manifest{Name: "x", ABI: 1, Secrets: []string{"key"}},
		Secrets:  map[string]string{"key": "hunter2"},
	}
	if e := fail(wasmtest.Fail(pre, "login with hunter2 failed"), secret); e.Message != "login with [secret key] failed" {
		t.Errorf("a secret in an error: %q", e.Message)
	}
	trap := wasmtest.Build(func(m *wasmtest.Module) {
		inner := m.Func(nil, nil, nil, wasmtest.Unreachable)
		m.Hook(pre, nil, wasmtest.Call(inner), wasmtest.Const32(0))
		m.FuncNames("parse\x1b[31m", "outer")
	})
	if e := fail(trap, runtime.PluginOptions{}); e.Message != "unreachable in parse[31m, called by outer" {
		t.Errorf("a trap names the functions: %q", e.Message)
	}
	// A name of a megabyte in every frame of a deep stack would cost the host
	// dearly; such a name section is not compiled in.
	long := wasmtest.Build(func(m *wasmtest.Module) {
		m.Hook(pre, nil, wasmtest.Unreachable)
		m.FuncNames(strings.Repeat("x", 1<<20))
	})
	if e := fail(long, runtime.PluginOptions{}); len(e.Message) > 200 {
		t.Errorf("a long name: %d bytes", len(e.Message))
	}
}

// TestTrapHints: what to do about a trap depends on what it is.
func TestTrapHints(t *testing.T) {
	zero, far := wasmtest.Const32(0), wasmtest.Const32(-8)
	said := make(map[string]string)
	for trap, code := range map[string][]byte{
		"unreachable":            wasmtest.Unreachable,
		"integer divide by zero": slices.Concat(zero, zero, []byte{0x6d}, wasmtest.Drop),
		"integer overflow": slices.Concat(wasmtest.Const32(math.MinInt32), wasmtest.Const32(-1),
			[]byte{0x6d}, wasmtest.Drop),
		"out of bounds memory access": slices.Concat(far, wasmtest.Load32, wasmtest.Drop),
	} {
		t.Run(trap, func(t *testing.T) {
			guest := wasmtest.Build(func(m *wasmtest.Module) { m.Memory(1, -1, ""); m.Hook(pre, nil, code, zero) })
			p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), guest, runtime.PluginOptions{})
			_, _, err := p.Call(t.Context(), plugintest.HookInput())
			e := plugintest.WantError(t, err, abi.CodeTrap)
			if !strings.HasPrefix(e.Message, trap) || e.Hint == "" || said[e.Hint] != "" {
				t.Errorf("%q has the hint %q, which %q has too", e.Message, e.Hint, said[e.Hint])
			}
			said[e.Hint] = trap
		})
	}
}

func TestCanceled(t *testing.T) {
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.Loop(pre), runtime.PluginOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, _, err := p.Call(ctx, plugintest.HookInput())
	if plugintest.WantError(t, err, abi.CodeCanceled); !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is lost: %v", err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, _, err = p.Call(ctx, plugintest.HookInput())
	plugintest.WantError(t, err, abi.CodeDeadline)
	_, _, err = p.Call(ctx, plugintest.HookInput())
	plugintest.WantError(t, err, abi.CodeDeadline)
}

func TestOutputLimit(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	limits := abi.Limits{OutputBytes: 100}
	long := strings.Repeat(" ", 101)
	_, _, err := plugintest.MustLoad(t, r, wasmtest.Answer(pre, long), runtime.PluginOptions{Limits: limits}).Call(
		context.Background(), plugintest.HookInput())
	plugintest.WantError(t, err, abi.CodeOutputLimit)
	// The same, from a guest that does not look at what output_write says.
	ignores := wasmtest.Build(func(m *wasmtest.Module) {
		write := m.OutputWrite()
		m.Memory(1, -1, "memory")
		m.Hook(pre, nil, wasmtest.Forever(wasmtest.Const32(0), wasmtest.Const32(60000), wasmtest.Call(write),
			wasmtest.Drop, wasmtest.Const32(0), wasmtest.Return))
	})
	_, stats, err := plugintest.MustLoad(t, r, ignores, runtime.PluginOptions{Limits: limits}).Call(
		context.Background(), plugintest.HookInput())
	if plugintest.WantError(t, err, abi.CodeOutputLimit); stats.OutputBytes != 0 {
		t.Errorf("%d bytes got out", stats.OutputBytes)
	}
	out, _, err := plugintest.MustLoad(t, r, wasmtest.Answer(pre, long[:100]),
		runtime.PluginOptions{Limits: limits}).Call(context.Background(), plugintest.HookInput())
	if err != nil || out != nil {
		t.Errorf("100 bytes of 100: %v, %v", out, err)
	}
}

// An input larger than the guest's memory is refused before anything runs: the
// guest would see an empty input, or trap.
func TestInputLimit(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	small := wasmtest.Build(func(m *wasmtest.Module) { m.Memory(1, 2, "memory"); wasmtest.WithHook(m) })
	for _, tc := range []struct {
		name  string
		wasm  []byte
		bytes int
		code  abi.Code
	}{
		{"over the limit", wasmtest.Echo(pre), 2<<20 + 1, abi.CodeInputLimit},
		{"over the guest's own maximum", small, 128<<10 + 1, abi.CodeInputLimit},
		{"within", small, 128 << 10, ""},
		{"over what Extism can hold", wasmtest.ExtismEcho(pre), 2<<20 + 1, abi.CodeInputLimit},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := plugintest.MustLoad(t, r, tc.wasm, runtime.PluginOptions{Limits: abi.Limits{MemoryMB: 2}})
			_, _, err := p.CallRaw(context.Background(), pre, make([]byte, tc.bytes))
			if got := abi.CodeOf(err); got != tc.code {
				t.Errorf("code %q, want %q: %v", got, tc.code, err)
			}
		})
	}
}

func TestEcho(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	for name, wasm := range map[string][]byte{"bulk": wasmtest.Echo(pre), "extism": wasmtest.ExtismEcho(pre)} {
		t.Run(name, func(t *testing.T) {
			for _, engine := range engines {
				p := plugintest.MustLoad(t, r, wasm, runtime.PluginOptions{Engine: engineOf(engine)})
				for _, size := range []int{0, 1, 7, 8, 9, 64, 65536, 1 << 20} {
					t.Run(fmt.Sprintf("%s, %d bytes", engine, size), func(t *testing.T) {
						in := bytes.Repeat([]byte("0123456789abcdef!"), size/17+1)[:size]
						out, stats, err := p.CallRaw(context.Background(), pre, in)
						if err != nil || !bytes.Equal(in, out) {
							t.Errorf("%s, %s, %d bytes: %d came back, %v", name, engine, size, len(out), err)
						}
						if stats.InputBytes != size || stats.OutputBytes != size ||
							stats.PeakMemoryBytes < int64(size) || stats.PeakMemoryBytes > 64<<20 {
							t.Errorf("%s, %s, %d bytes: stats %+v", name, engine, size, stats)
						}
					})
				}
			}
		})
	}
}

// What reaches the guest is what encoding/json would write, with the host's
// fields filled in, and the caller's input is as it was.
func TestInput(t *testing.T) {
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.Echo(pre), runtime.PluginOptions{
		Manifest: &abi.Manifest{Name: "x", ABI: 1, Knobs: map[string]abi.Knob{
			"depth": {Type: abi.KnobIntRange, Min: 1, Max: 9, Default: []byte("3")}, "style": {Type: abi.KnobText},
		}},
		Config: abi.Config{"style": []byte(`"<short>"`)},
	})
	in := plugintest.HookInput()
	before, _ := json.Marshal(in)
	// The echo answers with the input: messages are those of the input.
	out, _, err := p.Call(context.Background(), in)
	if err != nil || len(out.Messages) != 2 || out.Messages[0].Content.Text() != "fix <it>" ||
		!reflect.DeepEqual(out.Messages[1].Message, in.Messages[1].Message) {
		t.Fatalf("%+v, %v", out, err)
	}
	if after, _ := json.Marshal(in); !bytes.Equal(before, after) {
		t.Errorf("the input was changed:\n%s\n%s", before, after)
	}
	if in.Config != nil || in.ABI != 0 {
		t.Error("the input was filled in in place")
	}
}

func TestLazyContent(t *testing.T) {
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.Echo(pre), runtime.PluginOptions{
		Manifest: &abi.Manifest{Name: "x", ABI: 1, Content: abi.ContentLazy},
	})
	in := plugintest.HookInput()
	out, _, err := p.Call(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if m := out.Messages[0]; m.ID != "m1" || m.Content.Text() != "" {
		t.Errorf("a body was sent: %+v", m)
	}
	if c := out.Messages[1].ToolCalls[0]; c.Name != "read" || c.Arguments != "" {
		t.Errorf("arguments were sent: %+v", c)
	}
	// What was left out can be fetched.
	in.Messages[0].Content = abi.Text(strings.Repeat("x", 10_000))
	p = plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}),
		wasmtest.HostCall(pre, "messages.get", `{"ids":["m1"]}`), runtime.PluginOptions{Manifest: p.Manifest()})
	if _, stats, err := p.Call(context.Background(), in); err != nil || stats.InputBytes > 2_000 ||
		stats.OutputBytes < 10_000 {
		t.Errorf("%d bytes in, %d fetched, %v", stats.InputBytes, stats.OutputBytes, err)
	}
	if in.Messages[0].Content.Text() == "" || in.Messages[1].ToolCalls[0].Arguments == "" {
		t.Error("the caller's input lost its bodies")
	}
}

func TestOutput(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	ids := strings.Repeat(`"m",`, abi.MaxOutputIDs)
	for _, tc := range []struct {
		name, json string
		code       abi.Code
		says       string
		why        string
	}{
		{"nothing", "", "", "", "an empty output says nothing"},
		{"null", " null\n", "", "", "as does null"},
		{"object", `{"retain":["a"]}`, "", "", "an observer's output"},
		{"list", `[]`, abi.CodeBadOutput, "object", "an output is an object or null"},
		{"text", `"x"`, abi.CodeBadOutput, "object", ""},
		{"wrong type", `{"retain":"a"}`, abi.CodeBadOutput, "retain", "the field is named"},
		{"wrong type inside", `{"messages":[{"role":5}]}`, abi.CodeBadOutput,
			"messages[0].role: a number, where a text belongs", "with its path"},
		{"nobody's message", `{"messages":[{"ref":"m1"},{}]}`, abi.CodeBadOutput, "messages[1]: it names nothing",
			"each names a message, or is one"},
		{"another case", `{"Cancel":true}`, abi.CodeBadOutput, `"cancel"`, "decoders would take it"},
		{"duplicate", `{"summary":"a","summary":"b"}`, abi.CodeBadOutput, "duplicate", "decoders disagree"},
		{"trailing", `{} {}`, abi.CodeBadOutput, "trailing", ""},
		{"deep", strings.Repeat(`{"meta":`, 100) + "1" + strings.Repeat("}", 100), abi.CodeBadOutput, "nested", ""},
		{"many ids", `{"superseded":[` + ids + `"m"]}`, abi.CodeBadOutput, "messages, ", "ids are bounded"},
		{"utf-8", "{\"reason\":\"\xff\"}", abi.CodeBadOutput, "utf-8", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, _, err := plugintest.MustLoad(t, r, wasmtest.Answer(pre, tc.json), runtime.PluginOptions{}).Call(
				context.Background(), plugintest.HookInput())
			if got := abi.CodeOf(err); got != tc.code {
				t.Fatalf("code %q, want %q: %v: %s", got, tc.code, err, tc.why)
			}
			if err != nil && (out != nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("output %v, error %v does not say %q", out, err, tc.says)
			}
		})
	}
	out, stats, err := plugintest.MustLoad(
		t, r, wasmtest.Answer(pre, `{"inject":"x","injekt":{"inject":1},"\u0061b":[]}`),
		runtime.PluginOptions{}).Call(context.Background(), plugintest.HookInput())
	if err != nil || out.Inject != "x" || len(stats.Warnings) != 2 ||
		!strings.Contains(stats.Warnings[0], `"injekt"`) || !strings.Contains(stats.Warnings[1], `"ab"`) {
		t.Errorf("unknown fields are warned of: %+v, %q, %v", out, stats.Warnings, err)
	}
}

// One call, one instance: what a call leaves in memory or in globals is not
// there for the next.
func TestFreshInstance(t *testing.T) {
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.Build(func(m *wasmtest.Module) {
		m.Memory(1, -1, "memory")
		// Returns what is at 0, and leaves a 1 there.
		m.Hook(pre, []wasmtest.Type{wasmtest.I32}, wasmtest.Const32(0), wasmtest.Load8, wasmtest.Set(0),
			wasmtest.Const32(0), wasmtest.Const32(1), wasmtest.Store8, wasmtest.Get(0))
	}), runtime.PluginOptions{})
	for range 3 {
		if _, _, err := p.Call(context.Background(), plugintest.HookInput()); err != nil {
			t.Fatalf("state of the call before: %v", err)
		}
	}
}

// The world of a guest is the same in every call: clock, randomness, arguments
// and environment.
func TestDeterministic(t *testing.T) {
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.Build(func(m *wasmtest.Module) {
		random := wasmtest.WASI(m, "random_get", 2)
		clock := m.Import("wasi_snapshot_preview1", "clock_time_get",
			[]wasmtest.Type{wasmtest.I32, wasmtest.I64, wasmtest.I32}, []wasmtest.Type{wasmtest.I32})
		args, env := wasmtest.WASI(m, "args_sizes_get", 2), wasmtest.WASI(m, "environ_sizes_get", 2)
		write := m.OutputWrite()
		c := wasmtest.Const32
		m.Memory(1, -1, "memory")
		m.Hook(pre, nil,
			c(0), c(32), wasmtest.Call(random), wasmtest.Drop,
			c(0), wasmtest.Const64(1), c(32), wasmtest.Call(clock), wasmtest.Drop, // wall clock
			c(1), wasmtest.Const64(1), c(40), wasmtest.Call(clock), wasmtest.Drop, // monotonic
			c(48), c(52), wasmtest.Call(args), wasmtest.Drop,
			c(56), c(60), wasmtest.Call(env), wasmtest.Drop,
			c(0), c(64), wasmtest.Call(write))
	}), runtime.PluginOptions{})
	var first []byte
	for range 3 {
		out, _, err := p.CallRaw(context.Background(), pre, nil)
		if err != nil || len(out) != 64 {
			t.Fatal(len(out), err)
		}
		if first == nil {
			first = out
		}
		if !bytes.Equal(out, first) {
			t.Error("two calls see different worlds")
		}
	}
	if bytes.Equal(first[:32], make([]byte, 32)) {
		t.Error("no randomness at all")
	}
	if !bytes.Equal(first[48:], make([]byte, 16)) {
		t.Errorf("arguments or environment: %x", first[48:])
	}
}

// Everything that could hold a file says no.
func TestNoFiles(t *testing.T) {
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.Build(func(m *wasmtest.Module) {
		open := m.Import("wasi_snapshot_preview1", "path_open",
			[]wasmtest.Type{wasmtest.I32, wasmtest.I32, wasmtest.I32, wasmtest.I32, wasmtest.I32, wasmtest.I64,
				wasmtest.I64, wasmtest.I32, wasmtest.I32}, []wasmtest.Type{wasmtest.I32})
		c, c64 := wasmtest.Const32, wasmtest.Const64
		m.Memory(1, -1, "memory")
		m.Data(0, []byte("etc/passwd"))
		m.Hook(pre, nil, c(3), c(0), c(0), c(10), c(0), c64(-1), c64(-1), c(0), c(64), wasmtest.Call(open))
	}), runtime.PluginOptions{})
	_, _, err := p.Call(context.Background(), plugintest.HookInput())
	plugintest.WantError(t, err, abi.CodeExit)
}

func TestCallUsage(t *testing.T) {
	ctx := context.Background()
	r := plugintest.New(t, runtime.Options{})
	p := plugintest.MustLoad(t, r, wasmtest.Nothing(pre), runtime.PluginOptions{})
	_, _, err := p.Call(ctx, &abi.Input{Hook: abi.HookTurnEnd})
	plugintest.WantError(t, err, abi.CodeUsage)
	_, _, err = p.CallRaw(ctx, "missing", nil)
	if e := plugintest.WantError(t, err, abi.CodeUsage); !strings.Contains(e.Message, pre) {
		t.Errorf("it does not say what there is: %s", e.Message)
	}
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(ctx); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	_, _, err = p.Call(ctx, plugintest.HookInput())
	plugintest.WantError(t, err, abi.CodeUsage)
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = plugintest.Load(ctx, r, wasmtest.Nothing(pre), runtime.PluginOptions{})
	plugintest.WantError(t, err, abi.CodeUsage)
}

func TestInterpreter(t *testing.T) {
	r := plugintest.New(t, runtime.Options{Interpreter: true, CacheDir: t.TempDir()})
	out, _, err := plugintest.MustLoad(t, r, wasmtest.Answer(pre, `{"inject":"x"}`), runtime.PluginOptions{}).Call(
		context.Background(), plugintest.HookInput())
	if err != nil || out.Inject != "x" {
		t.Errorf("%+v, %v", out, err)
	}
	for code, wasm := range map[abi.Code][]byte{abi.CodeDeadline: wasmtest.Loop(pre),
		abi.CodeStack: wasmtest.Recurse(pre), abi.CodeTrap: wasmtest.Trap(pre), abi.CodeMemory: wasmtest.EatMemory(pre)} {
		_, _, err := plugintest.MustLoad(t, r, wasm, runtime.PluginOptions{Limits: limitsFor(code)}).Call(
			context.Background(), plugintest.HookInput())
		plugintest.WantError(t, err, code)
	}
}
