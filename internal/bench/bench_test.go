package bench_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/bench"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
)

func benchOptions(t *testing.T, n int) bench.Options {
	return bench.Options{Runtime: runtime.Options{CacheDir: filepath.Join(t.TempDir(), "cache"),
		Counter: byLength{}}, N: n}
}

// run opens the module in a file, and measures it.
func run(ctx context.Context, path string, o bench.Options) (*bench.Figures, error) {
	m, err := runtime.OpenFile(path, pluginyaml.Parse)
	if err != nil {
		return nil, err
	}
	return bench.Run(ctx, m, o)
}

type byLength struct{}

func (byLength) Text(s string) int            { return (len(s) + 3) / 4 }
func (c byLength) Message(m *abi.Message) int { return 4 + c.Text(m.Text()) }

// module writes a module made by hand.
func module(t *testing.T, wasm []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.wasm")
	if err := os.WriteFile(path, wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func measure(t *testing.T, path string, o bench.Options) *bench.Figures {
	t.Helper()
	r, err := run(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// work is a guest that goes round so many times and answers a fact.
func work(rounds int32) []byte {
	const answer = `{"retain":["done"]}`
	m := wasmtest.New()
	write := m.OutputWrite()
	m.Memory(1, -1, "memory")
	m.Data(64, []byte(answer))
	m.Hook("pre_compact", []wasmtest.Type{wasmtest.I32},
		wasmtest.Const32(rounds), wasmtest.Set(0),
		wasmtest.While(wasmtest.Get(0), wasmtest.Const32(1), wasmtest.Sub32, wasmtest.Set(0), wasmtest.Get(0)),
		wasmtest.Const32(64), wasmtest.Const32(int32(len(answer))), wasmtest.Call(write))
	return m.Bytes()
}

// TestBench: a reference plugin on the generated sessions: what is exact is
// the same in both runs, percentiles are in order, and cost grows with the
// session.
func TestBench(t *testing.T) {
	features.Proves(t, "N6")
	soak.Only(t, "measures a plugin twice")
	built, err := kit.Build(t.Context(), kit.Options{Dir: "../../plugins/keeper", Out: t.TempDir() + "/"})
	if err != nil {
		t.Fatal(err)
	}
	o := benchOptions(t, 3)
	var seen []string
	o.Progress = func(input string) { seen = append(seen, input) }
	first, second := measure(t, built.Path, o), measure(t, built.Path, o)
	if len(first.Inputs) != 3 || first.Plugin != "keeper" || first.Hook != abi.HookPreCompact || len(seen) != 6 {
		t.Fatalf("%+v, %v", first, seen)
	}
	for i, m := range first.Inputs {
		again := second.Inputs[i]
		if m.Fuel == 0 || m.Varies || m.Fuel != again.Fuel || m.PeakMemoryBytes != again.PeakMemoryBytes ||
			m.OutputBytes != again.OutputBytes || m.Digest != again.Digest {
			t.Errorf("%+v\n%+v", m, again)
		}
		for how, times := range map[string]bench.Times{"cold": m.Cold, "warm": m.Warm} {
			t.Run(m.Input+" "+how, func(t *testing.T) {
				if times.P50 <= 0 || times.P50 > times.P90 || times.P90 > times.P99 || times.P99 > times.Max {
					t.Errorf("%s: %+v", m.Input, times)
				}
			})
		}
		if i > 0 && (m.Fuel <= first.Inputs[i-1].Fuel || m.Bytes <= first.Inputs[i-1].Bytes) {
			t.Errorf("%s takes %d fuel, a smaller session %d", m.Input, m.Fuel, first.Inputs[i-1].Fuel)
		}
		if m.HostCalls[abi.OpTokensCount] != 1 || m.HostCallBytes == 0 {
			t.Errorf("%s: host calls %v", m.Input, m.HostCalls)
		}
	}
	c := bench.Compare(first, second)
	if over := c.Over(map[string]float64{"fuel": 1, "memory": 1, "output": 1, "warm": 1, "cold": 1}); len(over) > 0 ||
		len(c.Changes) != 15 {
		t.Errorf("the same module is worse than itself: %+v of %d", over, len(c.Changes))
	}
}

// TestBenchBaseline: what takes more fuel than a baseline allows is found,
// through a file; what was another input is not compared.
func TestBenchBaseline(t *testing.T) {
	features.Proves(t, "N6")
	o := benchOptions(t, 3)
	o.Inputs = []bench.Input{{Name: "small", Doc: []byte(`{}`)}, {Name: "other", Doc: []byte(`{"a":1}`)}}
	before := measure(t, module(t, work(1000)), o)
	doc, err := before.Encode()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bench.json")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := bench.ReadFigures(file)
	if err != nil {
		t.Fatal(err)
	}
	o.Inputs[1].Doc = []byte(`{"a":2}`)
	o.Inputs = append(o.Inputs, bench.Input{Name: "new", Doc: []byte(`null`)})
	for _, tc := range []struct {
		rounds int32
		over   bool
	}{{1000, false}, {1050, false}, {1200, true}, {500, false}} {
		t.Run(fmt.Sprintf("%d rounds", tc.rounds), func(t *testing.T) {
			now := measure(t, module(t, work(tc.rounds)), o)
			c := bench.Compare(kept, now)
			over := c.Over(map[string]float64{"fuel": 1.1})
			if (len(over) > 0) != tc.over {
				t.Errorf("%d rounds: %+v of %+v", tc.rounds, over, c.Changes)
			}
			if tc.over && (over[0].Measure != "fuel" || over[0].Input != "small" || over[0].Ratio < 1.15 ||
				over[0].Ratio > 1.2) {
				t.Errorf("%+v", over)
			}
			if slices.ContainsFunc(c.Changes, func(c bench.Change) bool { return c.Input != "small" }) ||
				!strings.Contains(strings.Join(c.Notes, "; "), "other: the input is another") ||
				!strings.Contains(strings.Join(c.Notes, "; "), "new: not in the baseline") {
				t.Errorf("compared %+v, notes %v", c.Changes, c.Notes)
			}
			if !slices.Equal(c.Missing, []string{"other"}) {
				t.Errorf("not measured again: %v", c.Missing)
			}
		})
	}
}

// TestBenchNoise: times differ where medians are further apart than the calls
// of one run, and where it was not the same work.
func TestBenchNoise(t *testing.T) {
	features.Proves(t, "N6")
	report := func(fuel int64, p50, spread float64) *bench.Figures {
		times := bench.Times{P50: p50, P90: p50, P99: p50, Max: p50, Spread: spread}
		return &bench.Figures{Hook: abi.HookPreCompact, Inputs: []bench.Measurement{{Input: "a", Fuel: fuel, Warm: times,
			Cold: times}}}
	}
	for _, tc := range []struct {
		before, now *bench.Figures
		noise, over bool
		why         string
	}{
		{report(1, 10, 1), report(2, 20, 1), false, true, "twice the time, calls close to each other"},
		{report(1, 10, 12), report(2, 20, 1), true, false, "calls of one run differ as much"},
		{report(1, 10, 0), report(2, 10.9, 0), true, false, "no machine is that exact"},
		{report(1, 10, 1), report(1, 20, 1), true, false, "the same work"},
		{report(0, 10, 1), report(0, 20, 1), false, true, "an engine that counts no fuel"},
		{report(2, 20, 1), report(1, 10, 1), false, false, "better"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			c := bench.Compare(tc.before, tc.now)
			i := slices.IndexFunc(c.Changes, func(c bench.Change) bool { return c.Measure == "warm" })
			if (c.Changes[i].Noise != "") != tc.noise || (len(c.Over(map[string]float64{"warm": 1.5})) > 0) != tc.over {
				t.Errorf("%s: %+v", tc.why, c.Changes[i])
			}
		})
	}
}

func TestBenchErrors(t *testing.T) {
	o := benchOptions(t, 1)
	if _, err := run(t.Context(), module(t, wasmtest.Trap("pre_compact")), o); abi.CodeOf(err) != abi.CodeTrap ||
		!strings.Contains(err.Error(), "messages: ") {
		t.Errorf("a call that fails: %v", err)
	}
	o.Hook = abi.HookTurnEnd
	if _, err := run(t.Context(), module(t, wasmtest.Nothing("pre_compact")), o); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("a hook it does not have: %v", err)
	}
	for _, doc := range []string{"{}", "no", `{"other":1}`} {
		t.Run(doc, func(t *testing.T) {
			if _, err := bench.ReadFigures(module(t, []byte(doc))); abi.CodeOf(err) != abi.CodeBadInput {
				t.Errorf("%v", err)
			}
		})
	}
}
