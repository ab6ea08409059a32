package sandbox_test

import (
	"bytes"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/internal/sandbox"
)

// What a detached module exports beside its own, in the order of its sections.
func TestDetached(t *testing.T) {
	c := wasmtest.Const32
	start := func(m *wasmtest.Module) { m.Start(m.Func(nil, nil, nil)); wasmtest.WithHook(m) }
	for _, tc := range []struct {
		name  string
		build func(m *wasmtest.Module)
		same  func(m *wasmtest.Module) // what it is to be rewritten to; nil where it cannot be
		why   string
	}{
		{"nothing to do", wasmtest.WithHook, wasmtest.WithHook, "a module without state of its own stays as it is"},
		{"data", func(m *wasmtest.Module) {
			m.Memory(1, -1, "")
			m.Data(1, []byte("x"))
			wasmtest.WithHook(m)
		}, func(m *wasmtest.Module) { m.Memory(1, -1, ""); wasmtest.WithHook(m) }, "the host applies data"},
		{"start", start, func(m *wasmtest.Module) {
			f := m.Func(nil, nil, nil)
			wasmtest.WithHook(m)
			m.Export("kagewasm.start", f)
		}, "the host runs the start section"},
		{"no exports", func(m *wasmtest.Module) { m.Start(m.Func(nil, nil, nil)) }, nil, "such a module cannot be called"},
		{"constant globals", func(m *wasmtest.Module) {
			m.Global(wasmtest.I32, false, c(1))
			wasmtest.WithHook(m)
		}, func(m *wasmtest.Module) {
			m.Global(wasmtest.I32, false, c(1))
			wasmtest.WithHook(m)
		}, "what cannot change need not be set"},
		{"a reference that changes", func(m *wasmtest.Module) {
			m.Global(wasmtest.FuncRef, true, wasmtest.NullFunc)
			wasmtest.WithHook(m)
		}, nil, "no host can set a reference"},
		{"data at a global", func(m *wasmtest.Module) {
			m.Memory(1, -1, "")
			m.Global(wasmtest.I32, false, c(1))
			wasmtest.WithHook(m)
			m.DataAt(wasmtest.GetGlobal(0), []byte("x"))
		}, nil, "the host knows constants alone"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			out, err := sandbox.Detached(wasmtest.Build(tc.build))
			switch {
			case tc.same == nil && err == nil:
				t.Errorf("%s: rewritten: %s", tc.name, tc.why)
			case tc.same != nil && (err != nil || !bytes.Equal(out, wasmtest.Build(tc.same))):
				t.Errorf("%s: %x, %v, want %x: %s", tc.name, out, err, wasmtest.Build(tc.same), tc.why)
			}
		})
	}
}

// Which instructions keep a module from being detached.
func TestUsesSegments(t *testing.T) {
	for name, tc := range map[string]struct {
		code []byte
		want bool
	}{
		"memory.fill": {wasmtest.MemoryFill, false}, "memory.copy": {[]byte{0xfc, 10, 0, 0}, false},
		"memory.init": {[]byte{0xfc, 8, 0, 0}, true}, "data.drop": {[]byte{0xfc, 9, 0}, true},
		"table.get": {[]byte{0x25, 0}, false}, "table.size": {[]byte{0xfc, 16, 0}, false},
		"table.set": {[]byte{0x26, 0}, true}, "table.init": {[]byte{0xfc, 12, 0, 0}, true},
		"elem.drop": {[]byte{0xfc, 13, 0}, true}, "table.copy": {[]byte{0xfc, 14, 0, 0}, true},
		"table.grow": {wasmtest.TableGrow, true}, "table.fill": {[]byte{0xfc, 17, 0}, true},
		"an operand that looks like table.set": {wasmtest.Const32(0x26), false},
		"br_table":                             {[]byte{0x0e, 2, 0, 1, 0}, false},
		"call_indirect":                        {[]byte{0x11, 0, 0}, false},
		"f64.const":                            {[]byte{0x44, 0x26, 0x26, 0, 0, 0, 0, 0, 0}, false},
		"v128.const":                           {append([]byte{0xfd, 12}, bytes.Repeat([]byte{0x26}, 16)...), false},
		"i8x16.extract_lane_s":                 {[]byte{0xfd, 21, 0x26}, false},
		"v128.load8_lane":                      {[]byte{0xfd, 84, 0, 0x26, 1}, false},
		"no instruction":                       {[]byte{0xff}, true}, "try": {[]byte{0x06, 0x40}, true},
	} {
		t.Run(name, func(t *testing.T) {
			wasm := wasmtest.Build(func(m *wasmtest.Module) {
				m.Memory(1, -1, "")
				m.Table(1, 1)
				m.Data(0, []byte{0})
				m.Hook(pre, nil, []byte{0x02, 0x40}, tc.code, []byte{0x0b})
			})
			if got := sandbox.UsesSegments(wasm); got != tc.want {
				t.Errorf("%v", got)
			}
		})
	}
	// What compilers make does not use them.
	for _, name := range []string{"count_vowels.wasm", "hello_haskell.wasm"} {
		t.Run(name, func(t *testing.T) {
			wasm, err := os.ReadFile(filepath.Join(plugintest.SDKDir(t), "wasm", name))
			if err != nil {
				t.Fatal(err)
			}
			if sandbox.UsesSegments(wasm) {
				t.Errorf("%s uses them", name)
			}
		})
	}
}

// A start section of a module that cannot be restored runs with the counters
// set: it calls through a table, as any code may, and changes the table. What it
// uses counts, the same in every call.
func TestStartNotRestored(t *testing.T) {
	wasm := wasmtest.Build(func(m *wasmtest.Module) {
		typ := m.Type(nil, nil)
		m.Table(2, 2)
		callee := m.Func(nil, nil, nil)
		m.Elements(0, callee, callee)
		set := []byte{0x26, 0} // table.set
		m.Start(m.Func(nil, nil, nil, wasmtest.Const32(0), wasmtest.CallIndirect(typ), wasmtest.Const32(1),
			wasmtest.NullFunc, set))
		wasmtest.WithHook(m)
	})
	dir := filepath.Join(t.TempDir(), "cache")
	var fuel int64
	for range 2 { // compiled, then out of the cache
		p, code := spied(t, sandbox.Options{CacheDir: dir}, plugintest.New(t, runtime.Options{}), wasm,
			runtime.PluginOptions{})
		for range 2 {
			_, stats, err := p.Call(t.Context(), plugintest.HookInput())
			if err != nil || stats.Fuel == 0 || fuel > 0 && stats.Fuel != fuel {
				t.Errorf("%v, %d fuel, before %d", err, stats.Fuel, fuel)
			}
			fuel = stats.Fuel
		}
		if code.Restores() {
			t.Error("a guest that changes a table was restored")
		}
	}
}

// A module without code of its own can be looked at, with a cache and without.
func TestNothingToCall(t *testing.T) {
	wasm := wasmtest.Build(func(m *wasmtest.Module) { m.Memory(1, -1, "memory") })
	for where, o := range map[string]runtime.Options{
		"in memory": {}, "in a folder": {CacheDir: filepath.Join(t.TempDir(), "cache")},
	} {
		t.Run(where, func(t *testing.T) {
			p := plugintest.MustLoad(t, plugintest.New(t, o), wasm, runtime.PluginOptions{AnyExport: true})
			if got := p.Info().Exports; len(got) != 1 {
				t.Errorf("exports %q", got)
			}
		})
	}
}
