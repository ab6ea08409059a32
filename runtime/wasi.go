package runtime

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
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

// world is what one instance of a guest sees of the world through WASI. The
// engine binds it when it makes the instance; the call it works for comes
// later.
type world struct {
	random         rand.ChaCha8
	clock          guestClock
	stdout, stderr stream
}

func newWorld() *world {
	return &world{random: *rand.NewChaCha8(randomSeed)}
}

// config is the configuration of the instance.
func (w *world) config(base wazero.ModuleConfig) wazero.ModuleConfig {
	return base.
		WithStdout(&w.stdout).WithStderr(&w.stderr).
		WithRandSource(&w.random).
		WithWalltime(func() (int64, int32) { return wallSeconds, 0 }, 1).
		WithNanotime(w.clock.now, 1).
		WithNanosleep(w.clock.sleep)
}

// stream is an output of WASI, which leads to a call's log while there is one.
type stream struct{ to *lineWriter }

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	if s.to == nil {
		return len(p), nil
	}
	return s.to.Write(p)
}

// guestClock is the monotonic clock of a guest.
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

// wasiCall is what the host looks at in a call of WASI, which the engine then
// answers.
type wasiCall struct {
	// changesFiles: it changes what a guest has open. It has its three streams,
	// can close and move them, and open nothing. The flags of such a stream
	// cannot be changed.
	changesFiles bool
	// fault: the engine has one there, for want of a file system.
	fault bool
	// The parameter that says how much there is to do, what it counts, and how
	// much of it one call may ask for; 0 is no bound. The engine does it all
	// without a look at the clock, and a file's number is an index to it.
	param int
	what  string
	most  uint32
}

var wasiCalls = map[string]wasiCall{
	"fd_close":              {changesFiles: true},
	"fd_renumber":           {changesFiles: true, param: 1, what: "a file number of", most: 1 << 10},
	"fd_filestat_set_times": {fault: true},
	"fd_read":               {param: 2, what: "a number of buffers of", most: maxBuffers},
	"fd_pread":              {param: 2, what: "a number of buffers of", most: maxBuffers},
	"fd_write":              {param: 2, what: "a number of buffers of", most: maxBuffers},
	"fd_pwrite":             {param: 2, what: "a number of buffers of", most: maxBuffers},
	"poll_oneoff":           {param: 2, what: "a number of subscriptions of", most: 4 << 10},
	"random_get":            {param: 1, what: "a number of random bytes of", most: 8 << 20},
}

const maxBuffers = 16 << 10

// watchWASI makes the engine show the calls that are in wasiCalls before it
// answers them.
func watchWASI(ctx context.Context) context.Context {
	return experimental.WithFunctionListenerFactory(ctx, experimental.FunctionListenerFactoryFunc(
		func(def api.FunctionDefinition) experimental.FunctionListener {
			w, ok := wasiCalls[def.Name()]
			if !ok {
				return nil
			}
			return experimental.FunctionListenerFunc(
				func(ctx context.Context, _ api.Module, _ api.FunctionDefinition, params []uint64, _ experimental.StackIterator) {
					w.look(callOf(ctx), def.Name(), params)
				})
		}))
}

// look stops a guest whose call asks for too much.
func (w *wasiCall) look(c *call, name string, params []uint64) {
	c.changedFiles = c.changedFiles || w.changesFiles
	if w.fault {
		c.stop(abi.CodeDenied, name+": a plugin has no files", "")
	}
	if n := uint32(params[w.param]); w.most > 0 && n > w.most {
		c.stop(abi.CodeQuota, fmt.Sprintf("%s with %s %d, %d allowed in one call", name, w.what, n, w.most), "let the plugin ask for less at a time")
	}
}

// newLinker collects every import a guest may have, with its signature.
func newLinker(ctx context.Context) (linker, error) {
	l := linker{}
	for module, funcs := range hostModules {
		l[module] = make(map[string]wasm.Signature, len(funcs))
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
	l[wasiModule] = make(map[string]wasm.Signature)
	for name, f := range wasi.ExportedFunctions() {
		l[wasiModule][name] = signatureText(f.ParamTypes(), f.ResultTypes())
	}
	return l, nil
}

func signatureText(params, results []api.ValueType) wasm.Signature {
	s := "(" + typeList(params) + ")"
	if len(results) > 0 {
		s += "->" + typeList(results)
	}
	return wasm.Signature(s)
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
