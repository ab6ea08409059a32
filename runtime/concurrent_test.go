package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// Calls of many plugins at once, good and bad, while others are loaded and
// closed: every answer is the call's own, and every error is expected.
func TestConcurrent(t *testing.T) {
	ctx := context.Background()
	kv := plugintest.Owned("asks", map[string]string{"asks a": "1"})
	r := plugintest.New(t, runtime.Options{KV: kv, CacheDir: t.TempDir()})
	o := runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: plugintest.GrantAll(plugintest.AsksAll),
		Limits: abi.Limits{TimeoutMS: 5_000, MemoryMB: 4}}
	guests := map[abi.Code][]byte{
		"": wasmtest.Echo(pre), abi.CodeTrap: wasmtest.Trap(pre), abi.CodeMemory: wasmtest.EatMemory(pre),
		abi.CodeExit: wasmtest.Exit(pre, 1),
	}
	const most = 30 * time.Second // on a machine that is busy with other things
	var wg sync.WaitGroup
	var done atomic.Int64
	begun := time.Now()
	// Half a second, or as long as it takes to have seen enough.
	going := func() bool {
		took := time.Since(begun)
		return took < 500*time.Millisecond || done.Load() < 100 && took < most
	}
	for code, wasm := range guests {
		t.Run(fmt.Sprintf("code %q", code), func(t *testing.T) {
			shared := plugintest.MustLoad(t, r, wasm, o)
			for w := range 2 {
				wg.Go(func() {
					for i := 0; going(); i++ {
						in := fmt.Sprintf(`{"inject":"%d-%d"}`, w, i)
						out, _, err := shared.CallRaw(ctx, pre, []byte(in))
						if abi.CodeOf(err) != code || code == "" && string(out) != in {
							t.Errorf("%q, %v", out, err)
							return
						}
						done.Add(1)
					}
				})
			}
			wg.Go(func() {
				for going() {
					p, err := plugintest.Load(ctx, r, wasm, o)
					if err != nil {
						t.Error(err)
						return
					}
					hammer(t, p, code)
				}
			})
		})
	}
	wg.Wait()
	if done.Load() < 100 {
		t.Errorf("only %d calls", done.Load())
	}
}

// hammer calls a plugin from several sides and closes it meanwhile.
func hammer(t *testing.T, p *runtime.Plugin, code abi.Code) {
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				_, _, err := p.CallRaw(context.Background(), pre, []byte("{}"))
				switch abi.CodeOf(err) {
				case code:
				case abi.CodeUsage: // closed
					return
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		time.Sleep(2 * time.Millisecond)
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
}

// gateKV keeps every get waiting until it is let through, and tells of it.
type gateKV struct {
	plugintest.KV
	asked, open chan struct{}
}

func newGateKV() *gateKV {
	return &gateKV{KV: plugintest.KV{Data: make(map[string]string)}, asked: make(chan struct{}, 1),
		open: make(chan struct{})}
}

func (k *gateKV) Get(ctx context.Context, _, _ string) (string, bool, error) {
	select {
	case k.asked <- struct{}{}:
	default: // it is known
	}
	select {
	case <-k.open:
		return "", false, nil
	case <-ctx.Done():
		return "", false, ctx.Err()
	}
}

// Close waits for running calls; one that will not wait leaves the rest to the
// last call.
func TestCloseWhileCalling(t *testing.T) {
	kv := newGateKV()
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{KV: kv}),
		wasmtest.HostCall(pre, string(abi.OpKVGet), `{"key":"a"}`),
		runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: plugintest.GrantAll(plugintest.AsksAll)})
	called := make(chan error, 1)
	go func() {
		_, _, err := p.CallRaw(context.Background(), pre, nil)
		called <- err
	}()
	<-kv.asked
	short, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Close(short); !errors.Is(err, context.Canceled) {
		t.Errorf("closing with a call running: %v", err)
	}
	_, _, err := p.Call(context.Background(), plugintest.HookInput())
	plugintest.WantError(t, err, abi.CodeUsage)
	select {
	case err := <-called:
		t.Errorf("the plugin was closed under a call: %v", err)
	default:
	}
	close(kv.open)
	if err := p.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-called; err != nil {
		t.Errorf("the call that was running: %v", err)
	}
}
