package meter_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/testcache"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// goGuest is a guest as Go compiles it.
func goGuest(tb testing.TB) []byte {
	tb.Helper()
	out := filepath.Join(tb.TempDir(), "guest.wasm")
	cmd := exec.CommandContext(tb.Context(), "go", "build", "-buildmode=c-shared", "-o", out, "./testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("go build: %v: %s", err, text)
	}
	module, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	return module
}

// TestGoGuest: a guest of encoding/json, maps, sorting, goroutines and deep
// recursion says the same, uses the same fuel in both engines, and gives the
// stack back.
func TestGoGuest(t *testing.T) {
	features.Proves(t, "N1")
	original := goGuest(t)
	rewritten := mustRewrite(t, original)
	// Compiling takes seconds, so it is done once, and again where what is compiled can differ.
	cache, err := wazero.NewCompilationCacheWithDir(testcache.Dir(t, "runtime/internal/meter", "runtime/internal/wasm"))
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close(t.Context())
	compiler := engine{engines[0].name, func() wazero.RuntimeConfig {
		return engines[0].config().WithCompilationCache(cache)
	}}
	want := runGuest(t, compiler, original, &host{})
	h := &host{quantum: 20_000, keep: true}
	got := runGuest(t, compiler, rewritten, h)
	first := slices.Clone(h.ticks)
	if got != want {
		t.Errorf("%d as it is, %d rewritten", want, got)
	}
	again := &host{quantum: 20_000, keep: true}
	if runGuest(t, compiler, rewritten, again); !slices.Equal(first, again.ticks) {
		t.Errorf("%d ticks, then %d: not the same", len(first), len(again.ticks))
	}
	other := &host{quantum: 20_000, keep: true}
	if got := runGuest(t, engines[1], rewritten, other); got != want || !slices.Equal(first, other.ticks) {
		t.Errorf("interpreter: %d for %d, ticks %d and %d", got, want, len(other.ticks), len(first))
	}
	if len(first) < 50 {
		t.Errorf("%d ticks only", len(first))
	}
}

func runGuest(t *testing.T, e engine, module []byte, h *host) uint64 {
	t.Helper()
	r := e.runtime(t)
	wasi_snapshot_preview1.MustInstantiate(t.Context(), r)
	h.instantiate(t, r)
	m, err := r.InstantiateWithConfig(t.Context(), module, wazero.NewModuleConfig().WithName("guest").WithStartFunctions())
	if err != nil {
		t.Fatal(err)
	}
	h.start(m)
	var results []uint64
	for _, name := range []string{"_initialize", "work"} {
		if results, err = m.ExportedFunction(name).Call(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if left := counter(m, meter.Depth); m.ExportedGlobal(meter.Depth) != nil && left != h.stack() {
			t.Errorf("%s: a stack of %d is left, there were %d", name, left, h.stack())
		}
	}
	return results[0]
}

// TestPlugins: what others built is rewritten to what the engine takes, and
// its stack traces name the guest's functions.
func TestPlugins(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-sdk").Output()
	if err != nil {
		t.Fatal("go list: ", err)
	}
	paths, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "wasm", "*.wasm"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d plugins: %v", len(paths), err)
	}
	paths = shared.With(t, paths, "hostile", "*.wasm")
	r := engines[1].runtime(t)
	for _, path := range soak.Sample(paths, 12, len(paths)) {
		module, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rewritten, _, err := rewrite(module)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
			continue
		}
		c, err := r.CompileModule(t.Context(), rewritten)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
			continue
		}
		original, err := r.CompileModule(t.Context(), module)
		if err != nil {
			t.Fatal(err)
		}
		sameNames(t, filepath.Base(path), original, c)
	}
}

// sameNames: all functions have the names and types they had.
func sameNames(t *testing.T, file string, original, rewritten wazero.CompiledModule) {
	t.Helper()
	after := rewritten.ExportedFunctions()
	for name, f := range original.ExportedFunctions() {
		g := after[name]
		if g == nil || !strings.HasPrefix(f.Name(), g.Name()) || (f.Name() == "") != (g.Name() == "") ||
			!slices.Equal(f.ParamTypes(), g.ParamTypes()) || !slices.Equal(f.ResultTypes(), g.ResultTypes()) {
			t.Errorf("%s: %s is another function", file, name)
		}
	}
}

// TestStackTrace: the functions of a trap have the names that the guest gave
// them.
func TestStackTrace(t *testing.T) {
	r := engines[0].runtime(t)
	h := &host{}
	h.instantiate(t, r)
	m, err := r.Instantiate(t.Context(), mustRewrite(t, named(t)))
	if err != nil {
		t.Fatal(err)
	}
	h.start(m)
	_, err = m.ExportedFunction("outer").Call(t.Context())
	if err == nil {
		t.Fatal("no trap")
	}
	text := err.Error()
	for _, name := range []string{".inner()", ".middle()", ".outer()"} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(text, name) {
				t.Errorf("the trace does not name %s:\n%s", name, text)
			}
		})
	}
	if strings.Contains(text, meter.Prefix) || strings.Contains(text, "tick") {
		t.Errorf("the trace names what was added:\n%s", text)
	}
}

// TestCustomSections: of the custom sections, names are left.
func TestCustomSections(t *testing.T) {
	module := append(named(t), wasm.AppendSection(nil, wasm.SectionCustom,
		append(wasm.AppendName(nil, ".debug_info"), 1, 2, 3))...)
	m, err := wasm.Parse(mustRewrite(t, module))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range m.Sections {
		if s.ID == wasm.SectionCustom {
			names = append(names, s.Name)
		}
	}
	if !slices.Equal(names, []string{"name"}) {
		t.Errorf("custom sections %q", names)
	}
}

// named is outer, which calls middle, which calls inner, which traps.
func named(tb testing.TB) []byte {
	tb.Helper()
	m := wasmtest.New()
	inner := m.Func(nil, nil, nil, wasmtest.Unreachable)
	middle := m.Func(nil, nil, nil, wasmtest.Call(inner))
	m.Export("outer", m.Func(nil, nil, nil, wasmtest.Call(middle)))
	m.FuncNames("inner", "middle", "outer")
	return m.Bytes()
}
