package hostile_test

import (
	"context"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// what would take too long to compile is refused.
func TestHostileCompile(t *testing.T) {
	features.Proves(t, "N1")
	newSandbox(t, runtime.Options{}).tryAll(t, some(Compile(), 6), abi.Limits{})
}

// What is full of what nobody needs is read in time.
func TestHostileLoading(t *testing.T) {
	features.Proves(t, "N1")
	newSandbox(t, runtime.Options{}).tryAll(t, some(Loading(), 6), abi.Limits{})
}

// What is no module, or asks for what no plugin has, is refused at load.
func TestHostileForm(t *testing.T) {
	newSandbox(t, runtime.Options{}).tryAll(t, some(Form(), 20), abi.Limits{})
}

// A module that ends early is refused, wherever that is, or is a whole one: it
// may end between sections that do not need each other.
func TestHostileTruncated(t *testing.T) {
	ctx, r := context.Background(), plugintest.New(t, runtime.Options{})
	wasm := wasmtest.WithManifest(wasmtest.Answer(Hook, `{"inject":"x"}`), `{"name":"a","abi":1}`)
	loaded := 0
	for n := range wasm {
		p, err := plugintest.Load(ctx, r, wasm[:n], runtime.PluginOptions{})
		if err != nil {
			checkError(t, err, abi.CodeRefused, abi.PhaseLoad)
			continue
		}
		loaded++
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	if loaded > 2 { // without the manifest, and without the data
		t.Errorf("%d beginnings of a module were loaded", loaded)
	}
}
