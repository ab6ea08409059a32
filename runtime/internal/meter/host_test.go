package meter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// tick is one call of the host by a rewritten guest.
type tick struct{ reason, value int32 }

// host answers the ticks of rewritten guests.
type host struct {
	quantum  int32 // what is handed out at a time; 0: plenty
	maxTicks int   // of those for fuel, 0: any number
	depth    int32 // the stack there is; 0: plenty
	// maxTable is by how much a table may grow at a time, 0: any number. The
	// tables of rewritten modules are bounded.
	maxTable uint32
	// keep makes it remember all ticks.
	keep  bool
	ticks []tick

	// onTick, where there is one, is called with what was charged and what the
	// program has counted from the start up to then.
	onTick func(charged, counted int64)
	guest  api.Module
	before int64 // what a program had counted at the start

	fuelTicks int
	handed    int64 // fuel handed out
	deepest   int32 // the least that was left of the stack
}

var (
	errStopped = errors.New("stopped: no more fuel")
	errStack   = errors.New("stopped: stack overflow")
)

const plenty = 1 << 30

// answer is what the host says to a tick. It panics where it stops the guest.
func (h *host) answer(t tick) int32 {
	if h.keep {
		h.ticks = append(h.ticks, t)
	}
	switch t.reason {
	case meter.ReasonFuel, meter.ReasonReturn:
		if h.onTick != nil {
			h.onTick(h.handed-int64(t.value), counted(h.guest)-h.before)
		}
		if h.fuelTicks++; h.maxTicks > 0 && h.fuelTicks > h.maxTicks {
			panic(errStopped)
		}
		quantum := h.quantum
		if quantum == 0 {
			quantum = plenty
		}
		h.handed += int64(quantum) - int64(t.value) // what is left is taken back
		return quantum
	case meter.ReasonStack:
		if h.depth > 0 && t.value < 0 {
			panic(errStack)
		}
		h.deepest = min(h.deepest, t.value)
		return t.value
	case meter.ReasonTable:
		if h.maxTable > 0 && uint32(t.value) > h.maxTable {
			panic(errStopped)
		}
		return 1
	}
	return 0
}

// instantiate gives a runtime the module with the tick.
func (h *host) instantiate(tb testing.TB, r wazero.Runtime) {
	tb.Helper()
	i32 := api.ValueTypeI32
	_, err := r.NewHostModuleBuilder(meter.Module).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) {
			stack[0] = uint64(uint32(h.answer(tick{int32(stack[0]), int32(stack[1])})))
		}), []api.ValueType{i32, i32}, []api.ValueType{i32}).Export(meter.Tick).Instantiate(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
}

// start sets the counters of an instance before a call.
func (h *host) start(m api.Module) {
	set := func(name string, v int32) {
		if g, ok := m.ExportedGlobal(name).(api.MutableGlobal); ok {
			g.Set(uint64(uint32(v)))
		}
	}
	h.ticks, h.fuelTicks = h.ticks[:0], 0
	h.handed = int64(h.quantum)
	h.guest, h.before = m, counted(m)
	depth := h.stack()
	h.deepest = depth
	set(meter.Fuel, h.quantum)
	set(meter.Depth, depth)
	set(meter.Mark, depth)
}

// stack is how much of it there is.
func (h *host) stack() int32 {
	if h.depth == 0 {
		return plenty
	}
	return h.depth
}

// counted is what a program has counted, 0 where it does not.
func counted(m api.Module) int64 {
	if g := m.ExportedGlobal("count"); g != nil {
		return int64(g.Get())
	}
	return 0
}

// used is the fuel used since start.
func (h *host) used(m api.Module) int64 { return h.handed - int64(counter(m, meter.Fuel)) }

// counter is the value of an added global.
func counter(m api.Module, name string) int32 {
	g := m.ExportedGlobal(name)
	if g == nil {
		return 0
	}
	return int32(g.Get())
}

// rewrite is Parse and Rewrite.
func rewrite(module []byte) ([]byte, *meter.Info, error) {
	m, err := wasm.Parse(module)
	if err != nil {
		return nil, nil, err
	}
	return meter.Rewrite(module, m, meter.Options{})
}

// mustRewrite is rewrite of what has to be taken.
func mustRewrite(tb testing.TB, module []byte) []byte {
	tb.Helper()
	out, _, err := rewrite(module)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// engine is a way to run modules.
type engine struct {
	name   string
	config func() wazero.RuntimeConfig
}

var engines = []engine{
	{"compiler", wazero.NewRuntimeConfigCompiler},
	{"interpreter", wazero.NewRuntimeConfigInterpreter},
}

// runtime is a new one of the engine, closed at the test's end.
func (e engine) runtime(tb testing.TB) wazero.Runtime {
	tb.Helper()
	r := wazero.NewRuntimeWithConfig(tb.Context(), e.config().WithCoreFeatures(api.CoreFeaturesV2))
	tb.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// outcome is what a call came to: results, or the kind of the error.
type outcome struct {
	results []uint64
	trap    string
}

func (o outcome) String() string {
	if o.trap != "" {
		return o.trap
	}
	return fmt.Sprintf("%#x", o.results)
}

// call calls a function of an instance.
func call(ctx context.Context, f api.Function, args ...uint64) outcome {
	results, err := f.Call(ctx, args...)
	if err != nil {
		return outcome{trap: trapKind(err)}
	}
	return outcome{results: results}
}

// trapKind is what an error says, without the stack trace.
func trapKind(err error) string {
	switch {
	case errors.Is(err, errStopped):
		return errStopped.Error()
	case errors.Is(err, errStack):
		return "stack overflow"
	}
	kind, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(strings.TrimPrefix(kind, "wasm error: "), " (recovered by wazero)")
}
