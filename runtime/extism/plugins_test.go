package extism_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime"
)

// sdkCase is a call of one of the plugins that Extism's SDK brings for its own
// tests, which Extism's libraries for Go, TinyGo, Rust, C and Haskell built.
type sdkCase struct {
	file, export, input string
	config              map[string]string
	code                abi.Code
	want                string // the answer, or what the error says
	logs                []string
}

// sdkCases are what the SDK's tests call, with their inputs and answers. http
// is called in TestExtismPluginsHTTP, and what the SDK's tests give a plugin
// that no operator can is in sdkOwn.
var sdkCases = []sdkCase{
	{file: "config", export: "run_test", config: map[string]string{"thing": "hello"}, want: `{"config": "hello"}`},
	{file: "alloc", export: "run_test"},
	{file: "config", export: "run_test", want: `{"config": "<unset by host>"}`},
	{file: "count_vowels", export: "count_vowels", input: "hello world",
		want: `{"count":3,"total":3,"vowels":"aeiouAEIOU"}`},
	{file: "count_vowels", export: "count_vowels", input: "aaaaaa", want: `{"count":6,"total":6,"vowels":"aeiouAEIOU"}`},
	{file: "count_vowels", export: "count_vowels", want: `{"count":0,"total":0,"vowels":"aeiouAEIOU"}`},
	{file: "count_vowels", export: "count_vowels", input: "bbbbbbb", want: `{"count":0,"total":0,"vowels":"aeiouAEIOU"}`},
	{file: "count_vowels_std", export: "_start", input: "hello world",
		want: `{"count": 3, "config": "<unset by host>", "a": "this is var a"}`},
	{file: "exit", export: "_start", config: map[string]string{"code": "-1"}, code: abi.CodeExit, want: "4294967295"},
	{file: "exit", export: "_start", config: map[string]string{"code": "500"}, code: abi.CodeExit, want: "500"},
	{file: "exit", export: "_start", config: map[string]string{"code": "abc"}, code: abi.CodeExit, want: "1"},
	{file: "exit", export: "_start", code: abi.CodeExit, want: "2"},
	{file: "fail", export: "run_test", code: abi.CodeExit, want: "Some error message"},
	{file: "fs", export: "run_test", code: abi.CodeExit, want: "1"}, // there are no files
	{file: "fs_std", export: "run_test", code: abi.CodeExit, want: "1"},
	{file: "hello", export: "run_test", want: "Hello, world!"},
	{file: "input_offset", export: "input_offset_length", input: "hello world", want: "\x0b\x00\x00\x00\x00\x00\x00\x00"},
	{file: "hello_haskell", export: "testing", input: "John", config: map[string]string{"greeting": "Howdy"},
		want: "Howdy, John"},
	{file: "log", export: "run_test", logs: []string{"debug", "info", "warn", "error"}},
	{file: "noop", export: "run_test"},
	{file: "println", export: "run_test", input: "a line"},
	{file: "read_write", export: "try_read", config: map[string]string{"path": "/mnt/test.txt"}, code: abi.CodeExit,
		want: "Failed to read file"},
	{file: "read_write", export: "try_write", input: "hello hello!", config: map[string]string{"path": "/mnt/test.txt"},
		code: abi.CodeExit, want: "Failed to read file"},
	{file: "replace", export: "run_test", input: "a test b test c", want: "a wasm b wasm c"},
	{file: "sleep", export: "run_test", config: map[string]string{"duration": "0"}, want: "slept for 0 seconds"},
	{file: "std_command", export: "_start", input: "ben", want: "hello ben"},
	{file: "var", export: "run_test", want: "a: 0"},
}

// sdkOwn are the plugins that import what the SDK's tests alone provide, and the
// import that they are refused for.
var sdkOwn = map[string]string{
	"host":           "extism:host/user.mult",             // a function of the test's own
	"host_multiple":  "extism:host/user.hostGreenMessage", // two of them
	"host_memory":    "host.to_upper",                     // one under another module
	"main":           "lib.capitalize",                    // a second plugin, linked by the SDK's manifest
	"nested.c.instr": "dylibso_observe.instrument_enter",  // the SDK's tracing
}

func sdkPlugin(tb testing.TB, name string) []byte {
	tb.Helper()
	wasm, err := os.ReadFile(filepath.Join(plugintest.SDKDir(tb), "wasm", name+".wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return wasm
}

// sdkResult is how a call ended in the stock SDK.
type sdkResult struct {
	exit uint32
	out  []byte
	err  error
	logs []string
}

// interprets reports whether the plugin of a case is interpreted: compiling it
// takes longer than running it, but where it is made to run long.
func (tc sdkCase) interprets() bool { return tc.file != "alloc" }

// stock makes a call in the SDK as it is.
func stock(t *testing.T, wasm []byte, tc sdkCase, hosts ...string) (r sdkResult) {
	t.Helper()
	ctx := context.Background()
	manifest := sdk.Manifest{Wasm: []sdk.Wasm{sdk.WasmData{Data: wasm}}, Config: tc.config, AllowedHosts: hosts,
		Timeout: 60_000}
	config := wazero.NewRuntimeConfig()
	if tc.interprets() {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	code, err := sdk.NewCompiledPlugin(ctx, manifest,
		sdk.PluginConfig{EnableWasi: true, EnableHttpResponseHeaders: true, RuntimeConfig: config}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer code.Close(ctx)
	p, err := code.Instance(ctx, sdk.PluginInstanceConfig{ModuleConfig: wazero.NewModuleConfig()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(ctx)
	p.SetLogger(func(level sdk.LogLevel, message string) {
		r.logs = append(r.logs, strings.ToLower(level.String())+" "+message)
	})
	r.exit, r.out, r.err = p.Call(tc.export, []byte(tc.input))
	return r
}

// options are those of a call of the case: its configuration as knobs.
func (tc sdkCase) options(engine runtime.Engine) runtime.PluginOptions {
	o := runtime.PluginOptions{
		Manifest: &abi.Manifest{Name: "pdk", ABI: 1, Knobs: map[string]abi.Knob{}}, Config: abi.Config{},
		Engine: engine, AnyExport: true, Limits: abi.Limits{TimeoutMS: 60_000},
	}
	for name, value := range tc.config {
		o.Manifest.Knobs[name] = abi.Knob{Type: abi.KnobText}
		o.Config[name], _ = json.Marshal(value)
	}
	return o
}

// TestExtismPlugins: the SDK's own plugins answer the same on both engines and
// in the stock SDK.
func TestExtismPlugins(t *testing.T) {
	// The SDK logs by a level of the whole process. Ours does not look at it.
	sdk.SetLogLevel(sdk.LogLevelDebug)
	t.Cleanup(func() { sdk.SetLogLevel(0) })
	for _, tc := range soak.Sample(sdkCases, 10, len(sdkCases)) {
		t.Run(fmt.Sprintf("%s/%s%s", tc.file, tc.input, tc.config), func(t *testing.T) {
			t.Parallel()
			wasm := sdkPlugin(t, tc.file)
			want := stock(t, wasm, tc)
			if (tc.code == "") != (want.err == nil && want.exit == 0) {
				t.Fatalf("stock ends with %d, %v", want.exit, want.err)
			}
			r := plugintest.New(t, runtime.Options{Interpreter: tc.interprets()})
			for _, engine := range engines {
				out, stats, err := plugintest.MustLoad(
					t, r, wasm, tc.options(interpreted(engine, tc.interprets()))).CallRaw(t.Context(), tc.export, []byte(tc.input))
				if abi.CodeOf(err) != tc.code {
					t.Fatalf("%s: %v, want code %q", engine, err, tc.code)
				}
				if tc.code == "" && (string(out) != string(want.out) || tc.want != string(out)) {
					t.Errorf("%s: %q, stock %q, want %q", engine, out, want.out, tc.want)
				}
				if tc.code != "" && !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s: %v does not say %q; stock: exit code %d, %v", engine, err, tc.want, want.exit, want.err)
				}
				var logs []string
				for _, line := range stats.Logs {
					logs = append(logs, string(line.Level)+" "+line.Message)
				}
				for _, level := range tc.logs {
					name := map[string]string{"debug": "a debug", "info": "an info", "warn": "a warning", "error": "an error"}[level]
					line := level + " this is " + name + " log"
					if !slices.Contains(logs, line) || !slices.Contains(want.logs, line) {
						t.Errorf("%s: %q is not in %q, or not in stock's %q", engine, line, logs, want.logs)
					}
				}
			}
		})
	}
}

// TestExtismPluginsHTTP: HTTP by a library of Extism, to a server on this
// machine and to one that is not granted.
func TestExtismPluginsHTTP(t *testing.T) {
	here := plugintest.Web(t)
	get := sdkCase{file: "http_headers", export: "http_get", input: `{"url":"` + here + `/"}`}
	away := sdkCase{file: "http", export: "run_test"}
	var want map[string]string
	r := stock(t, sdkPlugin(t, get.file), get, "127.0.0.1")
	if err := json.Unmarshal(r.out, &want); err != nil || want["content-type"] == "" {
		t.Fatalf("stock: %q, %v", r.out, r.err)
	}
	if r := stock(t, sdkPlugin(t, away.file), away); r.err == nil || !strings.Contains(r.err.Error(), "not allowed") {
		t.Errorf("stock: %v", r.err)
	}
	for _, engine := range engines {
		rt := plugintest.New(t, runtime.Options{Interpreter: get.interprets()})
		o := get.options(interpreted(engine, true))
		o.Manifest.Capabilities = plugintest.Asks(abi.CapHTTP).Capabilities
		o.Grants.HTTP = []string{here}
		out, _, err := plugintest.MustLoad(t, rt, sdkPlugin(t, get.file), o).CallRaw(t.Context(), get.export,
			[]byte(get.input))
		var got map[string]string
		if err != nil || json.Unmarshal(out, &got) != nil || got["content-type"] != want["content-type"] ||
			got["content-length"] != want["content-length"] {
			t.Errorf("%s: %q, %v, want %v", engine, out, err, want)
		}
		_, _, err = plugintest.MustLoad(t, rt, sdkPlugin(t, away.file), o).CallRaw(t.Context(), away.export, nil)
		if e := plugintest.WantError(t, err, abi.CodeDenied); !strings.Contains(
			e.Message, "jsonplaceholder.typicode.com") {
			t.Errorf("%s: %v", engine, e)
		}
	}
}

// TestExtismPluginsAll: every plugin of the SDK is called above, or refused on
// both engines with the import that it lacks.
func TestExtismPluginsAll(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(plugintest.SDKDir(t), "wasm", "*.wasm"))
	if err != nil || len(paths) < 20 {
		t.Fatal(len(paths), err)
	}
	called := map[string]bool{"http": true, "http_headers": true}
	for _, tc := range sdkCases {
		called[tc.file] = true
	}
	r := plugintest.New(t, runtime.Options{Interpreter: true}) // nothing to compile, nothing to run
	for _, path := range soak.Sample(paths, 12, len(paths)) {
		name := strings.TrimSuffix(filepath.Base(path), ".wasm")
		for _, engine := range engines {
			p, err := plugintest.LoadFile(t.Context(), r, path,
				runtime.PluginOptions{AnyExport: true, Engine: interpreted(engine, true)})
			switch lacks := sdkOwn[name]; {
			case lacks != "":
				if e := plugintest.WantError(t, err, abi.CodeRefused); !strings.Contains(
					e.Message, "imports the host does not have: "+lacks) {
					t.Errorf("%s: %s: %v", engine, name, e)
				}
			case err != nil:
				t.Errorf("%s: %s: %v", engine, name, err)
			case name == "lib": // half of a plugin: its function takes a block
				_, _, err := p.CallRaw(t.Context(), "capitalize", nil)
				plugintest.WantError(t, err, abi.CodeUsage)
			case !called[name]:
				t.Errorf("%s is not called", name)
			}
		}
	}
}

// TestGoLibraries: a plugin built with Extism's library for Go, and the same one
// built with abi/guest, on both engines.
func TestGoLibraries(t *testing.T) {
	in := plugintest.HookInput()
	for i := range 20 {
		in.Messages = append(in.Messages, abi.InputMessage{Message: abi.Message{ID: fmt.Sprint("n", i),
			Role: abi.RoleUser, Content: abi.Text("line <one> é\nline two")}})
	}
	doc, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	interpreter := soak.Count(1, 0, 0) > 0 // to compile them takes most of the time, and upstream keeps nothing
	r := plugintest.New(t, runtime.Options{CacheDir: plugintest.CacheDir(t)})
	for _, name := range soak.Sample([]string{"pdk", "guest"}, 1, 2) {
		t.Run(name, func(t *testing.T) {
			wasm := plugintest.GoGuest(t, "runtime/testdata/bench/"+name)
			var want []byte
			for _, engine := range engines {
				p := plugintest.MustLoad(t, r, wasm, runtime.PluginOptions{Engine: interpreted(engine, interpreter),
					Limits: abi.Limits{TimeoutMS: 60_000}})
				out, stats, err := p.CallRaw(t.Context(), pre, doc)
				if err != nil || !strings.Contains(string(out), "line <one> é") && !strings.Contains(
					string(out), `line \u003cone\u003e é`) || len(stats.Warnings) > 0 {
					t.Errorf("%s on %s: %q, %v, %q", name, engine, out, err, stats.Warnings)
				}
				if want == nil {
					want = out
				} else if string(out) != string(want) {
					t.Errorf("native %q, extism %q", want, out)
				}
			}
		})
	}
}
