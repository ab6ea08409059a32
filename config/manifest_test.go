package config_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
)

// manifests are those of the modules that tests name.
var manifests = map[string]*abi.Manifest{
	"observes.wasm": {Name: "observes", Roles: []abi.PluginRole{abi.RoleObserver}},
	"compacts.wasm": {Name: "compacts", Roles: []abi.PluginRole{abi.RoleCompactor}},
	"asks.wasm": {Name: "asks", Roles: []abi.PluginRole{abi.RoleObserver}, Knobs: map[string]abi.Knob{
		"model": {Type: abi.KnobModelAlias, Default: []byte(`"cheap"`)}, "other": {Type: abi.KnobModelAlias,
			Default: []byte(`""`)},
	}},
	"both.wasm": {Name: "both", Roles: []abi.PluginRole{abi.RoleObserver, abi.RoleCompactor}, Knobs: map[string]abi.Knob{
		"model": {Type: abi.KnobModelAlias}, "depth": {Type: abi.KnobIntRange, Max: 3},
	}},
}

func checkManifests(c *config.Config) error {
	return c.CheckManifests(func(p config.Plugin) *abi.Manifest { return manifests[filepath.Base(p.Path)] })
}

// TestManifestsOfPlugins: what a manifest does not allow is refused when the
// configuration loads, with line and column: a second compactor for an agent, a role
// that the plugin does not have, a knob or a value that is none of its, an alias that
// is no model's.
func TestManifestsOfPlugins(t *testing.T) {
	features.Proves(t, "K6")
	features.Proves(t, "K27")
	const plugins = "models: {fast: {provider: openai, model: m}, slow: {provider: openai, model: n}}\n" +
		"plugins:\n  o: {path: observes.wasm}\n  c: {path: compacts.wasm}\n  b: {path: both.wasm}\n" +
		"  n: {path: both.wasm, roles: [observer]}\n  gone: {path: gone.wasm}\n"
	for _, tc := range []struct {
		why, yaml    string
		line, column int // 0 where all is well
		says         string
	}{
		{"a compactor and observers", "compaction: {compactor: b, observers: [o, b, n]}", 0, 0, ""},
		{"a module that is not there", "compaction: {compactor: gone}", 0, 0, ""},
		{"two by their manifests", "compaction: {compactor: c, observers: [o, b]}", 8, 43,
			"two compactors, c (line 8) and b"},
		{"an observer that is to compact", "compaction: {compactor: o}", 8, 25, "o is no compactor"},
		{"a compactor that is to observe", "compaction: {observers: [c]}", 8, 26, "c is no observer"},
		{"one inherited, one here", "compaction: {compactor: c}\nagents: {x: {compaction: {observers: [b]}}}", 9, 39,
			"two compactors"},
		{"a role the module has not", "  r: {path: observes.wasm, roles: [compactor]}", 8, 35, "has none of these roles"},
		{"an alias there is", "  k: {path: both.wasm, knobs: {model: slow}}", 0, 0, ""},
		{"an alias there is not", "  k: {path: both.wasm, knobs: {model: nosuchalias}}", 8, 39,
			`no model has the alias "nosuchalias": there are fast, slow`},
		{"an alias there is not, by default", "  k: {path: asks.wasm}", 8, 3,
			`by its manifest's default: no model has the alias "cheap": there are fast, slow`},
		{"another one in its place", "  k: {path: asks.wasm, knobs: {model: slow}}", 0, 0, ""},
		{"none in its place", "  k: {path: asks.wasm, knobs: {model: ''}}", 0, 0, ""},
		{"a value out of range", "  k: {path: both.wasm, knobs: {depth: 7}}", 8, 39, "7 is not from 0 to 3"},
		{"a knob it has not", "  k: {path: both.wasm, knobs: {dpeth: 1}}", 8, 32, `no knob "dpeth": did you mean "depth"?`},
	} {
		t.Run(tc.why, func(t *testing.T) {
			err := checkManifests(load(t, plugins+tc.yaml))
			if tc.line == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantProblem(t, config.ProblemsOf(err), tc.line, tc.column, tc.says)
		})
	}
}

// TestSettingsOnTopAreHeldToManifests: what is set for one time is refused as the same
// words in the file are, and before anything begins.
func TestSettingsOnTopAreHeldToManifests(t *testing.T) {
	features.Proves(t, "K6")
	c := load(t, "plugins: {o: {path: observes.wasm}, c: {path: compacts.wasm}, b: {path: both.wasm}}\n"+
		"compaction: {compactor: c}\n")
	if err := checkManifests(c); err != nil {
		t.Fatal(err)
	}
	for set, says := range map[string]string{
		"compaction.compactor=o":     "o is no compactor",
		"compaction.observers=[b]":   "two compactors",
		"compaction.observers=[c]":   "c is no observer",
		"compaction.observers=[o]":   "",
		"compaction.compactor=b":     "",
		"compaction.compactor=\"\"":  "",
		"compaction.compactor=other": `no plugin "other"`,
	} {
		t.Run(set, func(t *testing.T) {
			_, err := c.With("", set)
			if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
				t.Errorf("%v, want %q", err, says)
			}
		})
	}
	_, err := c.With("", "compaction.compactor=c", "compaction.observers=[b]")
	if err == nil || !strings.Contains(err.Error(), "two compactors, c (set on top of the file) and b") {
		t.Errorf("both on top: %v", err)
	}
}

// TestNoModelsAtAll: an alias where nothing is under models is refused as well.
func TestNoModelsAtAll(t *testing.T) {
	err := checkManifests(load(t, "plugins: {b: {path: both.wasm, knobs: {model: fast}}}\n"))
	var e *abi.Error
	if !errors.As(err, &e) || e.Code != abi.CodeBadInput || !strings.Contains(e.Message, "there are none under models") {
		t.Errorf("%v", err)
	}
}
