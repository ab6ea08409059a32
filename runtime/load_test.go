package runtime_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

func TestLoadRefuses(t *testing.T) {
	i32, i64 := wasmtest.I32, wasmtest.I64
	good := wasmtest.Nothing(pre)
	for _, tc := range []struct {
		name string
		wasm []byte
		says string // part of the message: it names what is wrong
		why  string
	}{
		{"empty", nil, "empty", "an empty file is no module"},
		{"text", []byte("(module)"), "text", "the text format has to be assembled first"},
		{"not wasm", []byte("#!/bin/sh\necho"), "not a WebAssembly module", "any other file"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), "component", "components are another format with the same magic"},
		{"version", []byte("\x00asm\x02\x00\x00\x00"), "version", "a version the engine does not have"},
		{"cut", good[:len(good)-3], "malformed", "a file cut short"},
		{"too large", append(slices.Clone(good), make([]byte, 64<<20)...), "allowed",
			"the size cap holds before anything is parsed"},
		{"unknown import", wasmtest.Build(func(m *wasmtest.Module) {
			m.Import("env", "system", []wasmtest.Type{i32}, nil)
			wasmtest.WithHook(m)
		}), "env.system", "only known modules link"},
		{"unknown name", wasmtest.Build(func(m *wasmtest.Module) {
			m.Import(abi.ImportModule, "exec", nil, nil)
			wasmtest.WithHook(m)
		}), "exec", "only known functions link"},
		{"unknown wasi", wasmtest.Build(func(m *wasmtest.Module) {
			m.Import("wasi_snapshot_preview1", "sock_open", nil, nil)
			wasmtest.WithHook(m)
		}), "sock_open", "only WASI that the engine has"},
		{"all of them", wasmtest.Build(func(m *wasmtest.Module) {
			m.Import("env", "one", nil, nil)
			m.Import("env", "two", nil, nil)
			wasmtest.WithHook(m)
		}), "env.one, env.two", "each one is listed"},
		{"signature of an import", wasmtest.Build(func(m *wasmtest.Module) {
			m.Import(abi.ExtismModule, "alloc", []wasmtest.Type{i32}, []wasmtest.Type{i64})
			wasmtest.WithHook(m)
		}), "(i64)->i64", "a known name with another signature is another function"},
		{"imported memory", wasmtest.Build(func(m *wasmtest.Module) {
			m.ImportMemory("env", "memory", 1)
			wasmtest.WithHook(m)
		}), "a memory", "only functions are provided"},
		{"no hook", wasmtest.Build(func(m *wasmtest.Module) {
			m.Export("run", m.Func(nil, []wasmtest.Type{i32}, nil, wasmtest.Const32(0)))
		}), "no hook", "a plugin nobody calls"},
		{"hook with parameters", wasmtest.Build(func(m *wasmtest.Module) {
			m.Export(pre, m.Func([]wasmtest.Type{i32}, nil, nil))
		}), "(i32)", "a hook takes nothing and returns an i32"},
		{"hook is a memory", wasmtest.Build(func(m *wasmtest.Module) {
			m.Memory(1, -1, pre)
		}), "no function", "a hook is a function"},
		{"two exports", wasmtest.Build(func(m *wasmtest.Module) {
			wasmtest.WithHook(m)
			wasmtest.WithHook(m)
		}), "two exports", "which one would be called?"},
		{"two memories", wasmtest.Build(func(m *wasmtest.Module) {
			m.Memory(1, -1, "")
			m.Memory(1, -1, "")
			wasmtest.WithHook(m)
		}), "memories", "the budget is of one memory"},
		{"too much memory", wasmtest.Build(func(m *wasmtest.Module) {
			m.Memory(1025, -1, "")
			wasmtest.WithHook(m)
		}), "64 MiB allowed", "it could never be instantiated"},
		{"tables", wasmtest.Build(func(m *wasmtest.Module) {
			m.Table(600_000, -1)
			m.Table(600_000, -1)
			wasmtest.WithHook(m)
		}), "tables of", "the cap is for all tables together"},
		{"invalid code", wasmtest.Build(func(m *wasmtest.Module) {
			m.Hook(pre, nil, wasmtest.Drop)
		}), "engine refuses", "what the engine validates is refused as well"},
		{"a section twice", append(slices.Clone(good), good[8:]...), "second section", "sections are there once"},
		{"many names", wasmtest.Build(func(m *wasmtest.Module) {
			for range 1001 {
				m.Import(abi.ImportModule, "input_length", nil, []wasmtest.Type{i32})
			}
			wasmtest.WithHook(m)
		}), "more than 1000", "lists are bounded"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := plugintest.Load(context.Background(), plugintest.New(t, runtime.Options{}), tc.wasm,
				runtime.PluginOptions{})
			if p != nil {
				t.Errorf("loaded: %s", tc.why)
			}
			e := plugintest.WantError(t, err, abi.CodeRefused)
			if !strings.Contains(e.Message, tc.says) {
				t.Errorf("%q does not say %q: %s", e.Message, tc.says, tc.why)
			}
			if e.Phase != abi.PhaseLoad || e.Hint == "" {
				t.Errorf("phase %q, hint %q", e.Phase, e.Hint)
			}
		})
	}
}

// A few bytes that claim to be many: the engine's decoder would make room for
// what is claimed before it looks.
func TestLoadClaims(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x0f}
	raw := func(id byte, content ...byte) []byte {
		return append([]byte("\x00asm\x01\x00\x00\x00"), append([]byte{id, byte(len(content))}, content...)...)
	}
	for name, wasm := range map[string][]byte{
		"types":          raw(1, huge...),
		"values of type": raw(1, append([]byte{1, 0x60}, huge...)...),
		"imports":        raw(2, huge...),
		"functions":      raw(3, huge...),
		"tables":         raw(4, huge...),
		"globals":        raw(6, huge...),
		"exports":        raw(7, huge...),
		"elements":       raw(9, huge...),
		"element":        raw(9, append([]byte{1, 0, 0x41, 0, 0x0b}, huge...)...),
		"element exprs":  raw(9, append([]byte{1, 5, 0x70}, huge...)...),
		"bodies":         raw(10, huge...),
		"body":           raw(10, append([]byte{1}, huge...)...),
		"locals":         raw(10, append(append([]byte{1, 8, 1}, huge...), 0x7f, 0x0b)...),
		"locals in two":  raw(10, 1, 11, 2, 0x80, 0x20, 0x7f, 0x80, 0x20, 0x7f, 0x0b, 0, 0, 0),
		"data":           raw(11, huge...),
		"data bytes":     raw(11, append([]byte{1, 1}, huge...)...),
		"initializer":    raw(6, append([]byte{1, 0x7f, 0}, bytes.Repeat([]byte{0x23, 0}, 40)...)...),
		"a long body": wasmtest.Build(func(m *wasmtest.Module) {
			m.Hook(pre, nil, bytes.Repeat([]byte{0x01}, 256<<10), wasmtest.Const32(0))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plugintest.Load(context.Background(), plugintest.New(t, runtime.Options{}), wasm,
				runtime.PluginOptions{AnyExport: true})
			if e := plugintest.WantError(t, err, abi.CodeRefused); !strings.Contains(e.Message, "at byte ") {
				t.Errorf("it came as far as the engine: %s", e.Message)
			}
		})
	}
	// Claims inside custom sections do not reach the engine at all.
	for name, content := range map[string][]byte{"name": append([]byte{1, 5}, huge...),
		"locals": append([]byte{2, 5}, huge...), "other": huge} {
		t.Run(name, func(t *testing.T) {
			p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}),
				wasmtest.WithSection(wasmtest.Nothing(pre), "name", content), runtime.PluginOptions{})
			if _, _, err := p.Call(context.Background(), plugintest.HookInput()); err != nil {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestLoadOptions(t *testing.T) {
	compactor := &abi.Manifest{Name: "c", ABI: 1, Roles: []abi.PluginRole{abi.RoleCompactor}}
	knob := &abi.Manifest{Name: "k", ABI: 1, Knobs: map[string]abi.Knob{"n": {Type: abi.KnobIntRange, Min: 1, Max: 3}}}
	for _, tc := range []struct {
		name string
		o    runtime.PluginOptions
		want abi.Code
		why  string
	}{
		{"another digest", runtime.PluginOptions{Digest: "sha256:00"}, abi.CodeRefused, "a pin holds"},
		{"limit below zero", runtime.PluginOptions{Limits: abi.Limits{TimeoutMS: -1}}, abi.CodeUsage,
			"limits are never negative"},
		{"limit beyond sense", runtime.PluginOptions{Limits: abi.Limits{MemoryMB: 5000}}, abi.CodeUsage,
			"a guest addresses 4 GiB"},
		{"manifest", runtime.PluginOptions{Manifest: &abi.Manifest{Name: "X", ABI: 1}}, abi.CodeBadInput,
			"a manifest is valid"},
		{"manifest names another hook", runtime.PluginOptions{Manifest: &abi.Manifest{Name: "x", ABI: 1,
			Hooks: []abi.Hook{abi.HookTurnEnd}}}, abi.CodeRefused, "the hook has to be there"},
		{"knob", runtime.PluginOptions{Manifest: knob, Config: abi.Config{"n": []byte("7")}}, abi.CodeUsage,
			"knob values are checked"},
		{"secret", runtime.PluginOptions{Secrets: map[string]string{"key": "v"}}, abi.CodeUsage,
			"only secrets that the manifest asks for"},
		{"compactor", runtime.PluginOptions{Manifest: compactor}, "", "a compactor with pre_compact is fine"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := plugintest.Load(context.Background(), plugintest.New(t, runtime.Options{}), wasmtest.Nothing(pre), tc.o)
			if got := abi.CodeOf(err); got != tc.want {
				t.Errorf("code %q, want %q (%v): %s", got, tc.want, err, tc.why)
			}
		})
	}
	_, err := plugintest.Load(context.Background(), plugintest.New(t, runtime.Options{}), wasmtest.Nothing("turn_end"),
		runtime.PluginOptions{Manifest: compactor})
	plugintest.WantError(t, err, abi.CodeRefused)
}

func TestLoadLimits(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	manifest := &abi.Manifest{
		Name: "x", ABI: 1, Limits: abi.Limits{TimeoutMS: 50, MemoryMB: 1000},
		Capabilities: map[abi.Capability]abi.Request{abi.CapModel: {Reason: "to sum up"}},
	}
	get := func(o runtime.PluginOptions) abi.Limits {
		o.Manifest = manifest
		return plugintest.MustLoad(t, r, wasmtest.Nothing(pre), o).Limits()
	}
	if l := get(runtime.PluginOptions{}); l.TimeoutMS != 50 || l.MemoryMB != 64 {
		t.Errorf("a manifest lowers limits and never raises one: %+v", l)
	}
	if l := get(runtime.PluginOptions{Limits: abi.Limits{MemoryMB: 500, TimeoutMS: 20}}); l.TimeoutMS != 20 ||
		l.MemoryMB != 500 {
		t.Errorf("the operator raises and lowers: %+v", l)
	}
	manifest.Limits = abi.Limits{}
	if l := get(runtime.PluginOptions{}); l.TimeoutMS != 10_000 {
		t.Errorf("asking for a model gives no time: %+v", l)
	}
	if l := get(runtime.PluginOptions{Grants: plugintest.GrantAll(manifest)}); l.TimeoutMS != 300_000 {
		t.Errorf("a granted model call needs more time: %+v", l)
	}
}

func TestLoadFile(t *testing.T) {
	ctx, r, dir := context.Background(), plugintest.New(t, runtime.Options{}), t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	name := func(path string, o runtime.PluginOptions) string {
		t.Helper()
		p, err := plugintest.LoadFile(ctx, r, path, o)
		if err != nil {
			t.Fatal(err)
		}
		return p.Manifest().Name
	}
	bare := write("My Plugin.wasm", wasmtest.Nothing(pre))
	if got := name(bare, runtime.PluginOptions{}); got != "my-plugin" {
		t.Errorf("a plugin without a manifest is named after its file: %q", got)
	}
	write("My Plugin.plugin.yaml", []byte("name: sidecar\nabi: 1\n"))
	if got := name(bare, runtime.PluginOptions{}); got != "sidecar" {
		t.Errorf("the sidecar serves a module without a section: %q", got)
	}
	inside := write("inside.wasm", wasmtest.WithManifest(wasmtest.Nothing(pre), `{"name":"inside","abi":1}`))
	write("inside.plugin.yaml", []byte("name: sidecar\nabi: 1\n"))
	if got := name(inside, runtime.PluginOptions{}); got != "inside" {
		t.Errorf("the section comes before the sidecar: %q", got)
	}
	if got := name(inside, runtime.PluginOptions{Manifest: &abi.Manifest{Name: "given", ABI: 1}}); got != "given" {
		t.Errorf("the option comes first: %q", got)
	}
	write("My Plugin.plugin.yaml", []byte("name: sidecar\nabi: 1\nrolls: [observer]\n"))
	_, err := plugintest.LoadFile(ctx, r, bare, runtime.PluginOptions{})
	if e := plugintest.WantError(t, err, abi.CodeBadInput); !strings.Contains(e.Message, "My Plugin.plugin.yaml:3:1") {
		t.Errorf("no line and column: %s", e.Message)
	}
	_, err = plugintest.LoadFile(ctx, r, filepath.Join(dir, "none.wasm"), runtime.PluginOptions{})
	plugintest.WantError(t, err, abi.CodeUsage)
	_, err = plugintest.LoadFile(ctx, r, dir, runtime.PluginOptions{})
	plugintest.WantError(t, err, abi.CodeUsage)
}

// a manifest may say role or roles; a module that says nothing is
// an observer of the hooks it exports.
func TestRoles(t *testing.T) {
	features.Proves(t, "K6")
	r := plugintest.New(t, runtime.Options{})
	p := plugintest.MustLoad(t, r, wasmtest.Nothing("post_compact"), runtime.PluginOptions{})
	if !p.Manifest().Has(abi.RoleObserver) || p.Manifest().Has(abi.RoleCompactor) ||
		!slices.Equal(p.Hooks(), []abi.Hook{abi.HookPostCompact}) {
		t.Errorf("roles %v, hooks %v", p.Manifest().Roles, p.Hooks())
	}
	p = plugintest.MustLoad(t, r, wasmtest.WithManifest(wasmtest.Nothing(pre),
		`{"name":"c","abi":1,"role":"compactor"}`), runtime.PluginOptions{})
	if !p.Manifest().Has(abi.RoleCompactor) {
		t.Errorf("role: compactor gives %v", p.Manifest().Roles)
	}
}

func TestLoadManifestSection(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	for _, tc := range []struct{ name, manifest, why string }{
		{"unknown field", `{"name":"x","abi":1,"rolls":[]}`, "unknown fields are errors"},
		{"duplicate key", `{"name":"x","name":"y","abi":1}`, "decoders disagree on which counts"},
		{"another case", `{"name":"x","ABI":1}`, "decoders take it for the same key"},
		{"another abi", `{"name":"x","abi":2}`, "this host speaks 1"},
		{"no json", `name: x`, "the section is JSON"},
		{"too long", `{"name":"x","abi":1,"description":"` + strings.Repeat("x", 300<<10) + `"}`, "a section is bounded"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := plugintest.Load(context.Background(), r,
				wasmtest.WithManifest(wasmtest.Nothing(pre), tc.manifest), runtime.PluginOptions{})
			if abi.CodeOf(err) != abi.CodeBadInput {
				t.Errorf("%v: %s", err, tc.why)
			}
		})
	}
	twice := wasmtest.WithManifest(wasmtest.WithManifest(wasmtest.Nothing(pre), `{"name":"x","abi":1}`),
		`{"name":"y","abi":1}`)
	_, err := plugintest.Load(context.Background(), r, twice, runtime.PluginOptions{})
	plugintest.WantError(t, err, abi.CodeBadInput)
}

func TestEmbedManifest(t *testing.T) {
	wasm := wasmtest.Answer(pre, `{"inject":"hi"}`)
	first := &abi.Manifest{Name: "one", ABI: 1, Description: "<b> & more", Limits: abi.Limits{MemoryMB: 8}}
	second := &abi.Manifest{Name: "two", ABI: 1,
		Knobs: map[string]abi.Knob{"b": {Type: abi.KnobBoolean}, "a": {Type: abi.KnobText}}}
	embed := func(wasm []byte, m *abi.Manifest) []byte {
		t.Helper()
		out, err := runtime.EmbedManifest(wasm, m)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	a := embed(wasm, first)
	if m, err := runtime.Open(a); err != nil {
		t.Fatal(err)
	} else if got := m.Manifest(); got.Name != "one" || got.Description != first.Description ||
		got.Limits != first.Limits {
		t.Fatalf("read back %+v", got)
	}
	if b := embed(embed(a, second), first); !bytes.Equal(a, b) {
		t.Error("replacing a manifest and back does not give the same bytes")
	}
	if !bytes.Equal(embed(wasm, second), embed(wasm, second)) {
		t.Error("the bytes differ from one time to the next")
	}
	if m, err := runtime.Open(wasm); err != nil || !slices.Equal(m.Manifest().Hooks, []abi.Hook{pre}) ||
		m.Digest()[7:19] != strings.TrimPrefix(m.Manifest().Name, "plugin-") {
		t.Errorf("a module without a manifest: %+v, %v", m, err)
	}
	if p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), a,
		runtime.PluginOptions{}); p.Manifest().Name != "one" {
		t.Error("the embedded manifest is not the plugin's")
	}
	_, err := runtime.EmbedManifest([]byte("no module"), first)
	plugintest.WantError(t, err, abi.CodeRefused)
	_, err = runtime.EmbedManifest(wasm, &abi.Manifest{Name: "no abi"})
	plugintest.WantError(t, err, abi.CodeBadInput)
}

// inspect shows what a module is before anybody trusts it.
func TestInfo(t *testing.T) {
	features.Proves(t, "N6")
	wasm := wasmtest.Build(func(m *wasmtest.Module) {
		m.Import(abi.ImportModule, "host_call", []wasmtest.Type{wasmtest.I32, wasmtest.I32, wasmtest.I32, wasmtest.I32},
			[]wasmtest.Type{wasmtest.I32})
		m.Memory(2, 10, "memory")
		m.Table(5, -1)
		wasmtest.WithHook(m)
	})
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasm, runtime.PluginOptions{
		Manifest: &abi.Manifest{Name: "x", Version: "1.2", ABI: 1, Capabilities: map[abi.Capability]abi.Request{
			abi.CapKV: {Reason: "to remember\x1b[31m"}, abi.CapHTTP: {Reason: "to fetch", Hosts: []string{"a.example"}},
		}},
		Grants: runtime.Grants{KV: true, Model: true},
	})
	info := p.Info()
	want := []runtime.CapabilityInfo{
		{Name: abi.CapKV, Asked: true, Granted: true, Reason: "to remember[31m"},
		{Name: abi.CapHTTP, Asked: true, Reason: "to fetch", Hosts: []string{"a.example"}},
		{Name: abi.CapModel, Granted: true},
	}
	if !slices.EqualFunc(info.Capabilities, want, func(a, b runtime.CapabilityInfo) bool {
		return a.Name == b.Name && a.Asked == b.Asked && a.Granted == b.Granted && a.Reason == b.Reason &&
			slices.Equal(a.Hosts, b.Hosts)
	}) {
		t.Errorf("capabilities %+v", info.Capabilities)
	}
	if !p.Granted(abi.CapKV) || p.Granted(abi.CapHTTP) || p.Granted(abi.CapModel) {
		t.Error("a capability is asked for and granted, or the plugin does not have it")
	}
	if !slices.Equal(info.Imports, []string{"kagewasm:host/env.host_call (i32,i32,i32,i32)->i32"}) ||
		!slices.Equal(info.Exports, []string{"memory memory", "pre_compact ()->i32"}) {
		t.Errorf("imports %q, exports %q", info.Imports, info.Exports)
	}
	if info.Memory == nil || info.Memory.MinBytes != 2<<16 || info.Memory.MaxBytes != 10<<16 ||
		info.TableElements != 5 || info.Size != len(wasm) {
		t.Errorf("memory %+v, %d table elements, %d bytes", info.Memory, info.TableElements, info.Size)
	}
	if info.Digest != p.Digest() || !strings.HasPrefix(info.Digest, "sha256:") || info.Engine != runtime.EngineNative ||
		info.Limits != p.Limits() {
		t.Errorf("%+v", info)
	}
	if _, err := plugintest.Load(context.Background(), plugintest.New(t, runtime.Options{}), wasm,
		runtime.PluginOptions{Digest: p.Digest()}); err != nil {
		t.Errorf("the module's own digest: %v", err)
	}
}

// What is only described is checked, and not compiled.
func TestDescribe(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	o := runtime.PluginOptions{Engine: runtime.Describe()}
	p := plugintest.MustLoad(t, r, wasmtest.Nothing(pre), o)
	if info := p.Info(); info.Engine != runtime.EngineNative || len(info.Hooks) != 1 {
		t.Errorf("%+v", info)
	}
	if _, _, err := p.Call(context.Background(), plugintest.HookInput()); err == nil {
		t.Error("it is called")
	}
	ifs := wasmtest.Build(func(m *wasmtest.Module) {
		m.Func([]wasmtest.Type{wasmtest.I32}, nil, nil, wasmtest.Times(20_000, wasmtest.Get(0), wasmtest.If()))
		wasmtest.WithHook(m)
	})
	_, err := plugintest.Load(context.Background(), r, ifs, o)
	if e := plugintest.WantError(t, err, abi.CodeRefused); !strings.Contains(e.Message, "too long to compile") {
		t.Errorf("%v", e)
	}
}
