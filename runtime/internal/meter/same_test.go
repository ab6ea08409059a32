package meter_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// run is what calling every export of a module came to.
type run struct {
	refused  error // by the engine, before anything ran
	outcomes []outcome
	state    uint64 // of memory and globals, after them
	stopped  bool
	used     []int64 // fuel, by call
	counts   []int64 // what a program that counts has counted, after each call
	ticks    []tick  // of all calls, where the host keeps them
}

// runner calls the exports of modules.
type runner struct {
	engine engine
	host   host
	args   uint64 // of every call
}

// module compiles, instantiates and calls all exported functions.
func (r *runner) module(tb testing.TB, module []byte, rewritten bool) run {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	config := r.engine.config().WithCoreFeatures(api.CoreFeaturesV2).WithMemoryLimitPages(64)
	rt := wazero.NewRuntimeWithConfig(ctx, config.WithCloseOnContextDone(!rewritten))
	defer rt.Close(context.Background())
	compiled, err := compile(ctx, rt, module, rewritten)
	if err != nil {
		return run{refused: err}
	}
	r.host.instantiate(tb, rt)
	if _, err := rt.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithFunc(func(v uint32) uint32 { return 3*v + 1 }).Export("f").Instantiate(ctx); err != nil {
		tb.Fatal(err)
	}
	r.host.ticks, r.host.fuelTicks = nil, 0
	m, err := rt.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("guest").WithStartFunctions())
	if err != nil {
		kind := trapKind(err)
		if _, trap, ok := strings.Cut(kind, "wasm error: "); ok {
			kind = trap
		} else if !strings.Contains(kind, errStopped.Error()) && !strings.Contains(kind, errStack.Error()) {
			kind = "" // what is not there to import, or has no room: it names the function
		}
		return run{outcomes: []outcome{{trap: "instantiation: " + kind}}, stopped: strings.Contains(kind, "stopped")}
	}
	var out run
	parsed, err := wasm.Parse(module)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range parsed.Exports {
		if e.Kind != wasm.KindFunc || e.Name == meter.Whole {
			continue
		}
		f := m.ExportedFunction(e.Name)
		args := make([]uint64, slots(f.Definition().ParamTypes()))
		for i, typ := range f.Definition().ParamTypes() {
			if typ == api.ValueTypeI32 {
				args[i] = r.args & 0xffff_ffff
			}
		}
		r.host.start(m)
		o := call(ctx, f, args...)
		if rewritten {
			out.used = append(out.used, r.host.used(m))
			out.ticks = append(out.ticks, r.host.ticks...)
		}
		out.counts = append(out.counts, counted(m)-r.host.before)
		if o.trap == errStopped.Error() || o.trap == "stack overflow" {
			out.stopped = true
			return out
		}
		if rewritten && o.trap == "" {
			if left := counter(m, meter.Depth); m.ExportedGlobal(meter.Depth) != nil && left != r.host.stack() {
				tb.Errorf("%s: a stack of %d is left, there were %d", e.Name, left, r.host.stack())
			}
		}
		for i, typ := range f.Definition().ResultTypes() {
			if typ == api.ValueType(wasm.FuncRefT) && i < len(o.results) && o.results[i] != 0 {
				o.results[i] = 1 // an address
			}
		}
		out.outcomes = append(out.outcomes, o)
	}
	out.state = state(m, parsed)
	return out
}

// compile compiles a module. The engine panics at some that are not valid, but
// must not at what is rewritten.
func compile(ctx context.Context, rt wazero.Runtime, module []byte,
	rewritten bool) (c wazero.CompiledModule, err error) {

	defer func() {
		if !rewritten {
			if fault := recover(); fault != nil {
				err = fmt.Errorf("panic: %v", fault)
			}
		}
	}()
	return rt.CompileModule(ctx, module)
}

func slots(types []api.ValueType) int {
	n := len(types)
	for _, t := range types {
		if t == api.ValueType(wasm.V128) {
			n++
		}
	}
	return n
}

// state is a hash of the memory and the exported globals of an instance.
func state(m api.Module, parsed *wasm.Module) uint64 {
	h := fnv.New64a()
	if len(parsed.Memories) > 0 {
		if b, ok := m.Memory().Read(0, m.Memory().Size()); ok {
			h.Write(b)
		}
	}
	for _, e := range parsed.Exports {
		if e.Kind != wasm.KindGlobal || strings.HasPrefix(e.Name, meter.Prefix) {
			continue
		}
		if g := m.ExportedGlobal(e.Name); g.Type() != api.ValueType(wasm.FuncRefT) {
			h.Write(wasm.AppendU32(wasm.AppendU32(nil, uint32(g.Get()>>32)), uint32(g.Get())))
		}
	}
	return h.Sum64()
}

// bound reports whether an error says that a bound of this package's, and not
// a rule of WebAssembly's, refuses a module.
func bound(err error) bool {
	text := err.Error()
	for _, words := range []string{"allowed", "more than", "is over", "the host's own"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// stripped is a module without its custom sections, which an engine may refuse
// a module for and the rewriter drops.
func stripped(module []byte, m *wasm.Module) []byte {
	out := append([]byte(nil), module[:wasm.HeaderBytes]...)
	for _, s := range m.Sections {
		if s.ID != wasm.SectionCustom {
			out = append(out, module[s.Start:s.Stop]...)
		}
	}
	return out
}

// sameModule holds all that is promised of any bytes: what the engine takes is
// taken when rewritten and does the same, what it refuses stays refused.
func sameModule(tb testing.TB, module []byte) {
	tb.Helper()
	parsed, err := wasm.Parse(module)
	if err != nil {
		return
	}
	module = stripped(module, parsed)
	if parsed, err = wasm.Parse(module); err != nil {
		tb.Fatalf("without its custom sections: %v", err)
	}
	rewritten, _, err := meter.Rewrite(module, parsed, meter.Options{})
	if limit := maxGrowth*len(module) + 2_000; len(rewritten) > limit {
		tb.Errorf("%d bytes became %d, %d allowed", len(module), len(rewritten), limit)
	}
	elements := uint64(0)
	for _, t := range parsed.Tables {
		elements += uint64(t.Min)
	}
	if elements > wasm.MaxElements {
		return // the engine would make room for them
	}
	r := &runner{engine: engines[1], host: host{quantum: 100, maxTicks: 200, maxTable: 1 << 16}, args: uint64(len(module))}
	if err != nil {
		original := r.module(tb, module, false)
		if original.refused == nil && !bound(err) {
			tb.Errorf("refused (%v), but the engine takes it", err)
		}
		return
	}
	got := r.module(tb, rewritten, true)
	if got.stopped {
		return // the original may run for ever
	}
	want := r.module(tb, module, false)
	switch {
	case (want.refused == nil) != (got.refused == nil):
		tb.Errorf("as it is: %v; rewritten: %v", want.refused, got.refused)
	case want.stopped:
	default:
		sameRun(tb, want, got)
	}
}

// maxGrowth bounds the length of a rewritten module in lengths of the original.
const maxGrowth = 40

func sameRun(tb testing.TB, want, got run) {
	tb.Helper()
	if len(want.outcomes) != len(got.outcomes) {
		tb.Errorf("%v as it is, %v rewritten", want.outcomes, got.outcomes)
		return
	}
	for i := range want.outcomes {
		if w, g := want.outcomes[i].String(), got.outcomes[i].String(); w != g {
			tb.Errorf("call %d: %s as it is, %s rewritten", i, w, g)
		}
	}
	if want.state != got.state {
		tb.Error("memory and globals are not the same")
	}
}
