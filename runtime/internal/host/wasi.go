package host

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// WASIModule is the module that WASI is imported from.
const WASIModule = "wasi_snapshot_preview1"

// What a guest sees through WASI is the same in every call: no files, no
// environment, no arguments, no standard input; randomness from a constant
// seed; the wall clock stands still, and the other clock moves by a
// microsecond at each look and by what the guest wants to sleep, which takes
// no time.
const (
	wallSeconds = 1_640_995_200 // 2022-01-01 00:00:00 UTC
	tickNanos   = 1_000
)

var randomSeed = [32]byte([]byte("kagewasm: the same in every call"))

// WASI is the WASI environment of one instance. The engine has it when it makes
// the instance; the call it works for comes later.
type WASI struct {
	random rand.ChaCha8
	nanos  int64 // of the clock that moves
	logs   *Logs // of the call; nil drops what the guest writes
}

// NewWASI is the environment that every guest begins with.
func NewWASI() *WASI { return &WASI{random: *rand.NewChaCha8(randomSeed)} }

// Clone is an environment in the same state, for no call.
func (w *WASI) Clone() *WASI { return &WASI{random: w.random, nanos: w.nanos} }

// Bind leads what the guest writes to the log of a call.
func (w *WASI) Bind(c *Call) { w.logs = &c.Logs }

// Config adds the environment to the configuration of an instance.
func (w *WASI) Config(base wazero.ModuleConfig) wazero.ModuleConfig {
	return base.
		WithStdout(stream{w, 0}).WithStderr(stream{w, 1}).
		WithRandSource(&w.random).
		WithWalltime(func() (int64, int32) { return wallSeconds, 0 }, 1).
		WithNanotime(w.now, 1).
		WithNanosleep(w.sleep)
}

func (w *WASI) now() int64 {
	w.sleep(tickNanos)
	return w.nanos
}

func (w *WASI) sleep(ns int64) {
	if ns > 0 && w.nanos <= math.MaxInt64-ns {
		w.nanos += ns
	}
}

// stream is stdout (0) or stderr (1).
type stream struct {
	wasi   *WASI
	number int
}

// Write implements io.Writer.
func (s stream) Write(p []byte) (int, error) {
	if s.wasi.logs != nil {
		s.wasi.logs.write(s.number, p)
	}
	return len(p), nil
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
	// What says how much there is to do. The engine does it all without a look at
	// the clock, and holds it in memory that nobody counts.
	amounts []amount
}

// amount is a parameter that says how much there is of what, and how much of it one
// call may ask for. (A file's number is an index, and as large.)
type amount struct {
	param int
	what  string
	most  uint32
}

var wasiCalls = map[string]wasiCall{
	"fd_close":              {changesFiles: true},
	"fd_renumber":           {changesFiles: true, amounts: []amount{{1, "a file number of", 1 << 10}}},
	"fd_filestat_set_times": {fault: true},
	"fd_read":               buffers,
	"fd_pread":              buffers,
	"fd_write":              buffers,
	"fd_pwrite":             buffers,
	"sock_recv":             buffers,
	"sock_send":             buffers,
	"poll_oneoff":           {amounts: []amount{{2, "a number of subscriptions of", 4 << 10}}},
	"random_get":            {amounts: []amount{{1, "a number of random bytes of", 8 << 20}}},

	"fd_prestat_dir_name":     paths(2),
	"path_create_directory":   paths(2),
	"path_filestat_get":       paths(3),
	"path_filestat_set_times": paths(3),
	"path_link":               paths(3, 6),
	"path_open":               paths(3),
	"path_readlink":           paths(2),
	"path_remove_directory":   paths(2),
	"path_rename":             paths(2, 5),
	"path_symlink":            paths(1, 4),
	"path_unlink_file":        paths(2),
}

// buffers is a call with a list of buffers.
var buffers = wasiCall{amounts: []amount{{2, "a number of buffers of", 16 << 10}}}

// maxPath is the longest path, in bytes: as long as systems take.
const maxPath = 4 << 10

// paths is a call with paths, whose lengths are these parameters.
func paths(params ...int) (w wasiCall) {
	for _, p := range params {
		w.amounts = append(w.amounts, amount{p, "a path with a length of", maxPath})
	}
	return w
}

// WatchWASI makes the engine show the calls that are in wasiCalls before it
// answers them.
func WatchWASI(ctx context.Context) context.Context {
	return experimental.WithFunctionListenerFactory(ctx, experimental.FunctionListenerFactoryFunc(
		func(def api.FunctionDefinition) experimental.FunctionListener {
			w, ok := wasiCalls[def.Name()]
			if !ok {
				return nil
			}
			return experimental.FunctionListenerFunc(
				func(ctx context.Context, _ api.Module, _ api.FunctionDefinition, params []uint64, _ experimental.StackIterator) {
					w.look(CallOf(ctx), def.Name(), params)
				})
		}))
}

// look stops a guest whose call asks for too much.
func (w *wasiCall) look(c *Call, name string, params []uint64) {
	c.ChangedFiles = c.ChangedFiles || w.changesFiles
	if w.fault {
		c.Stop(abi.CodeDenied, name+": a plugin has no files", "")
	}
	for _, a := range w.amounts {
		if n := uint32(params[a.param]); n > a.most {
			c.Stop(
				abi.CodeQuota, fmt.Sprintf("%s with %s %d, %d allowed in one call", name, a.what, n, a.most),
				"let the plugin ask for less at a time",
			)
		}
	}
}

// WASISignatures are the functions of WASI, as the engine has them.
var WASISignatures = sync.OnceValues(func() (map[string]wasm.Signature, error) {
	// The interpreter builds them without compiling anything.
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	built, err := wasi_snapshot_preview1.NewBuilder(rt).Compile(ctx)
	if err != nil {
		return nil, fmt.Errorf("wasi: %w", err)
	}
	signatures := make(map[string]wasm.Signature)
	for name, f := range built.ExportedFunctions() {
		signatures[name] = signatureText(f.ParamTypes(), f.ResultTypes())
	}
	return signatures, nil
})

func signatureText(params, results []api.ValueType) wasm.Signature {
	s := "(" + typeList(params) + ")"
	if len(results) > 0 {
		s += "->" + typeList(results)
	}
	return wasm.Signature(s)
}

func typeList(types []api.ValueType) string {
	return strings.Join(lists.Map(types, api.ValueTypeName), ",")
}
