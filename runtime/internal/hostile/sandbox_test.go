package hostile_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// sandbox is where hostile guests run: a runtime with a plugin in it that does
// no harm.
type sandbox struct {
	runtime  *runtime.Runtime
	innocent *runtime.Plugin
}

func newSandbox(t *testing.T, o runtime.Options) *sandbox {
	r := plugintest.New(t, o)
	s := &sandbox{r, plugintest.MustLoad(t, r, wasmtest.Echo(Hook), runtime.PluginOptions{})}
	s.greet(t)
	return s
}

// greet calls the innocent plugin, whose answer is its input.
func (s *sandbox) greet(t *testing.T) {
	const hello = `{"inject":"hello"}`
	if out, _, err := s.innocent.CallRaw(context.Background(), Hook, []byte(hello)); err != nil || string(out) != hello {
		t.Errorf("a call that does no harm: %q, %v", out, err)
	}
}

// beside runs f while the innocent plugin is called, and once more afterwards.
func (s *sandbox) beside(t *testing.T, f func()) {
	var over atomic.Bool
	done := make(chan int)
	go func() {
		calls := 0
		for ; calls == 0 || !over.Load(); calls++ {
			s.greet(t)
			time.Sleep(time.Millisecond)
		}
		done <- calls
	}()
	f()
	over.Store(true)
	<-done
	s.greet(t)
}

// slack is how late a call may end, on a machine that is busy with other
// things: the benchmarks tell how late it really is.
const slack = 5 * time.Second

// spare is how much memory the process may take beside what a guest may have.
const spare = 32 << 20

// try loads a guest and calls it. It holds that the process lives, that the
// innocent goes on, that memory is bounded, and that the error is what the
// guest says and names everything.
func (s *sandbox) try(t *testing.T, g Guest, limits abi.Limits) (stats abi.CallStats, err error) {
	t.Helper()
	wasm := g.Wasm()
	limits = limits.Or(abi.DefaultLimits())
	s.beside(t, func() {
		var p *runtime.Plugin
		load := func() { p, err = s.load(t, g, wasm, limits) }
		if g.Code == abi.CodeRefused || g.OrRefused {
			bounded(t, limits, 0, load)
		} else {
			load()
		}
		if p == nil {
			return
		}
		tries := 0
		bounded(t, limits, time.Duration(limits.TimeoutMS)*time.Millisecond, func() {
			if tries++; tries > 1 { // a call closes its plugin
				load()
			}
			if p != nil {
				stats, err = s.call(t, g, p)
			}
		})
	})
	if stats.PeakMemoryBytes > int64(limits.MemoryMB)<<20 {
		t.Errorf("the call says it had %d bytes of memory", stats.PeakMemoryBytes)
	}
	if t.Failed() {
		t.Logf("%s; it ended with: %v", g.Why, err)
	}
	return stats, err
}

// bounded holds that f takes no more time and memory than it may. What the
// process holds is a matter of when the collector comes by, too: f takes too much
// where it does so three times.
func bounded(t *testing.T, limits abi.Limits, most time.Duration, f func()) {
	t.Helper()
	const tries = 3
	for try := 1; ; try++ {
		memory, start := watchMemory(t), time.Now()
		f()
		if took := time.Since(start); took > most+slack {
			t.Errorf("it took %v", took)
		}
		if allowed := int64(limits.MemoryMB)<<20 + spare; try == tries || memory.taken(t) <= allowed {
			memory.within(t, allowed)
			return
		}
	}
}

// load loads a guest, nil where it is refused.
func (s *sandbox) load(t *testing.T, g Guest, wasm []byte, limits abi.Limits) (*runtime.Plugin, error) {
	o := runtime.PluginOptions{Limits: limits, Manifest: g.Manifest()}
	if o.Manifest != nil {
		o.Grants = plugintest.GrantAll(o.Manifest)
	}
	p, err := plugintest.Load(context.Background(), s.runtime, wasm, o)
	if err != nil {
		if g.Code != abi.CodeRefused && !g.OrRefused {
			t.Errorf("it is refused, and should be called")
		}
		checkError(t, err, abi.CodeRefused, abi.PhaseLoad)
		return nil, err
	}
	return p, nil
}

// call calls a guest and closes it.
func (s *sandbox) call(t *testing.T, g Guest, p *runtime.Plugin) (abi.CallStats, error) {
	defer func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	out, stats, err := p.Call(context.Background(), plugintest.HookInput())
	if g.Code == "" {
		if err != nil {
			t.Errorf("it does no harm, and fails")
		}
		return stats, err
	}
	phase := g.Phase
	if phase == "" {
		phase = abi.PhaseCall
	}
	e := checkError(t, err, g.Code, phase)
	if e.Hook != abi.HookPreCompact || e.Plugin != p.Manifest().Name || out != nil {
		t.Errorf("plugin %q, hook %q, an output: %v", e.Plugin, e.Hook, out != nil)
	}
	return stats, err
}

// hinted are the codes of failures against which something can be done.
var hinted = map[abi.Code]bool{
	abi.CodeDeadline: true, abi.CodeFuel: true, abi.CodeMemory: true, abi.CodeStack: true, abi.CodeOutputLimit: true,
	abi.CodeQuota: true, abi.CodeBadOutput: true,
}

// checkError holds that an error is of the code, names phase and cause, has a
// hint where one helps, and is safe to show.
func checkError(t *testing.T, err error, code abi.Code, phase abi.Phase) *abi.Error {
	e := abi.AsError(err)
	switch {
	case err == nil:
		t.Errorf("no error, want %s", code)
		return &abi.Error{}
	case e.Code != code || e.Phase != phase:
		t.Errorf("code %s in phase %s, want %s in %s", e.Code, e.Phase, code, phase)
	case e.Plugin == "" && phase != abi.PhaseLoad, e.Op == "", e.Message == "", hinted[code] && e.Hint == "":
		t.Errorf("something is missing: %+v", e)
	}
	if text := err.Error(); len(text) > 8<<10 || text != abi.Defuse(text) {
		t.Errorf("an error that is not safe to show: %d bytes, %q", len(text), text[:min(len(text), 200)])
	}
	return e
}

// tryAll tries guests. Those that nothing but time stops have less of it in
// `make test`.
func (s *sandbox) tryAll(t *testing.T, guests []Guest, limits abi.Limits) {
	for _, g := range guests {
		t.Run(g.Name, func(t *testing.T) {
			limits := limits
			if g.Code == abi.CodeDeadline {
				limits.TimeoutMS = min(limits.TimeoutMS, soak.Count(60, limits.TimeoutMS, limits.TimeoutMS))
			} else if limits.TimeoutMS > 0 {
				limits.TimeoutMS = 5_000 // something else is to stop it, also on a busy machine
			}
			s.try(t, g, limits)
		})
	}
}

// some of the guests, in `make test`.
func some(guests []Guest, quick int) []Guest { return soak.Sample(guests, quick, len(guests)) }

// briefly is for guests that only time stops.
var briefly = abi.Limits{TimeoutMS: 40}

// the shared guests, each of which ends in an error with a code.
func TestHostile(t *testing.T) {
	features.Proves(t, "N1")
	want := map[string]abi.Code{
		"errhuge.wasm": abi.CodeExit, "exit0.wasm": abi.CodeExit,
		"expcalls.wasm": abi.CodeDeadline, "init_loop.wasm": abi.CodeDeadline,
		"logflood.wasm": abi.CodeDeadline, "loop.wasm": abi.CodeDeadline, "mem_bomb.wasm": abi.CodeMemory,
		"mem_min.wasm": abi.CodeRefused, "out_oob.wasm": abi.CodeOutputLimit, "recurse.wasm": abi.CodeStack,
		"start_loop.wasm": abi.CodeDeadline, "table_grow.wasm": abi.CodeMemory, "table_min4.wasm": abi.CodeRefused,
		"unkimport.wasm": abi.CodeRefused,
	}
	s := newSandbox(t, runtime.Options{})
	for _, path := range shared.Glob(t, "hostile", "*.wasm") {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			wasm, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			g := Guest{Name: name, Why: "a guest of the shared ones", Wasm: func() []byte { return wasm }, Code: want[name]}
			if strings.HasPrefix(name, "init_") || strings.HasPrefix(name, "start_") {
				g.Phase = abi.PhaseInstantiate
			}
			limits := abi.Limits{}
			if g.Code == abi.CodeDeadline {
				limits = briefly
			}
			stats, _ := s.try(t, g, limits)
			logged := 0
			for _, l := range stats.Logs {
				logged += len(l.Message)
			}
			if logged > 64<<10 || name == "logflood.wasm" && stats.LogsDropped == 0 {
				t.Errorf("%d bytes of log, %d lines dropped", logged, stats.LogsDropped)
			}
		})
	}
}
