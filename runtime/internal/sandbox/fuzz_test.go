package sandbox_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/internal/sandbox"
)

// A module that is detached stays a module, and answers as it does when it is
// left as it is: started, restored and restored again.
func FuzzRestored(f *testing.F) {
	for _, s := range append(wasmtest.Seeds(), busyStart(), wasmtest.Log(pre, "x"), wasmtest.EatMemory(pre)) {
		f.Add(s)
	}
	engine, err := sandbox.New(sandbox.Options{Interpreter: true})
	if err != nil {
		f.Fatal(err)
	}
	r, err := runtime.New(context.Background(), runtime.Options{Interpreter: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		ctx, o := context.Background(), runtime.PluginOptions{Limits: abi.Limits{TimeoutMS: 100, MemoryMB: 2}}
		attached, err := loadAttached(ctx, engine, r, wasm, o)
		if err != nil {
			return
		}
		defer attached.Close(ctx)
		p, err := plugintest.Load(ctx, r, wasm, o)
		if err != nil {
			t.Fatalf("it loads attached alone: %v", err)
		}
		defer p.Close(ctx)
		for _, h := range p.Hooks() {
			want, _, wantErr := attached.CallRaw(ctx, string(h), []byte("input"))
			for n := range 3 {
				out, _, err := p.CallRaw(ctx, string(h), []byte("input"))
				code, wantCode := abi.CodeOf(err), abi.CodeOf(wantErr)
				if code == abi.CodeDeadline || wantCode == abi.CodeDeadline {
					return // the machine was busy
				}
				if wantCode == abi.CodeInternal && code == abi.CodeTrap {
					continue // the engine has no name for data outside of the memory
				}
				if code != wantCode || !bytes.Equal(out, want) {
					t.Fatalf("call %d of %s: %q, %v, want %q, %v", n, h, out, err, want, wantErr)
				}
			}
		}
	})
}
