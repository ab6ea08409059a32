package meter_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
)

// programs is how many programs are generated.
var programs = soak.Count(10, 60, 60)

// TestPrograms: generated programs do the same rewritten; the fuel they use is
// never less than the weight of what ran, and is the same in every engine,
// every time.
func TestPrograms(t *testing.T) {
	features.Proves(t, "N1")
	var calls, trapped, ticked int
	for seed := range uint64(programs) {
		want, got := sameProgram(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		ticked += len(got.ticks)
		for _, o := range want.outcomes {
			if calls++; o.trap != "" {
				trapped++
			}
		}
	}
	if calls != 2*programs || trapped > calls/2 || ticked < 10*programs {
		t.Errorf("the programs say little: %d calls, %d of them trapped, %d ticks", calls, trapped, ticked)
	}
}

// FuzzPrograms is TestPrograms on more programs.
func FuzzPrograms(f *testing.F) {
	f.Add(uint64(programs))
	f.Fuzz(func(t *testing.T, seed uint64) { sameProgram(t, seed) })
}

func sameProgram(t *testing.T, seed uint64) (want, first run) {
	t.Helper()
	original := generate(seed, false, false)
	rewritten := mustRewrite(t, original)
	want = (&runner{engine: engines[0], args: seed}).module(t, original, false)
	if want.refused != nil {
		t.Fatalf("a program that is not valid: %v", want.refused)
	}
	counted := (&runner{engine: engines[0], args: seed}).module(t, generate(seed, true, false), false)
	for i, e := range []engine{engines[0], engines[1], engines[0]} {
		r := &runner{engine: e, args: seed, host: host{quantum: 50, keep: true}}
		got := r.module(t, rewritten, true)
		sameRun(t, want, got)
		switch {
		case i == 0:
			first = got
			checkUsed(t, want, counted, got)
		case !slices.Equal(first.used, got.used) || !slices.Equal(first.ticks, got.ticks):
			t.Errorf("%s: %d fuel in %d ticks, before %d in %d", e.name, got.used, len(got.ticks), first.used, len(first.ticks))
		}
	}
	return want, first
}

// checkUsed holds the fuel of each call against what the program counted.
func checkUsed(t *testing.T, want, counted, got run) {
	t.Helper()
	if fmt.Sprint(want.outcomes) != fmt.Sprint(counted.outcomes) {
		t.Fatalf("counting changes the program: %v, %v", want.outcomes, counted.outcomes)
	}
	for i, used := range got.used {
		// What callers are charged for, nobody is when the host calls.
		if weight := counted.counts[i]; used+meter.LongPath < weight {
			t.Errorf("call %d: %d fuel for a weight of %d", i, used, weight)
		}
	}
}

// TestEndless: programs that do not end by themselves are stopped, whatever
// they do, and never run ahead of what was charged.
func TestEndless(t *testing.T) {
	stopped := 0
	for seed := range uint64(programs) {
		module := mustRewrite(t, generate(seed, true, true))
		for i, e := range engines {
			if i > 0 && seed%8 > 0 {
				continue
			}
			r := &runner{engine: e, args: seed, host: host{quantum: 1_000, maxTicks: 1_000, depth: 1 << 20}}
			r.host.onTick = func(charged, counted int64) {
				if counted > charged+meter.LongPath {
					t.Errorf("seed %d: a weight of %d ran, charged are %d", seed, counted, charged)
				}
			}
			if got := r.module(t, module, true); got.stopped {
				stopped++
			}
		}
	}
	if stopped < programs/2 {
		t.Errorf("the programs say little: %d were stopped", stopped)
	}
}
