package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// code is a compiled module in a wazero runtime of its own.
type code struct {
	plugin   *host.Plugin
	runtime  wazero.Runtime
	cache    wazero.CompilationCache // nil where it is on no disk
	module   wazero.CompiledModule
	config   wazero.ModuleConfig
	wasi     bool
	inits    []string   // exports that run before any other
	init     *initState // nil where there is nothing to call
	stack    uint32     // see prepared
	elements int64      // of its tables, to begin with
	// snapshot is the guest as it is before a call. Nil until there was one.
	snapshot atomic.Pointer[snapshot]
	fresh    atomic.Bool // there never is a snapshot: each call starts the guest
	pool     *pool       // nil is one that is always empty
	slots    *slots      // for the memory of guests
	overhead int64       // about what an instance takes beside its memory, in bytes
}

// What an instance takes beside its memory, in bytes.
const (
	instanceOverhead = 64 << 10
	elementOverhead  = 64 // of a table
)

// newCode compiles a module. cache may be nil.
func newCode(
	ctx context.Context, ready *prepared, p *host.Plugin, interpreter bool, cache wazero.CompilationCache,
) (n *code, err error) {
	config := wazero.NewRuntimeConfig()
	if interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	config = config.WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	n = &code{
		plugin: p, runtime: wazero.NewRuntimeWithConfig(ctx, config), cache: cache,
		// Anonymous, and nothing runs by itself but the start section. Without WASI
		// nobody can read its randomness; without a source of ours the engine seeds
		// one for every instance, which is a third of a small call.
		config: wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(strings.NewReader("")),
		wasi:   p.Module.Uses(host.WASIModule), inits: initExports(p.Module), init: ready.init, stack: ready.stack,
		overhead: instanceOverhead,
	}
	for _, t := range p.Module.Tables {
		n.elements += int64(t.Min)
	}
	n.overhead += n.elements * elementOverhead
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("engine: %v", r)
		}
		if err != nil {
			_ = n.Close(ctx)
		}
	}()
	if err := n.link(ctx); err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	n.module, err = n.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, max(1, ready.workers)), ready.bin)
	return n, err
}

// whole reports whether the engine runs the code of the module, and not that of
// its stub. No code of the guest runs for that: the module has to be detached.
func (n *code) whole() bool {
	ctx := context.Background()
	i := &instance{budget: &host.Budget{Limit: math.MaxInt64}}
	if n.wasi {
		i.wasi = host.NewWASI()
	}
	defer i.close()
	if n.instantiate(ctx, i) != nil {
		return false
	}
	answer, err := i.module.ExportedFunction(meter.Whole).Call(ctx)
	return err == nil && answer[0] == 1
}

// link provides the modules that the guest imports from, and what the meter
// calls.
func (n *code) link(ctx context.Context) error {
	params, results := []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}
	tick := n.runtime.NewHostModuleBuilder(meter.Module).NewFunctionBuilder().WithGoFunction(
		api.GoFunc(onTick), params, results,
	)
	if _, err := tick.Export(meter.Tick).Instantiate(ctx); err != nil {
		return err
	}
	if n.wasi {
		if _, err := wasi_snapshot_preview1.Instantiate(host.WatchWASI(ctx), n.runtime); err != nil {
			return err
		}
	}
	for name, funcs := range host.Functions {
		if !n.plugin.Module.Uses(name) {
			continue
		}
		b := n.runtime.NewHostModuleBuilder(name)
		for _, f := range funcs {
			params, results := f.Types()
			b.NewFunctionBuilder().WithGoFunction(api.GoFunc(f.Call), params, results).Export(f.Name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// initExports are the conventions of compilers, as Extism's SDK follows them: a
// reactor's _initialize, C++'s constructors where there is none, and Haskell's
// hs_init after either.
func initExports(m *wasm.Module) []string {
	var inits []string
	has := func(name string, want wasm.Signature) bool { sig, ok := m.ExportedFunc(name); return ok && sig == want }
	switch {
	case has(host.InitExport, "()"):
		inits = append(inits, host.InitExport)
	case has("__wasm_call_ctors", "()"):
		inits = append(inits, "__wasm_call_ctors")
	}
	if has("hs_init", "(i32,i32)") {
		inits = append(inits, "hs_init")
	}
	return inits
}

// Run implements [host.Code].
func (n *code) Run(ctx context.Context, c *host.Call) (uint32, error) {
	r := &run{call: c}
	c.Engine = r
	defer n.leave(r)
	if err := n.enter(ctx, r); err != nil {
		return 0, err
	}
	c.Phase = abi.PhaseCall
	return r.instance.call(ctx, c.Export)
}

// enter gives the call an instance whose export can be called: one out of the
// pool, or restored, or started, which happens once where it can be restored.
func (n *code) enter(ctx context.Context, r *run) error {
	if selfStarting(r.call.Export) {
		return n.start(ctx, r)
	}
	if i := n.pool.take(r.call.Export); i != nil {
		r.bind(i)
		return nil
	}
	// To restore one takes more mappings than to start one, which may be short.
	s := n.snapshot.Load()
	if s != nil {
		if i, err := n.restore(s); err == nil {
			r.bind(i)
			return nil
		}
	}
	if err := n.start(ctx, r); err != nil || s != nil || n.fresh.Load() {
		return err
	}
	switch s = n.capture(r); {
	case s == nil:
		n.fresh.Store(true)
	case !n.snapshot.CompareAndSwap(nil, s):
		s.discard() // another call was first
	}
	return nil
}

// leave ends the instance of the call, whatever became of it.
func (n *code) leave(r *run) {
	r.settle()
	i := r.instance
	r.instance = nil
	switch {
	case i == nil:
	case i.before != nil:
		i.before.memory.used(i.memory)
		n.pool.retire(i)
	default:
		i.close()
	}
}

// prepare makes an instance for the pool.
func (n *code) prepare(export string) (*instance, error) {
	i, err := n.restore(n.snapshot.Load())
	if err == nil {
		i.prepare(export)
		i.size = int64(i.memory.size()) + n.overhead
	}
	return i, err
}

// FunctionName implements [host.Code].
func (n *code) FunctionName(name string) string {
	if strings.HasPrefix(name, meter.Prefix) || strings.HasPrefix(name, meter.Module) {
		return ""
	}
	return n.plugin.FunctionName(name, 1) // the meter's import
}

// Close implements [host.Code].
func (n *code) Close(ctx context.Context) error {
	n.pool.close()
	n.snapshot.Load().discard()
	err := n.runtime.Close(ctx)
	if n.cache != nil {
		err = errors.Join(err, n.cache.Close(ctx))
	}
	return err
}
