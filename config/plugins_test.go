package config_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestOneCompactor: at most one compactor an agent, seen when the
// configuration loads, through inheritance too.
func TestOneCompactor(t *testing.T) {
	features.Proves(t, "K6")
	const plugins = "plugins: {a: {path: a, roles: [observer, compactor]}, b: {path: b, roles: [observer, compactor]}, " +
		"o: {path: o, roles: [observer]}, c: {path: c, roles: [compactor]}, any: {path: any}}\n"
	for _, c := range []struct {
		why, yaml    string
		line, column int // 0 where all is well
		says         string
	}{
		{"one, which observes too", "compaction: {compactor: a, observers: [o, a]}", 0, 0, ""},
		{"roles are the manifest's to say", "compaction: {compactor: a, observers: [any]}", 0, 0, ""},
		{"a list", "compaction: {compactor: [a, b]}", 2, 25, "at most one compactor"},
		{"another among the observers", "compaction: {compactor: a, observers: [o, b]}", 2, 43,
			"two compactors, a (line 2) and b"},
		{"two among the observers", "compaction: {observers: [a, b]}", 2, 29, "two compactors"},
		{"one inherited, one here", "compaction: {compactor: a}\nagents:\n  x: {compaction: {observers: [b]}}", 4, 32,
			"two compactors, a (line 2) and b"},
		{"from two levels up", "agents:\n  x:\n    compaction: {observers: [b]}\n" +
			"    subagents: {y: {subagents: {z: {compaction: {compactor: a}}}}}", 4, 30,
			"two compactors, a (line 5 of agent x/y/z) and b"},
		{"another in its place", "compaction: {compactor: a}\nagents: {x: {compaction: {compactor: b}}}", 0, 0, ""},
		{"no such plugin", "compaction: {compactor: aa}", 2, 25, `no plugin "aa": did you mean "a"?`},
		{"no such observer", "compaction: {observers: [o, q9qqqq]}", 2, 29, "no plugin"},
		{"an observer cannot compact", "compaction: {compactor: o}", 2, 25, "no compactor here"},
		{"a compactor cannot observe", "compaction: {observers: [c]}", 2, 26, "no observer here"},
		{"twice", "compaction: {observers: [o, o]}", 2, 29, "named twice"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if c.line == 0 {
				load(t, plugins+c.yaml)
				return
			}
			wantProblem(t, problems(t, plugins+c.yaml), c.line, c.column, c.says)
		})
	}
	a := load(t, plugins+"compaction: {compactor: a, observers: [o, a]}").Agent("")
	if got := a.Plugins(); !reflect.DeepEqual(got, []string{"a", "o"}) {
		t.Errorf("plugins %q", got)
	}
}

func TestPlugins(t *testing.T) {
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	c := load(t, `
plugins:
  bare: {path: /opt/bare.wasm}
  full:
    path: plugins/../full.wasm
    digest: `+digest+`
    roles: [observer]
    grants: {kv: true, model: false, http: [api.example.com, "http://localhost:8080"], compaction.summary: true}
    knobs: {depth: 3, style: "two", list: [1, {a: true}]}
    secrets: {key: HINDSIGHT_KEY}
    limits: {memory_mb: 32, fuel: 5000000000}
    adopt: true
`)
	want := map[string]config.Plugin{
		"bare": {Name: "bare", Path: "/opt/bare.wasm"},
		"full": {
			Name: "full", Path: filepath.Join(filepath.Dir(c.File), "full.wasm"), Digest: digest,
			Roles: []abi.PluginRole{abi.RoleObserver},
			Grants: map[abi.Capability][]string{
				abi.CapKV: nil, abi.CapHTTP: {"api.example.com", "http://localhost:8080"}, abi.CapCompactionSummary: nil,
			},
			Knobs:   abi.Config{"depth": []byte("3"), "style": []byte(`"two"`), "list": []byte(`[1,{"a":true}]`)},
			Secrets: map[string]string{"key": "HINDSIGHT_KEY"}, Limits: abi.Limits{MemoryMB: 32, Fuel: 5_000_000_000},
			Adopt: true,
		},
	}
	if !reflect.DeepEqual(c.Plugins, want) {
		t.Errorf("got  %+v\nwant %+v", c.Plugins, want)
	}
}
