package sandbox_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/internal/sandbox"
)

// BenchmarkInstance is what it takes to have an instance of a guest in Go: to
// start it, or to restore it in either way; and with a call of a small input.
func BenchmarkInstance(b *testing.B) {
	input := plugintest.SessionInput(b)
	_, code := spied(b, sandbox.Options{}, plugintest.New(b, runtime.Options{Counter: plugintest.Bytes{}}),
		plugintest.Guest(b, "plugins/keeper"), runtime.PluginOptions{})
	for _, way := range []string{"copied", "mapped"} {
		x, err := code.Instances(way == "mapped")
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
		run(way, func() error { _, err := x.Restore(nil); return err })
		run(way+"-and-called", func() error { _, err := x.Restore(input); return err })
	}
}
