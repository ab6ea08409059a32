package sandbox_test

import (
	"context"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/internal/sandbox"
)

// pre is the hook most tests use.
const pre = "pre_compact"

// newEngine makes an engine that is closed when the test ends, and with it those
// who load plugins after it.
func newEngine(tb testing.TB, o sandbox.Options) *sandbox.Engine {
	tb.Helper()
	e, err := sandbox.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.Close)
	return e
}

// spied loads a plugin on an engine of its own, and shows its code.
func spied(tb testing.TB, eo sandbox.Options, r *runtime.Runtime, wasm []byte, o runtime.PluginOptions) (
	*runtime.Plugin, *sandbox.Code) {
	tb.Helper()
	return spiedOn(tb, newEngine(tb, eo), r, wasm, o)
}

func spiedOn(tb testing.TB, e *sandbox.Engine, r *runtime.Runtime, wasm []byte, o runtime.PluginOptions) (
	*runtime.Plugin, *sandbox.Code) {
	tb.Helper()
	spy := &sandbox.Spy{Engine: e}
	o.Engine = spy
	p := plugintest.MustLoad(tb, r, wasm, o)
	return p, spy.Last
}

// loadAttached loads a plugin whose module is compiled as it is: it starts by
// itself in every call, as any engine would have it.
func loadAttached(ctx context.Context, e *sandbox.Engine, r *runtime.Runtime, wasm []byte, o runtime.PluginOptions) (
	*runtime.Plugin, error) {
	o.Engine = &sandbox.Spy{Engine: e, Attached: true}
	return plugintest.Load(ctx, r, wasm, o)
}

// limitsFor are the limits of a call that is to end with the code: short where
// time is meant to run out.
func limitsFor(code abi.Code) abi.Limits {
	if code == abi.CodeDeadline {
		return abi.Limits{TimeoutMS: 100}
	}
	return abi.Limits{}
}
