package runtime

import (
	"context"
	"fmt"
	"math"
	goruntime "runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// engine runs the calls of one plugin. run makes a fresh instance, calls
// c.export in it and returns its result (0 where it has none); it sets c.phase
// as it goes. Calls run concurrently; close is called once, after the last.
type engine interface {
	run(ctx context.Context, c *call) (result uint32, err error)
	close(ctx context.Context) error
}

// hostModules are the modules a guest may import from, but for WASI.
var hostModules = map[string][]hostFunc{
	abi.ImportModule: bulkFuncs,
	abi.ExtismModule: slices.Concat(extismFuncs, outwardFuncs),
}

// native is this package's own engine: wazero, with host functions in Go.
type native struct {
	runtime  wazero.Runtime
	cache    wazero.CompilationCache
	code     wazero.CompiledModule
	config   wazero.ModuleConfig
	wasi     bool
	inits    []initCall
	boot     *boot  // nil where there is nothing to call
	stack    uint32 // see prepared
	elements int64  // of its tables, to begin with
	// snapshot is the guest as it is before a call. Nil until there was one.
	snapshot atomic.Pointer[snapshot]
	fresh    atomic.Bool // there never is a snapshot: each call starts the guest
	pool     *pool       // nil is one that is always empty
	rooms    *rooms      // for the memory of guests
	overhead int64       // about what an instance takes beside its memory, in bytes
}

// The entries of WASI: of a command, and of a reactor.
const (
	startExport = "_start"
	initExport  = "_initialize"
)

// initCall is an export that has to run before any other.
type initCall struct {
	name string
	args int
}

// What an instance takes beside its memory, in bytes.
const (
	instanceOverhead = 64 << 10
	elementOverhead  = 64 // of a table
)

// newNative compiles a module. cache may be nil.
func newNative(ctx context.Context, p *prepared, m *wasm.Module, interpreter bool, cache wazero.CompilationCache) (n *native, err error) {
	config := wazero.NewRuntimeConfig()
	if interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	config = config.WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	n = &native{
		runtime: wazero.NewRuntimeWithConfig(ctx, config),
		cache:   cache, config: moduleConfig(), wasi: m.Uses(wasiModule), inits: initCalls(m), boot: p.boot, stack: p.stack,
	}
	n.overhead = instanceOverhead
	for _, t := range m.Tables {
		n.elements += int64(t.Min)
	}
	n.overhead += n.elements * elementOverhead
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("engine: %v", r)
		}
		if err != nil {
			_ = n.close(ctx)
		}
	}()
	if err := n.link(ctx, m); err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	n.code, err = n.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, goruntime.GOMAXPROCS(0)), p.bin)
	return n, err
}

// whole reports whether the engine runs the code of the module, and not that of
// its hollow stand-in. No code of the guest runs for that: the module has to be
// detached.
func (n *native) whole() bool {
	ctx := context.Background()
	i := &instance{budget: &budget{limit: math.MaxInt64}, rooms: new(rooms)}
	if n.wasi {
		i.world = newWorld()
	}
	defer i.close()
	if n.instantiate(ctx, i) != nil {
		return false
	}
	answer, err := i.module.ExportedFunction(meter.Whole).Call(ctx)
	return err == nil && answer[0] == 1
}

// link provides the modules that m imports from, and what the meter calls.
func (n *native) link(ctx context.Context, m *wasm.Module) error {
	params, results := []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}
	tick := n.runtime.NewHostModuleBuilder(meter.Module).NewFunctionBuilder().WithGoFunction(api.GoFunc(onTick), params, results)
	if _, err := tick.Export(meter.Tick).Instantiate(ctx); err != nil {
		return err
	}
	if n.wasi {
		if _, err := wasi_snapshot_preview1.Instantiate(watchWASI(ctx), n.runtime); err != nil {
			return err
		}
	}
	for name, funcs := range hostModules {
		if !m.Uses(name) {
			continue
		}
		b := n.runtime.NewHostModuleBuilder(name)
		for _, f := range funcs {
			params, results := engineTypes(f.sig)
			b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
				c := callOf(ctx)
				c.askedHost = true
				f.fn(ctx, c, stack)
			}), params, results).Export(f.name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// initCalls are the conventions of compilers, as Extism's SDK follows them: a
// reactor's _initialize, C++'s constructors where there is none, and Haskell's
// hs_init after either.
func initCalls(m *wasm.Module) []initCall {
	var calls []initCall
	has := func(name string, want wasm.Signature) bool { sig, ok := m.ExportedFunc(name); return ok && sig == want }
	switch {
	case has(initExport, "()"):
		calls = append(calls, initCall{name: initExport})
	case has("__wasm_call_ctors", "()"):
		calls = append(calls, initCall{name: "__wasm_call_ctors"})
	}
	if has("hs_init", "(i32,i32)") {
		calls = append(calls, initCall{"hs_init", 2})
	}
	return calls
}

func (n *native) run(ctx context.Context, c *call) (uint32, error) {
	defer n.leave(c)
	if err := n.enter(ctx, c); err != nil {
		return 0, err
	}
	c.phase = abi.PhaseCall
	return c.inst.call(ctx, c.export)
}

// enter gives the call an instance whose export can be called: one out of the
// pool, or restored, or started, which happens once where it can be restored.
func (n *native) enter(ctx context.Context, c *call) error {
	if selfStarting(c.export) {
		return n.start(ctx, c)
	}
	if i := n.pool.take(c.export); i != nil {
		i.bind(c)
		return nil
	}
	// To restore one takes more mappings than to start one, which may be short.
	s := n.snapshot.Load()
	if s != nil {
		if i, err := n.restore(s); err == nil {
			i.bind(c)
			return nil
		}
	}
	if err := n.start(ctx, c); err != nil || s != nil || n.fresh.Load() {
		return err
	}
	switch s = n.capture(c); {
	case s == nil:
		n.fresh.Store(true)
	case !n.snapshot.CompareAndSwap(nil, s):
		s.discard() // another call was first
	}
	return nil
}

// leave ends the instance of the call, whatever became of it.
func (n *native) leave(c *call) {
	i := c.inst
	c.settle()
	c.inst = nil
	switch {
	case i == nil:
	case i.before != nil:
		n.pool.retire(i)
	default:
		i.close()
	}
}

// prepare makes an instance for the pool.
func (n *native) prepare(export string) (*instance, error) {
	i, err := n.restore(n.snapshot.Load())
	if err == nil {
		i.prepare(export)
		i.size = int64(i.memory.size()) + n.overhead
	}
	return i, err
}

func (n *native) close(ctx context.Context) error {
	n.pool.close()
	n.snapshot.Load().discard()
	err := n.runtime.Close(ctx)
	if n.cache != nil {
		if e := n.cache.Close(ctx); err == nil {
			err = e
		}
	}
	return err
}

// engineTypes are the value types that a signature names.
func engineTypes(s wasm.Signature) (params, results []api.ValueType) {
	in, out, _ := strings.Cut(string(s), "->")
	return valueTypes(strings.Trim(in, "()")), valueTypes(out)
}

func valueTypes(list string) []api.ValueType {
	var types []api.ValueType
	for name := range strings.SplitSeq(list, ",") {
		switch name {
		case "i32":
			types = append(types, api.ValueTypeI32)
		case "i64":
			types = append(types, api.ValueTypeI64)
		}
	}
	return types
}
