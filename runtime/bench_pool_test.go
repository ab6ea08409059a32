package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
)

// guest builds one of the plugins of this project.
func guest(tb testing.TB, name string) []byte {
	tb.Helper()
	out := filepath.Join(tb.TempDir(), name+".wasm")
	if _, err := kit.Build(context.Background(), kit.Options{Dir: filepath.Join(shared.Root(tb), "plugins", name), Out: out}); err != nil {
		tb.Fatal(err)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	return wasm
}

// BenchmarkInstance is what it takes to have an instance of a guest in Go: to
// start it, or to restore it in either way; and with a call of a small input.
func BenchmarkInstance(b *testing.B) {
	input := []byte(`{"abi":1,"hook":"pre_compact","session":{"id":"s"},"trigger":{"reason":"manual"},"budget":{},"config":{},"messages":[{"id":"m1","role":"user","content":"keep: this"}]}`)
	p := load(b, newRuntime(b, runtime.Options{}), guest(b, "keeper"), runtime.PluginOptions{})
	for _, way := range []string{"copied", "mapped"} {
		x, err := runtime.InstancesOf(p, way == "mapped")
		if err != nil {
			b.Fatal(err)
		}
		defer x.Close()
		run := func(name string, f func() error) {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		if way == "copied" {
			run("started", x.Start)
		}
		run(way, func() error { return x.Restore(nil) })
		run(way+"-and-called", func() error { return x.Restore(input) })
	}
}
