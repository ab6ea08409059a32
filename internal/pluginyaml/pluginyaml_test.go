package pluginyaml_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
)

const goodYAML = `# A plugin.
name: keeper
version: 1.0
abi: 1
role: [observer, compactor]
description: |
  Keeps what matters.
  And more.
hooks: [pre_compact, post_compact]
content: lazy
knobs:
  depth: {type: int_range, min: 1, max: 9, default: 3}
  style:
    type: enum
    values: [1, two, true]
    default: two
capabilities:
  kv:
    reason: to remember
limits:
  memory_mb: 32
hook_timeout_sec: 2.5
`

func TestParse(t *testing.T) {
	m, err := pluginyaml.Parse("plugin.yaml", []byte(goodYAML))
	if err != nil {
		t.Fatal(err)
	}
	want := &abi.Manifest{
		Name: "keeper", Version: "1.0", ABI: 1, Description: "Keeps what matters.\nAnd more.\n",
		Roles: []abi.PluginRole{abi.RoleObserver, abi.RoleCompactor}, Hooks: []abi.Hook{abi.HookPreCompact,
			abi.HookPostCompact},
		Content: abi.ContentLazy,
		Knobs: map[string]abi.Knob{
			"depth": {Type: abi.KnobIntRange, Min: 1, Max: 9, Default: json.RawMessage("3")},
			"style": {Type: abi.KnobEnum, Values: []string{"1", "two", "true"}, Default: json.RawMessage(`"two"`)},
		},
		Capabilities: map[abi.Capability]abi.Request{abi.CapKV: {Reason: "to remember"}},
		Limits:       abi.Limits{MemoryMB: 32, TimeoutMS: 2500},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tc := range []struct{ name, yaml, at, says string }{
		{"unknown field", "name: x\nabi: 1\nrolls: [observer]\n", "p.yaml:3:1", "rolls"},
		{"unknown field inside", "name: x\nabi: 1\nlimits:\n  memory_gb: 1\n", "p.yaml:4:3", "memory_gb"},
		{"unknown field of a knob", "name: x\nabi: 1\nknobs:\n  k: {type: text, lable: K}\n", "p.yaml:4:19", "lable"},
		{"duplicate", "name: x\nname: y\nabi: 1\n", "p.yaml:2:1", "name"},
		{"wrong type", "name: x\nabi: 1\nlimits:\n  memory_mb: lots\n", "p.yaml:4:14", "memory_mb"},
		{"wrong type at the top", "name: x\nabi: one\n", "p.yaml:2:6", "abi"},
		{"a number of a knob", "name: x\nabi: 1\nknobs:\n  k:\n    type: range\n    max: hundred\n", "p.yaml:6:10",
			"knobs.k.max"},
		{"a negative limit", "name: x\nabi: 1\nlimits: {fuel: 5, memory_mb: -1}\n", "p.yaml:3:19",
			"limits: memory_mb: -1 is negative"},
		{"syntax", "name: x\n\tabi: 1\n", "p.yaml:2:1", ""},
		{"invalid name", "abi: 1\nname: My Plugin\n", "p.yaml:2:1", "My Plugin"},
		{"a step of nothing", "name: x\nabi: 1\nknobs:\n  k: {type: range, max: 1, step: 0}\n", "p.yaml:4:28", "step"},
		{"a length of nothing", "name: x\nabi: 1\nknobs:\n  k: {type: text, max_length: 0}\n", "p.yaml:4:19", "max_length"},
		{"a negative length", "name: x\nabi: 1\nknobs:\n  k: {type: text, max_length: -1}\n", "p.yaml:4:3", "max_length"},
		{"a value twice", "name: x\nabi: 1\nknobs:\n  k: {type: enum, values: [a, a]}\n", "p.yaml:4:3", "twice"},
		{"half a whole number", "name: x\nabi: 1\nknobs:\n  k: {type: int_range, min: 0.5, max: 3}\n", "p.yaml:4:3",
			"whole number"},
		{"invalid knob", "name: x\nabi: 1\nknobs:\n  ok: {type: text}\n  k: {type: dial}\n", "p.yaml:5:3", "dial"},
		{"no reason", "name: x\nabi: 1\ncapabilities:\n  kv: {reason: ''}\n", "p.yaml:4:3", "reason"},
		{"invalid role", "name: x\nabi: 1\nrole: owner\n", "p.yaml:3:1", "owner"},
		{"alias", "name: &a x\nabi: 1\ndescription: *a\n", "p.yaml:1:7", "plain"},
		{"merge", "name: x\nabi: 1\n<<: {version: '1'}\n", "p.yaml:3:1", "key"},
		{"tag", "name: !!str x\nabi: 1\n", "p.yaml:1:7", "plain"},
		{"not a number", "name: x\nabi: .nan\n", "p.yaml:2:6", "plain"},
		{"two documents", "name: x\nabi: 1\n---\nname: y\nabi: 1\n", "p.yaml", "one document"},
		{"empty", "", "p.yaml", "one document"},
		{"a list", "- name\n", "p.yaml", ""},
		{"deep", "name: x\nabi: 1\ndescription: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "p.yaml:3:",
			"nested"},
		{"long", "#" + strings.Repeat("x", 300<<10), "p.yaml", "allowed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := pluginyaml.Parse("p.yaml", []byte(tc.yaml))
			if m != nil {
				t.Errorf("accepted: %+v", m)
			}
			e := abi.AsError(err)
			if abi.CodeOf(err) != abi.CodeBadInput || !strings.HasPrefix(e.Message, tc.at) || !strings.Contains(e.Message,
				tc.says) {
				t.Errorf("%q is not at %s or does not say %q", e.Message, tc.at, tc.says)
			}
		})
	}
}

// TestLimitsThatNoHostKeepsTo: a limit out of its range is told to the author with field, value
// and range, and has no effect in silence nowhere.
func TestLimitsThatNoHostKeepsTo(t *testing.T) {
	for _, tc := range []struct{ name, yaml, says string }{
		{"within", "limits: {memory_mb: 64, timeout_ms: 10000, fuel: 1}", ""},
		{"more memory than hosts give", "limits: {memory_mb: 65}", ":4:21: limits: memory_mb: 65 is not from 1 to 64"},
		{"none at all", "limits: {host_calls: 0}", ":4:22: limits: host_calls: 0 is not from 1 to 10000"},
		{"no fuel", "limits: {fuel: 0}", ":4:16: limits: fuel: 0 is not from 1"},
		{"more time than an observer has", "limits: {timeout_ms: 10001}", "timeout_ms: 10001 is not from 1 to 10000"},
		{"as much as a compactor has", "roles: [compactor]\nlimits: {timeout_ms: 300000}", ""},
		{"more than that", "roles: [compactor]\nlimits: {timeout_ms: 300001}", "300001 is not from 1 to 300000"},
		{"as much as a model takes", "capabilities: {model: {reason: x}}\nlimits: {timeout_ms: 300000}", ""},
		{"in the words of others", "hook_timeout_sec: 30", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plugin.yaml")
			if err := os.WriteFile(path, []byte("name: x\nversion: 1\nabi: 1\n"+tc.yaml+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := pluginyaml.Read(path)
			if (err == nil) != (tc.says == "") || (m == nil) != (err != nil) {
				t.Fatalf("%+v, %v", m, err)
			}
			if err != nil && (abi.CodeOf(err) != abi.CodeBadInput || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("%v, want %q", err, tc.says)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(goodYAML))
	f.Add([]byte("name: &a x\nabi: *a\n"))
	f.Add([]byte("{name: x, abi: 1, knobs: {k: {type: text, default: [1, {a: ~}]}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := pluginyaml.Parse("p.yaml", data)
		if (m == nil) == (err == nil) {
			t.Fatalf("%v and %v", m, err)
		}
		if err != nil && abi.CodeOf(err) != abi.CodeBadInput {
			t.Fatal(err)
		}
		if m != nil && m.Validate() != nil {
			t.Fatal(m.Validate())
		}
	})
}
