package runtime

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// What a guest sees of the world is the same in every call: no files, no
// environment, no arguments, no standard input; randomness from a constant
// seed; the wall clock stands still, and the other clock moves by a
// microsecond at each look and by what the guest wants to sleep, which takes
// no time.
const (
	wallSeconds = 1_640_995_200 // 2022-01-01 00:00:00 UTC
	tickNanos   = 1_000
)

var randomSeed = [32]byte([]byte("kagewasm: the same in every call"))

// moduleConfig is the configuration of an instance without WASI: anonymous,
// and nothing runs by itself but the start section. Nobody can read its
// randomness; without a source of ours the engine seeds one for every instance,
// which is a third of a small call.
func moduleConfig() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(strings.NewReader(""))
}

// wasiConfig is the configuration of the instance of a call.
func wasiConfig(base wazero.ModuleConfig, c *call) wazero.ModuleConfig {
	clock := &guestClock{}
	return base.
		WithStdout(&c.stdout).WithStderr(&c.stderr).
		WithRandSource(rand.NewChaCha8(randomSeed)).
		WithWalltime(func() (int64, int32) { return wallSeconds, 0 }, 1).
		WithNanotime(clock.now, 1).
		WithNanosleep(clock.sleep)
}

// guestClock is the monotonic clock of a call.
type guestClock struct{ ns int64 }

func (t *guestClock) now() int64 {
	t.sleep(tickNanos)
	return t.ns
}

func (t *guestClock) sleep(ns int64) {
	if ns > 0 && t.ns <= math.MaxInt64-ns {
		t.ns += ns
	}
}

// newLinker collects every import a guest may have, with its signature.
func newLinker(ctx context.Context) (linker, error) {
	l := linker{}
	for module, funcs := range hostModules {
		l[module] = make(map[string]signature, len(funcs))
		for _, f := range funcs {
			l[module][f.name] = f.sig
		}
	}
	// The engine's own WASI says what it has. The interpreter builds it
	// without compiling anything.
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	wasi, err := wasi_snapshot_preview1.NewBuilder(rt).Compile(ctx)
	if err != nil {
		return nil, fmt.Errorf("wasi: %w", err)
	}
	l[wasiModule] = make(map[string]signature)
	for name, f := range wasi.ExportedFunctions() {
		l[wasiModule][name] = signatureText(f.ParamTypes(), f.ResultTypes())
	}
	return l, nil
}

func signatureText(params, results []api.ValueType) signature {
	s := "(" + typeList(params) + ")"
	if len(results) > 0 {
		s += "->" + typeList(results)
	}
	return signature(s)
}

func typeList(types []api.ValueType) string {
	s := ""
	for i, t := range types {
		if i > 0 {
			s += ","
		}
		s += api.ValueTypeName(t)
	}
	return s
}
