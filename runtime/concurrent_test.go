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
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// Calls of many plugins at once, good and bad, while others are loaded and
// closed: every answer is the call's own, and every error is expected.
func TestConcurrent(t *testing.T) {
	ctx := context.Background()
	kv := &mapKV{m: map[string]string{"asks a": "1"}}
	r := newRuntime(t, runtime.Options{KV: kv, CacheDir: t.TempDir()})
	o := runtime.PluginOptions{Manifest: asksAll, Grants: runtime.GrantAll(asksAll), Limits: abi.Limits{TimeoutMS: 5_000, MemoryMB: 4}}
	guests := map[abi.Code][]byte{
		"": wasmtest.Echo(pre), abi.CodeTrap: wasmtest.Trap(pre), abi.CodeMemory: wasmtest.EatMemory(pre),
		abi.CodeExit: wasmtest.Exit(pre, 1),
	}
	end := time.Now().Add(500 * time.Millisecond)
	var wg sync.WaitGroup
	var done atomic.Int64
	for code, wasm := range guests {
		shared := load(t, r, wasm, o)
		for w := range 2 {
			wg.Go(func() {
				for i := 0; time.Now().Before(end); i++ {
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
			for time.Now().Before(end) {
				p, err := r.Load(ctx, wasm, o)
				if err != nil {
					t.Error(err)
					return
				}
				hammer(t, p, code)
			}
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

// Close waits for running calls; one that will not wait leaves the rest to the
// last call.
func TestCloseWhileCalling(t *testing.T) {
	p := load(t, newRuntime(t, runtime.Options{}), wasmtest.Loop(pre), runtime.PluginOptions{Limits: abi.Limits{TimeoutMS: 300}})
	called := make(chan error)
	go func() {
		_, _, err := p.Call(context.Background(), hookInput())
		called <- err
	}()
	time.Sleep(50 * time.Millisecond)
	short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := p.Close(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closing with a call running: %v", err)
	}
	_, _, err := p.Call(context.Background(), hookInput())
	wantError(t, err, abi.CodeUsage)
	if err := p.Close(context.Background()); err != nil {
		t.Error(err)
	}
	select {
	case err := <-called:
		wantError(t, err, abi.CodeDeadline)
	case <-time.After(time.Second):
		t.Error("the plugin was closed under a call")
	}
}
