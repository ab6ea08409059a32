package extism_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/extism"
)

// engineCase is one plugin and one call that both engines make.
type engineCase struct {
	name string
	wasm []byte
	// raw calls the hook with these bytes and takes the answer as it is; nil
	// calls it with an input of the ABI and decodes the answer.
	raw []byte
	o   runtime.PluginOptions
	// code is how it ends on the native engine.
	code abi.Code
	// differs are the aspects in which upstream's engine differs, of those
	// that outcome names.
	differs []string
	why     string
}

// outcome is what a call shows of itself, by aspect.
type outcome map[string]string

func aspects(out any, stats abi.CallStats, err error) outcome {
	doc, _ := json.Marshal(out)
	if raw, ok := out.([]byte); ok {
		doc = raw
	}
	o := outcome{
		"answer": string(doc), "code": string(abi.CodeOf(err)), "logs": fmt.Sprint(stats.Logs, stats.LogsDropped),
		"warnings": strings.Join(stats.Warnings, "\n"), "host calls": fmt.Sprint(stats.HostCalls, stats.HTTPRequests,
			stats.HTTPBytes, stats.HostCallBytes),
		"message": "", "hint": "", "phase": "",
	}
	if err != nil {
		e := abi.AsError(err)
		o["message"], o["hint"], o["phase"] = e.Message, e.Hint, string(e.Phase)
	}
	return o
}

func (a outcome) differs(b outcome) []string {
	var names []string
	for name := range a {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// on is the outcome of the case on an engine, with storage of its own. What
// fails at load has no other aspect.
func (tc *engineCase) on(t *testing.T, engine string) outcome {
	t.Helper()
	r := plugintest.New(t, runtime.Options{KV: plugintest.Owned("asks", map[string]string{"asks a": "1"}),
		Counter: plugintest.Bytes{}})
	o := tc.o
	o.Engine = engineOf(engine)
	p, err := plugintest.Load(t.Context(), r, tc.wasm, o)
	if err != nil {
		return aspects(nil, abi.CallStats{}, err)
	}
	if p.Info().Engine != engine {
		t.Errorf("engine %q, not %q", p.Info().Engine, engine)
	}
	if tc.raw != nil {
		out, stats, err := p.CallRaw(t.Context(), pre, tc.raw)
		return aspects(out, stats, err)
	}
	out, stats, err := p.Call(t.Context(), plugintest.HookInput())
	return aspects(out, stats, err)
}

// run makes the call on both engines and compares what it shows.
func (tc *engineCase) run(t *testing.T) {
	native, upstream := tc.on(t, runtime.EngineNative), tc.on(t, extism.Name)
	if native["code"] != string(tc.code) {
		t.Errorf("native ends with %q (%s), not %q", native["code"], native["message"], tc.code)
	}
	if got := native.differs(upstream); !slices.Equal(got, tc.differs) {
		t.Errorf("the engines differ in %q, declared are %q: %s", got, tc.differs, tc.why)
		for _, name := range got {
			t.Logf("%s\n native %.300q\n extism %.300q", name, native[name], upstream[name])
		}
	}
}

// granted is what most cases are loaded with.
var granted = runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: plugintest.GrantAll(plugintest.AsksAll),
	Limits: abi.Limits{MemoryMB: 32}}

func limited(l abi.Limits) runtime.PluginOptions {
	o := granted
	o.Limits = l
	return o
}

// TestEnginesAgree: a call gives the same answer, error, log, warnings and host
// calls on either engine. What differs is declared, with a case that shows it
// and a row in docs/engines.md.
func TestEnginesAgree(t *testing.T) {
	cases := slices.Concat(agreeing(), agreeingExtism(plugintest.Web(t)), differing())
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.run(t)
		})
	}
}

// agreeing are guests of our own ABI.
func agreeing() []engineCase {
	c32, call := wasmtest.Const32, wasmtest.Call
	cases := []engineCase{
		{name: "answer", wasm: wasmtest.Answer(pre, `{"inject":"x"}`), why: "an observer's answer"},
		{name: "compactor", wasm: wasmtest.Answer(pre, `{"messages":[{"ref":"m1"}],"superseded":["m2"],"summary":"s"}`)},
		{name: "nothing", wasm: wasmtest.Nothing(pre)},
		{name: "echo", wasm: wasmtest.Echo(pre), raw: []byte("back\x00again")},
		{name: "echo of nothing", wasm: wasmtest.Echo(pre), raw: []byte{}},
		{name: "retained facts", wasm: wasmtest.Answer(pre, `{"retain":["a fact"]}`),
			why: "facts and the warning on their namespace"},
		{name: "unknown field", wasm: wasmtest.Answer(pre, `{"inject":"x","colour":"red"}`), why: "a warning each"},
		{name: "no json", wasm: wasmtest.Answer(pre, `{"inject"`), code: abi.CodeBadOutput},
		{name: "duplicate key", wasm: wasmtest.Answer(pre, `{"inject":"a","inject":"b"}`), code: abi.CodeBadOutput},
		{name: "trap", wasm: wasmtest.Trap(pre), code: abi.CodeTrap, why: "with the same function in its message"},
		{name: "trap in a named function", wasm: wasmtest.Build(func(m *wasmtest.Module) {
			inner := m.Func(nil, nil, nil, wasmtest.Unreachable)
			m.Hook(pre, nil, call(inner), c32(0))
			m.FuncNames("inner", "outer")
		}), code: abi.CodeTrap},
		{name: "exit 0", wasm: wasmtest.Exit(pre, 0), code: abi.CodeExit, why: "an exit is no return, whatever its code"},
		{name: "exit 3", wasm: wasmtest.Exit(pre, 3), code: abi.CodeExit},
		{name: "exit as the engine does", wasm: wasmtest.Exit(pre, 0xefffffff), code: abi.CodeExit,
			why: "the engine's own code for a deadline"},
		{name: "costly to compile", wasm: wasmtest.Build(func(m *wasmtest.Module) {
			m.Hook(pre, slices.Repeat([]wasmtest.Type{wasmtest.I64}, 1000),
				bytes.Repeat([]byte{0x03, 0x40}, 21), bytes.Repeat([]byte{0x0b}, 21), c32(0))
		}), code: abi.CodeRefused, why: "21 loops and 1,000 locals: upstream by itself compiles what it gets, " +
			"however long that takes"},
		{name: "names of the host", wasm: wasmtest.Build(func(m *wasmtest.Module) {
			wasmtest.WithHook(m)
			m.Export("kagewasm.x", m.Func(nil, nil, nil))
		}), code: abi.CodeRefused, why: "a module that loads on one engine loads on the other"},
		{name: "failure", wasm: wasmtest.Fail(pre, "no \x1b[31mway"), code: abi.CodeExit},
		{name: "nonzero without a text", wasm: wasmtest.Build(func(m *wasmtest.Module) {
			m.Hook(pre, nil, c32(-7))
		}), code: abi.CodeExit},
		{name: "memory", wasm: wasmtest.EatMemory(pre), o: granted, code: abi.CodeMemory},
		{name: "output too long", wasm: wasmtest.Answer(pre, strings.Repeat(" ", 5<<20)), code: abi.CodeOutputLimit},
		{name: "stderr", wasm: wasmtest.Log(pre, "a line\nand \x1b[2Janother"), why: "WASI's streams are the log"},
		{name: "world", wasm: worldGuest(), raw: []byte{}, why: "the clock, randomness, arguments and environment of WASI"},
	}
	for op, request := range map[string]string{
		"log": `{"level":"warn","message":"hi"}`, "kv.get": `{"key":"a"}`, "kv.set": `{"key":"b","value":"2"}`,
		"kv.list":      `{"key":""}`,
		"tokens.count": `{"texts":["abc"]}`, "messages.get": `{"ids":["m2","m1"]}`,
		"compaction.request": `{"instructions":"now"}`, "fs.read": `{}`,
	} {
		wasm := wasmtest.HostCall(pre, op, request)
		in, _ := json.Marshal(plugintest.HookInput())
		cases = append(cases,
			engineCase{name: op, wasm: wasm, raw: in, o: granted, why: "a host call"},
			engineCase{name: op + " not granted", wasm: wasm, raw: in, why: "the same refusal in the envelope"})
	}
	return append(cases, engineCase{name: "asks for compaction",
		wasm: wasmtest.HostCall(pre, "compaction.request", `{}`), o: granted, why: "the request is in the answer"})
}

// worldGuest answers with what WASI shows it: the clock twice, 16 random bytes,
// and how many arguments and variables there are.
func worldGuest() []byte {
	return wasmtest.Build(func(m *wasmtest.Module) {
		i32, i64 := wasmtest.I32, wasmtest.I64
		clock := m.Import("wasi_snapshot_preview1", "clock_time_get", []wasmtest.Type{i32, i64, i32}, []wasmtest.Type{i32})
		random, args, env := wasmtest.WASI(m, "random_get", 2), wasmtest.WASI(m, "args_sizes_get", 2),
			wasmtest.WASI(m, "environ_sizes_get", 2)
		write := m.OutputWrite()
		m.Memory(1, -1, "memory")
		c32, c64, call := wasmtest.Const32, wasmtest.Const64, wasmtest.Call
		m.Hook(pre, nil,
			c32(0), c64(1), c32(0), call(clock), wasmtest.Drop, c32(1), c64(1), c32(8), call(clock), wasmtest.Drop,
			c32(16), c32(16), call(random), wasmtest.Drop,
			c32(32), c32(36), call(args), wasmtest.Drop, c32(40), c32(44), call(env), wasmtest.Drop,
			c32(0), c32(48), call(write))
	})
}

// agreeingExtism are guests of the Extism ABI. here is a server.
func agreeingExtism(here string) []engineCase {
	c32, c64, call, get := wasmtest.Const32, wasmtest.Const64, wasmtest.Call, wasmtest.Get
	knobs := &abi.Manifest{Name: "knobs", ABI: 1, Knobs: map[string]abi.Knob{
		"greeting": {Type: abi.KnobText, Default: []byte(`"hello"`)}, "loud": {Type: abi.KnobBoolean},
		"size": {Type: abi.KnobIntRange, Min: 0, Max: 9, Default: []byte("3")},
	}}
	webbed := runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapHTTP), Secrets: map[string]string{"key": secret},
		Grants: runtime.Grants{HTTP: []string{here}}}
	set := func(o runtime.PluginOptions, config string) runtime.PluginOptions {
		_ = json.Unmarshal([]byte(config), &o.Config)
		return o
	}
	// asked answers with what a call of one block returns for a name.
	asked := func(name, key string) []byte {
		return wasmtest.ExtismGuest(func(m *wasmtest.Module, imp func(string, string, string) wasmtest.Func) {
			text, get1 := wasmtest.Texts(imp), imp(name, "l", "l")
			length, output := imp("length", "l", "l"), imp("output_set", "ll", "")
			m.Hook(pre, []wasmtest.Type{wasmtest.I64}, text(0, key), get(0), call(get1), wasmtest.Set(0), get(0),
				get(0), call(length), call(output), c32(0))
		})
	}
	logging := func(names ...string) []byte {
		return wasmtest.ExtismGuest(func(m *wasmtest.Module, imp func(string, string, string) wasmtest.Func) {
			text := wasmtest.Texts(imp)
			var code []byte
			for _, name := range names {
				code = slices.Concat(code, text(0, name+" says \x1b[1m"+secret), get(0), call(imp(name, "l", "")))
			}
			m.Hook(pre, []wasmtest.Type{wasmtest.I64}, code, c32(0))
		})
	}
	failing := func(result int32) []byte {
		return wasmtest.ExtismGuest(func(m *wasmtest.Module, imp func(string, string, string) wasmtest.Func) {
			text, fail := wasmtest.Texts(imp), imp("error_set", "l", "")
			m.Hook(pre, []wasmtest.Type{wasmtest.I64}, text(0, "it went wrong"), get(0), call(fail), c32(result))
		})
	}
	raw := []byte("some input, longer than eight bytes")
	return []engineCase{
		{name: "extism echo", wasm: wasmtest.ExtismEcho(pre), raw: raw},
		{name: "extism echo of nothing", wasm: wasmtest.ExtismEcho(pre), raw: []byte{}},
		{name: "input offset", raw: raw,
			wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp func(string, string, string) wasmtest.Func) {

				at, length, output := imp("input_offset", "", "l"), imp("input_length", "", "l"), imp("output_set", "ll", "")
				m.Hook(pre, nil, call(at), call(length), call(output), c32(0))
			}), why: "the input as a block, handed on"},
		{name: "config", wasm: asked("config_get", "greeting"), raw: raw,
			o: set(runtime.PluginOptions{Manifest: knobs}, `{"greeting":"hi"}`)},
		{name: "config by default", wasm: asked("config_get", "greeting"), raw: raw,
			o: runtime.PluginOptions{Manifest: knobs}},
		{name: "config that is no text", wasm: asked("config_get", "loud"), raw: raw,
			o: set(runtime.PluginOptions{Manifest: knobs}, `{"loud":true}`)},
		{name: "config that is a number", wasm: asked("config_get", "size"), raw: raw,
			o: runtime.PluginOptions{Manifest: knobs}},
		{name: "config that is not there", wasm: asked("config_get", "other"), raw: raw,
			o: runtime.PluginOptions{Manifest: knobs}},
		{name: "variable that is not there", wasm: asked("var_get", "other"), raw: raw},
		{name: "variables", raw: raw,
			wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp func(string, string, string) wasmtest.Func) {

				text, varGet, varSet, length, output := wasmtest.Texts(imp), imp("var_get", "l", "l"),
					imp("var_set", "ll", ""), imp("length", "l", "l"), imp("output_set", "ll", "")
				m.Hook(pre, []wasmtest.Type{wasmtest.I64, wasmtest.I64}, text(0, "name"), text(1, "value"), get(0), get(1),
					call(varSet),
					text(0, "name"), get(0), call(varGet), wasmtest.Set(1), get(1), get(1), call(length), call(output), c32(0))
			})},
		{name: "a variable of 2 MB", raw: raw,
			wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp func(string, string, string) wasmtest.Func) {
				text, alloc, varGet, varSet, length := wasmtest.Texts(imp), imp("alloc", "l", "l"),
					imp("var_get", "l", "l"), imp("var_set", "ll", ""), imp("length", "l", "l")
				m.Hook(pre, []wasmtest.Type{wasmtest.I64}, text(0, "name"), get(0), c64(2_000_000), call(alloc), call(varSet),
					text(0, "name"), get(0), call(varGet), call(length), wasmtest.Wrap64, c32(2_000_000), wasmtest.Sub32)
			}), why: "the SDK's own limit of 1 MiB is lifted: variables have the memory of the call"},
		{name: "log", wasm: logging("log_trace", "log_debug", "log_info", "log_warn", "log_error"), o: webbed, raw: raw,
			why: "each line by its level, escaped and without secrets"},
		{name: "log level", raw: raw,
			wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp func(string, string, string) wasmtest.Func) {

				m.Hook(pre, nil, call(imp("get_log_level", "", "i")), c32(1), wasmtest.Sub32)
			}), why: "debug: a PDK leaves nothing out but traces"},
		{name: "error and failure", wasm: failing(1), raw: raw, code: abi.CodeExit},
		{name: "error and success", wasm: failing(0), raw: raw, why: "a warning holds the text"},
		{name: "http", wasm: wasmtest.ExtismFetch(here), o: webbed, raw: raw},
		{name: "http to another host", wasm: wasmtest.ExtismFetch("http://169.254.169.254/"), o: webbed, raw: raw,
			code: abi.CodeDenied},
		{name: "http that redirects", wasm: wasmtest.ExtismFetch(here + "/away"), o: webbed, raw: raw,
			code: abi.CodeDenied, why: "no redirect leads out of what is granted"},
		{name: "http not granted", wasm: wasmtest.ExtismFetch(here), raw: raw, code: abi.CodeDenied},
		{name: "more blocks than memory", raw: raw, o: limited(abi.Limits{MemoryMB: 4}),
			wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp func(string, string, string) wasmtest.Func) {
				m.Hook(pre, nil, wasmtest.Forever(c64(100_000), call(imp("alloc", "l", "l")), wasmtest.Wrap64, wasmtest.IfZeroTrap))
			}), code: abi.CodeMemory},
		{name: "freed memory", raw: raw,
			wasm: wasmtest.ExtismGuest(func(m *wasmtest.Module, imp func(string, string, string) wasmtest.Func) {

				alloc, free, load, store, set := imp("alloc", "l", "l"), imp("free", "l", ""), imp("load_u8", "l", "i"),
					imp("store_u8", "li", ""), wasmtest.Set
				m.Hook(pre, []wasmtest.Type{wasmtest.I64}, c64(8), call(alloc), set(0), get(0), c32(7), call(store), get(0),
					call(free), c64(8), call(alloc), call(load))
			}), why: "a new block is zero"},
		{name: "input larger than the memory", wasm: wasmtest.ExtismEcho(pre), raw: make([]byte, 5<<20),
			o: limited(abi.Limits{MemoryMB: 4}), code: abi.CodeInputLimit},
	}
}

// TestEnginesConcurrent: calls at once on one plugin get their own answers, on
// either engine.
func TestEnginesConcurrent(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	var wg sync.WaitGroup
	for _, engine := range engines {
		p := plugintest.MustLoad(t, r, wasmtest.ExtismEcho(pre),
			runtime.PluginOptions{Engine: engineOf(engine), Limits: abi.Limits{TimeoutMS: 60_000}})
		for w := range 4 {
			wg.Go(func() {
				for i := range 25 {
					in := fmt.Sprintf("%s %d %d", engine, w, i)
					if out, _, err := p.CallRaw(t.Context(), pre, []byte(in)); err != nil || string(out) != in {
						t.Errorf("%q: %q, %v", in, out, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

// TestEnginesDoc: the rows of docs/engines.md on what a guest can tell are the
// differences of the table, no more and no less.
func TestEnginesDoc(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(shared.Root(t), "docs", "engines.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "## What a plugin can tell")
	table, _, _ = strings.Cut(table, "\n## ")
	var rows, names []string
	for line := range strings.Lines(table) {
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && strings.HasPrefix(line, "| ") &&
			cell != "case" {
			rows = append(rows, cell)
		}
	}
	for _, tc := range differing() {
		names = append(names, tc.name)
		if len(tc.differs) == 0 || tc.why == "" {
			t.Errorf("%s: no difference, or no reason", tc.name)
		}
	}
	slices.Sort(rows)
	slices.Sort(names)
	if !slices.Equal(rows, names) {
		t.Errorf("rows %q\ncases %q", rows, names)
	}
}
