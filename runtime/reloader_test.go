package runtime_test

import (
	"context"
	"fmt"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// A Reloader takes part in compactions like any other plugin.
var _ hooks.Plugin = (*runtime.Reloader)(nil)

// version is a module that injects its number.
func version(n int) []byte {
	return wasmtest.WithManifest(wasmtest.Answer(pre, fmt.Sprintf(`{"inject":"%d"}`, n)),
		`{"name":"versions","version":"1","abi":1}`)
}

func reload(t *testing.T, p *runtime.Plugin) *runtime.Reloader {
	t.Helper()
	r, err := runtime.NewReloader(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestNoModule: a module that a host forgot to give is an error of its, and no crash.
func TestNoModule(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	reloader := reload(t, plugintest.MustLoad(t, r, version(0), runtime.PluginOptions{}))
	for name, call := range map[string]func() error{
		"Load":          func() error { _, err := r.Load(t.Context(), nil, runtime.PluginOptions{}); return err },
		"NewReloader":   func() error { _, err := runtime.NewReloader(nil); return err },
		"Swap":          func() error { return reloader.Swap(nil) },
		"EmbedManifest": func() error { _, err := runtime.EmbedManifest(version(0), nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := call(); abi.CodeOf(err) != abi.CodeUsage && abi.CodeOf(err) != abi.CodeBadInput {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestDevSwapDropsNoCall: calls go on while the module is swapped again and
// again; all are answered, and what a caller sees never goes back to an older
// module.
func TestDevSwapDropsNoCall(t *testing.T) {
	features.Proves(t, "N6")
	r := plugintest.New(t, runtime.Options{})
	reloader := reload(t, plugintest.MustLoad(t, r, version(0), runtime.PluginOptions{}))
	const swaps, callers = 30, 4
	var calls atomic.Int64
	var swapped atomic.Bool
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for last := -1; !swapped.Load() || last != swaps; calls.Add(1) {
				out, _, err := reloader.Call(context.Background(), &abi.Input{Hook: abi.HookPreCompact})
				if err != nil {
					t.Error(err)
					return
				}
				var n int
				if _, err := fmt.Sscan(out.Inject, &n); err != nil || n < last {
					t.Errorf("answered %q, behind %d", out.Inject, last)
					return
				}
				last = n
			}
		})
	}
	var old []*runtime.Plugin
	for i := 1; i <= swaps; i++ {
		next := plugintest.MustLoad(t, r, version(i), runtime.PluginOptions{})
		if err := reloader.Swap(next); err != nil {
			t.Fatal(err)
		}
		old = append(old, next)
		for seen := calls.Load(); calls.Load() == seen && !t.Failed(); {
			_ = reloader.Digest() // calls go on meanwhile
		}
	}
	swapped.Store(true)
	wg.Wait()
	for _, p := range old[:swaps-1] {
		if _, _, err := p.Call(t.Context(), &abi.Input{Hook: abi.HookPreCompact}); abi.CodeOf(err) != abi.CodeUsage {
			t.Fatalf("a module that was replaced is still open: %v", err)
		}
	}
}

// gate is a KV whose first reader waits to be let on.
type gate struct {
	plugintest.KV
	once        sync.Once
	inside, out chan struct{}
}

func (g *gate) Get(ctx context.Context, ns, key string) (string, bool, error) {
	if key == "gate" {
		g.once.Do(func() { close(g.inside); <-g.out })
	}
	return g.KV.Get(ctx, ns, key)
}

// TestDevSwapLetsCallsEnd: a call that is running when the module is swapped
// ends on the old one, which is closed behind it and not before.
func TestDevSwapLetsCallsEnd(t *testing.T) {
	features.Proves(t, "N6")
	kv := &gate{KV: plugintest.KV{Data: map[string]string{}}, inside: make(chan struct{}), out: make(chan struct{})}
	r := plugintest.New(t, runtime.Options{KV: kv})
	o := runtime.PluginOptions{Grants: runtime.Grants{KV: true}}
	waits := wasmtest.WithManifest(wasmtest.HostCall(pre, "kv.get", `{"key":"gate"}`),
		`{"name":"versions","version":"0","abi":1,"capabilities":{"kv":{"reason":"to wait"}}}`)
	old := plugintest.MustLoad(t, r, waits, o)
	reloader := reload(t, old)
	done := make(chan error)
	go func() {
		_, _, err := reloader.Call(context.Background(), &abi.Input{Hook: abi.HookPreCompact})
		done <- err
	}()
	<-kv.inside
	if err := reloader.Swap(plugintest.MustLoad(t, r, version(1), o)); err != nil {
		t.Fatal(err)
	}
	if out, _, err := reloader.Call(t.Context(), &abi.Input{Hook: abi.HookPreCompact}); err != nil || out.Inject != "1" {
		t.Errorf("the next call: %+v, %v", out, err)
	}
	close(kv.out)
	if err := <-done; err != nil {
		t.Errorf("the call that was running: %v", err)
	}
	if _, _, err := old.Call(t.Context(), &abi.Input{Hook: abi.HookPreCompact}); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("the old module is still open: %v", err)
	}
	if err := reloader.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReloaderRefusesAnotherPlugin(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	reloader := reload(t, plugintest.MustLoad(t, r, version(0), runtime.PluginOptions{}))
	for manifest, says := range map[string]string{
		`{"name":"other","version":"1","abi":1}`:                          "another plugin, other",
		`{"name":"versions","version":"1","abi":1,"roles":["compactor"]}`: "other roles",
	} {
		t.Run(manifest, func(t *testing.T) {
			next := plugintest.MustLoad(t, r, wasmtest.WithManifest(wasmtest.Answer(pre, `{"inject":"new"}`), manifest),
				runtime.PluginOptions{})
			if err := reloader.Swap(next); abi.CodeOf(err) != abi.CodeUsage || !strings.Contains(err.Error(), says) {
				t.Errorf("%v", err)
			}
			if out, _, err := next.Call(t.Context(), &abi.Input{Hook: abi.HookPreCompact}); err != nil || out.Inject != "new" {
				t.Errorf("a module that was refused is the caller's still: %+v, %v", out, err)
			}
		})
	}
	if out, _, err := reloader.Call(t.Context(), &abi.Input{Hook: abi.HookPreCompact}); err != nil || out.Inject != "0" {
		t.Errorf("%+v, %v", out, err)
	}
	// A hook that the new module does not have any more is no failure.
	if out, _, err := reloader.Call(t.Context(), &abi.Input{Hook: abi.HookTurnEnd}); err != nil || out != nil {
		t.Errorf("%+v, %v", out, err)
	}
}
