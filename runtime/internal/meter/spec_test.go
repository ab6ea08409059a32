package meter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// specDir is where the engine's module has the WebAssembly specification's
// tests, as wast2json writes them.
func specDir(tb testing.TB, version string) string {
	tb.Helper()
	out, err := exec.CommandContext(tb.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/tetratelabs/wazero").Output()
	if err != nil {
		tb.Fatal("go list: ", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest", version, "testdata")
}

// script is the commands of one file of the tests.
type script struct {
	Commands []command `json:"commands"`
}

type command struct {
	Type       string  `json:"type"`
	Line       int     `json:"line"`
	Name       string  `json:"name"`
	Filename   string  `json:"filename"`
	As         string  `json:"as"`
	ModuleType string  `json:"module_type"`
	Text       string  `json:"text"`
	Action     action  `json:"action"`
	Expected   []value `json:"expected"`
}

type action struct {
	Type   string  `json:"type"`
	Module string  `json:"module"`
	Field  string  `json:"field"`
	Args   []value `json:"args"`
}

type value struct {
	Type     string `json:"type"`
	LaneType string `json:"lane_type"`
	Value    any    `json:"value"`
}

// specCount is what ran.
type specCount struct {
	modules    int
	assertions int
	asWritten  int // assertions that a result or a trap was expected of, and was
	malformed  int // modules that must be refused, and are
}

// TestSpec runs the WebAssembly specification's tests on the original modules
// and on the rewritten ones, side by side: everything comes to the same. Of the
// files `make test` takes a sample.
func TestSpec(t *testing.T) {
	for _, c := range []struct {
		engine  engine
		version string
		quantum int32 // 1: every check calls the host
		least   specCount
	}{
		// The first version's tests run as the second version, in which a few of
		// them say something else.
		{engines[0], "v1", 0, specCount{950, 16_400, 16_290, 1_644}},
		{engines[0], "v2", 1, specCount{1_864, 48_429, 48_301, 2_860}},
		{engines[1], "v1", 1, specCount{950, 16_400, 16_290, 1_644}},
	} {
		t.Run(fmt.Sprintf("%s/%s/%d", c.engine.name, c.version, c.quantum), func(t *testing.T) {
			dir := specDir(t, c.version)
			files, err := filepath.Glob(filepath.Join(dir, "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			var n specCount
			some := soak.Sample(files, 8, len(files))
			for _, file := range some {
				h := &host{quantum: c.quantum, depth: 8 << 20}
				runScript(t, c.engine, h, file, &n)
			}
			if len(some) < len(files) {
				c.least = specCount{len(some), 100, n.assertions * 95 / 100, 0}
			}
			if n.modules < c.least.modules || n.assertions < c.least.assertions || n.asWritten < c.least.asWritten ||
				n.malformed < c.least.malformed {
				t.Errorf("ran %+v of %d files, expected at least %+v", n, len(some), c.least)
			}
		})
	}
}

// pair is two runtimes: one for modules as they are, one for rewritten ones.
type pair struct {
	t          *testing.T
	dir, label string
	count      *specCount
	host       *host
	runtimes   [2]wazero.Runtime
	named      map[string][2]api.Module
	last       [2]api.Module
}

func runScript(t *testing.T, e engine, h *host, file string, n *specCount) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s script
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	p := &pair{t: t, dir: filepath.Dir(file), count: n, host: h, named: make(map[string][2]api.Module)}
	for i := range p.runtimes {
		p.runtimes[i] = wazero.NewRuntimeWithConfig(t.Context(), e.config().WithCoreFeatures(api.CoreFeaturesV2))
		defer p.runtimes[i].Close(context.Background())
	}
	p.host.instantiate(t, p.runtimes[1])
	p.instantiate(filepath.Join(p.dir, "..", "..", "testdata", "spectest.wasm"), "spectest")
	for i := 0; i < len(s.Commands); i++ {
		c := &s.Commands[i]
		p.label = fmt.Sprintf("%s:%d %s", filepath.Base(file), c.Line, c.Type)
		as := ""
		if c.Type == "module" && i+1 < len(s.Commands) && s.Commands[i+1].Type == "register" {
			i++
			as = s.Commands[i].As
		}
		p.run(c, as)
	}
}

func (p *pair) run(c *command, as string) {
	switch c.Type {
	case "module":
		p.instantiate(filepath.Join(p.dir, c.Filename), as)
		if c.Name != "" {
			p.named[c.Name] = p.last
		}
	case "assert_return", "action", "assert_trap", "assert_exhaustion":
		p.act(c)
	case "assert_malformed", "assert_invalid":
		if c.ModuleType != "text" {
			p.refuse(filepath.Join(p.dir, c.Filename))
		}
	case "assert_unlinkable", "assert_uninstantiable":
		if c.ModuleType != "text" {
			p.count.assertions++
			p.instantiate(filepath.Join(p.dir, c.Filename), "")
		}
	default:
		p.t.Errorf("%s: a command that the test does not know", p.label)
	}
}

// instantiate makes the instances of a module. Either both work or none.
func (p *pair) instantiate(file, name string) {
	module, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	p.count.modules++
	rewritten, _, err := rewrite(module)
	if err != nil {
		p.t.Errorf("%s: %s: %v", p.label, filepath.Base(file), err)
		rewritten = module
	}
	before := p.last
	var errs [2]error
	for i, bytes := range [][]byte{module, rewritten} {
		var m api.Module
		m, errs[i] = p.runtimes[i].InstantiateWithConfig(p.t.Context(), bytes, wazero.NewModuleConfig().WithName(name))
		p.last[i] = m
	}
	switch {
	case (errs[0] == nil) != (errs[1] == nil):
		p.t.Errorf("%s: %s: as it is: %v; rewritten: %v", p.label, filepath.Base(file), errs[0], errs[1])
	case errs[0] != nil:
		p.last = before
		_, a, _ := strings.Cut(trapKind(errs[0]), "wasm error: ")
		_, b, _ := strings.Cut(trapKind(errs[1]), "wasm error: ")
		if a != b {
			p.t.Errorf("%s: %s: as it is: %v; rewritten: %v", p.label, filepath.Base(file), errs[0], errs[1])
		}
	}
}

// refuse: what the engine refuses does not become valid.
func (p *pair) refuse(file string) {
	module, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.runtimes[0].CompileModule(p.t.Context(), module); err == nil {
		return // the engine takes a few of them
	}
	p.count.malformed++
	rewritten, _, err := rewrite(module)
	if err != nil {
		return
	}
	if _, err := p.runtimes[1].CompileModule(p.t.Context(), rewritten); err == nil {
		p.t.Errorf("%s: %s: refused as it is, valid when rewritten", p.label, filepath.Base(file))
	}
}

func (p *pair) act(c *command) {
	on := p.last
	if c.Action.Module != "" {
		on = p.named[c.Action.Module]
	}
	if on[0] == nil || on[1] == nil {
		p.t.Errorf("%s: no instance", p.label)
		return
	}
	if c.Action.Type == "get" {
		p.count.assertions++
		if a, b := on[0].ExportedGlobal(c.Action.Field).Get(), on[1].ExportedGlobal(c.Action.Field).Get(); a != b {
			p.t.Errorf("%s: global %s: %#x as it is, %#x rewritten", p.label, c.Action.Field, a, b)
		}
		return
	}
	var args []uint64
	for _, a := range c.Action.Args {
		args = append(args, a.bits()...)
	}
	f := [2]api.Function{on[0].ExportedFunction(c.Action.Field), on[1].ExportedFunction(c.Action.Field)}
	p.host.start(on[1])
	original := call(p.t.Context(), f[0], args...)
	rewritten := call(p.t.Context(), f[1], args...)
	types := f[0].Definition().ResultTypes()
	if original.trap != rewritten.trap || !sameResults(types, original.results, rewritten.results) {
		p.t.Errorf("%s: %s: %v as it is, %v rewritten", p.label, c.Action.Field, original, rewritten)
	}
	p.count.assertions++
	if counts := on[1].ExportedGlobal(meter.Depth) != nil; counts && rewritten.trap == "" &&
		counter(on[1], meter.Depth) != p.host.depth {
		p.t.Errorf("%s: %s: a stack of %d is left, there were %d", p.label, c.Action.Field, counter(on[1], meter.Depth),
			p.host.depth)
	}
	if wantTrap := c.Type == "assert_trap" || c.Type == "assert_exhaustion"; wantTrap == (rewritten.trap != "") {
		p.count.asWritten++
	}
}

// sameResults compares bits. References to functions are addresses, of which
// only null is the same.
func sameResults(types []api.ValueType, a, b []uint64) bool {
	if len(types) == len(a) && len(a) == len(b) {
		for i, typ := range types {
			if typ == api.ValueType(wasm.FuncRefT) && (a[i] == 0) == (b[i] == 0) {
				b[i] = a[i]
			}
		}
	}
	return slices.Equal(a, b)
}

// bits are those of an argument.
func (v value) bits() []uint64 {
	if v.Type != "v128" {
		return []uint64{v.number(v.Value, v.Type)}
	}
	lanes := v.Value.([]any)
	width := 128 / len(lanes)
	var out [2]uint64
	for i, lane := range lanes {
		at := i * width
		out[at/64] |= v.number(lane, v.LaneType) & (1<<width - 1) << (at % 64)
	}
	return out[:]
}

func (v value) number(lane any, typ string) uint64 {
	text, _ := lane.(string)
	switch {
	case lane == nil || text == "null":
		return 0
	case strings.HasPrefix(text, "-"):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			panic(err)
		}
		if strings.HasSuffix(typ, "32") {
			return uint64(uint32(n))
		}
		return uint64(n)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	if typ == "externref" {
		n++ // 0 is null
	}
	return n
}
