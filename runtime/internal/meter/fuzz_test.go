package meter_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// seeds are small real modules.
func seeds(tb testing.TB) map[string][]byte {
	found := map[string][]byte{
		"answer":      wasmtest.Answer("h", "{}"),
		"loop":        wasmtest.Loop("h"),
		"trap":        wasmtest.Trap("h"),
		"recurse":     wasmtest.Recurse("h"),
		"eat memory":  wasmtest.EatMemory("h"),
		"host call":   wasmtest.HostCall("h", "op", "{}"),
		"echo":        wasmtest.Echo("h"),
		"extism echo": wasmtest.ExtismEcho("h"),
	}
	paths := shared.With(tb, nil, "hostile", "*.wasm")
	for _, version := range []string{"v1", "v2"} {
		more, err := filepath.Glob(filepath.Join(specDir(tb, version), "*.wasm"))
		if err != nil {
			tb.Fatal(err)
		}
		// One of each test: the rest are much alike, and some hundred of the
		// tests' modules are numbered above 9.
		for _, path := range more {
			if ext := filepath.Ext(path[:len(path)-len(".wasm")]); len(ext) == 2 && ext <= ".3" {
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		if len(b) <= 3_000 {
			found[filepath.Base(filepath.Dir(filepath.Dir(path)))+"/"+filepath.Base(path)] = b
		}
	}
	return found
}

// FuzzRewrite: any bytes are refused or rewritten to what does the same.
func FuzzRewrite(f *testing.F) {
	features.Proves(f, "N1")
	for _, module := range seeds(f) {
		f.Add(module)
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		if len(module) < 1<<14 {
			sameModule(t, module)
		}
	})
}
