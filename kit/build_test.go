package kit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// oddModule is the module of testdata/odd.
func oddModule(t *testing.T) []byte {
	t.Helper()
	return plugintest.Guest(t, "kit/testdata/odd")
}

func TestBuildIsReproducible(t *testing.T) {
	dir := t.TempDir()
	r, err := kit.Build(t.Context(), kit.Options{Dir: "testdata/odd", Out: dir})
	if err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, oddModule(t)) {
		t.Error("two builds differ")
	}
	if r.Path != filepath.Join(dir, "odd.wasm") || r.Size != len(again) || !strings.HasPrefix(r.Digest, "sha256:") ||
		r.Manifest.Name != "odd" {
		t.Errorf("%+v", r)
	}
	if m, err := runtime.Open(again); err != nil || m.Manifest().Version != "1.0" {
		t.Errorf("the manifest inside is %+v, %v", m, err)
	}
	if wd, _ := os.Getwd(); bytes.Contains(again, []byte(wd)) {
		t.Error("the module names the folder it was built in")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files left behind: %v", left)
	}
}

func TestBuildErrors(t *testing.T) {
	for _, c := range []struct {
		why        string
		opts       kit.Options
		code       abi.Code
		says, hint string
	}{
		{"no manifest", kit.Options{Dir: "testdata"}, abi.CodeUsage, "plugin.yaml: not found", "name, version, abi"},
		{"no source", kit.Options{Dir: "testdata/empty"}, abi.CodeUsage, "no source of a plugin", "asconfig.json"},
		{"no folder", kit.Options{Dir: "testdata/none"}, abi.CodeUsage, "not found", ""},
		{"no go", kit.Options{Dir: "testdata/odd", Compiler: "no-such-go"}, abi.CodeUsage, "the no-such-go command",
			"install Go"},
		{"does not compile", kit.Options{Dir: "testdata/broken"}, abi.CodeBadInput, "undefined: undefinedFunction", ""},
		{"is no program", kit.Options{Dir: "testdata/library"}, abi.CodeBadInput, "main package", "main package"},
		{"cannot be written", kit.Options{Dir: "testdata/odd", Out: "build_test.go/x.wasm"}, abi.CodeUsage,
			"not a directory", "can be written"},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := kit.Build(t.Context(), c.opts)
			if abi.CodeOf(err) != c.code {
				t.Fatalf("code %s: %v", abi.CodeOf(err), err)
			}
			e := abi.AsError(err)
			if !strings.Contains(e.Error(), c.says) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("says %q, and to do %q", e.Error(), e.Hint)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := kit.Build(ctx, kit.Options{Dir: "testdata/odd"}); abi.CodeOf(err) != abi.CodeCanceled {
		t.Errorf("a caller that gave up: %v", err)
	}
}

func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	module := write("m.wasm", string(oddModule(t)))
	other := write("plugin.yaml", "name: other\nversion: 2\nabi: 1\nhooks: [pre_compact]\n")
	r, err := kit.Embed(t.Context(), module, other, module)
	if err != nil {
		t.Fatal(err)
	}
	wasm, _ := os.ReadFile(r.Path)
	if m, err := runtime.Open(wasm); err != nil || m.Manifest().Name != "other" {
		t.Errorf("the manifest inside is %+v, %v", m, err)
	}
	// A module with a memory and nothing else.
	bare := write("bare.wasm", "\x00asm\x01\x00\x00\x00\x05\x03\x01\x00\x01")
	if _, err := kit.Embed(t.Context(), bare, other, filepath.Join(dir, "out.wasm")); abi.CodeOf(err) != abi.CodeRefused {
		t.Errorf("a hook that is no export: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out.wasm")); err == nil {
		t.Error("a refused module was written")
	}
	if _, err := kit.Embed(t.Context(), write("no.wasm", "no"), other, dir); abi.CodeOf(err) != abi.CodeRefused {
		t.Errorf("no module: %v", err)
	}
	if _, err := kit.Embed(t.Context(), module, write("bad.yaml", "nam: x\n"), dir); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("a wrong manifest: %v", err)
	}
	source := write("main.go", "package main\n")
	if _, err := kit.Embed(t.Context(), module, other, source); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("an output over a source: %v", err)
	}
	if data, _ := os.ReadFile(source); string(data) != "package main\n" {
		t.Error("a source was overwritten")
	}
	if _, err := kit.Embed(t.Context(), filepath.Join(dir, "none.wasm"), other, dir); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("no file: %v", err)
	}
}

type byLength struct{}

func (byLength) Text(s string) int            { return (len(s) + 3) / 4 }
func (c byLength) Message(m *abi.Message) int { return c.Text(m.Text()) }

// TestGuestInAModule: what abi/guest promises holds inside the sandbox.
func TestGuestInAModule(t *testing.T) {
	soak.Only(t, "builds a guest in Go")
	r, err := runtime.New(t.Context(), runtime.Options{KV: kv.NewMemory(kv.Options{}), Counter: byLength{},
		CacheDir: filepath.Join(t.TempDir(), "cache")})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	call := func(t *testing.T, o runtime.PluginOptions, hook abi.Hook, do string) (*abi.Output, abi.CallStats, error) {
		t.Helper()
		o.Config = abi.Config{"do": json.RawMessage(`"` + do + `"`)}
		p, err := plugintest.Load(t.Context(), r, oddModule(t), o)
		if err != nil {
			t.Fatal(err)
		}
		in := abitest.NewInput(p.Manifest(), []abi.Message{{Role: abi.RoleUser, Content: abi.Text("héllo")}}, 0)
		in.Hook = hook
		return p.Call(t.Context(), in)
	}
	granted := runtime.PluginOptions{Grants: runtime.Grants{KV: true}}
	t.Run("a hook without a handler says nothing", func(t *testing.T) {
		if out, _, err := call(t, granted, abi.HookTurnEnd, "panic"); !out.IsZero() || err != nil {
			t.Errorf("%+v, %v", out, err)
		}
	})
	t.Run("a handler with nothing to say", func(t *testing.T) {
		if out, _, err := call(t, granted, abi.HookPreCompact, "nothing"); !out.IsZero() || err != nil {
			t.Errorf("%+v, %v", out, err)
		}
	})
	for do, says := range map[string]string{"error": "no idea what to do",
		"panic": "index out of range [1] with length 0"} {
		t.Run(do, func(t *testing.T) {
			_, _, err := call(t, granted, abi.HookPreCompact, do)
			if abi.CodeOf(err) != abi.CodeExit || !strings.Contains(err.Error(), says) {
				t.Errorf("%v", err)
			}
			if do == "panic" && !strings.Contains(err.Error(), "main.do") {
				t.Errorf("the stack does not say where: %v", err)
			}
		})
	}
	t.Run("host calls", func(t *testing.T) {
		out, stats, err := call(t, granted, abi.HookPreCompact, "calls")
		if err != nil || strings.Join(out.Retain, "|") != "notes/π.md|<stored>|héllo" {
			t.Fatalf("%+v, %v", out, err)
		}
		if len(stats.Logs) != 1 || stats.Logs[0].Message != "2 tokens" || stats.HostCalls[abi.OpKVDelete] != 1 {
			t.Errorf("%+v", stats)
		}
	})
	t.Run("not granted", func(t *testing.T) {
		if _, _, err := call(t, runtime.PluginOptions{}, abi.HookPreCompact, "denied"); err == nil {
			t.Error("stored without the capability")
		}
	})
	t.Run("an output over the limit", func(t *testing.T) {
		if _, _, err := call(t, runtime.PluginOptions{Limits: abi.Limits{OutputBytes: 1000}}, abi.HookPreCompact,
			"long"); abi.CodeOf(err) != abi.CodeOutputLimit {
			t.Errorf("%v", err)
		}
	})
}
