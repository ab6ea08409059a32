package abi_test

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// fullManifest is a manifest with everything in it.
const fullManifest = `{
  "name": "memory", "version": "1.2.0", "abi": 1, "description": "Remembers.",
  "roles": ["observer", "compactor"], "hooks": ["pre_compact", "post_compact"], "content": "lazy",
  "knobs": {"depth": {"type": "int_range", "label": "Depth", "min": 1, "max": 9, "step": 1, "default": 3},
            "prompt": {"type": "multiline", "max_length": 100}},
  "capabilities": {"kv": {"reason": "remembers"}, "http": {"reason": "asks the server", "hosts": ["memory.example:8443"]}},
  "secrets": ["MEMORY_TOKEN"], "limits": {"timeout_ms": 5000, "memory_mb": 32, "fuel": 1000000}
}`

func TestManifestReads(t *testing.T) {
	var m abi.Manifest
	if err := json.Unmarshal([]byte(fullManifest), &m); err != nil {
		t.Fatal(err)
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	want := abi.Manifest{
		Name: "memory", Version: "1.2.0", ABI: 1, Description: "Remembers.",
		Roles:   []abi.PluginRole{abi.RoleObserver, abi.RoleCompactor},
		Hooks:   []abi.Hook{abi.HookPreCompact, abi.HookPostCompact},
		Content: abi.ContentLazy,
		Knobs: map[string]abi.Knob{
			"depth":  {Type: abi.KnobIntRange, Label: "Depth", Min: 1, Max: 9, Step: 1, Default: json.RawMessage("3")},
			"prompt": {Type: abi.KnobMultiline, MaxLength: 100},
		},
		Capabilities: map[abi.Capability]abi.Request{
			abi.CapKV: {Reason: "remembers"}, abi.CapHTTP: {Reason: "asks the server", Hosts: []string{"memory.example:8443"}},
		},
		Secrets: []string{"MEMORY_TOKEN"}, Limits: abi.Limits{TimeoutMS: 5000, MemoryMB: 32, Fuel: 1_000_000},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("read %+v", m)
	}
	doc, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back abi.Manifest
	if err := json.Unmarshal(doc, &back); err != nil || !reflect.DeepEqual(back, m) {
		t.Errorf("written and read again (%v): %+v", err, back)
	}
}

func TestManifestInTheWild(t *testing.T) {
	features.Proves(t, "K6")
	observer, compactor := abi.RoleObserver, abi.RoleCompactor
	for name, c := range map[string]struct {
		doc     string
		roles   []abi.PluginRole
		timeout int
	}{
		"nothing":            {`{}`, nil, 0},
		"role":               {`{"role":"compactor"}`, []abi.PluginRole{compactor}, 0},
		"role as a list":     {`{"role":["observer","compactor"]}`, []abi.PluginRole{observer, compactor}, 0},
		"roles":              {`{"roles":["compactor"]}`, []abi.PluginRole{compactor}, 0},
		"roles as a text":    {`{"roles":"compactor"}`, []abi.PluginRole{compactor}, 0},
		"both":               {`{"role":"observer","roles":["compactor"]}`, []abi.PluginRole{observer, compactor}, 0},
		"null":               {`{"role":null,"roles":null}`, nil, 0},
		"hook_timeout_sec":   {`{"hook_timeout_sec":2.5}`, nil, 2500},
		"a tiny timeout":     {`{"hook_timeout_sec":0.0001}`, nil, 1},
		"limits win over it": {`{"hook_timeout_sec":2,"limits":{"timeout_ms":5}}`, nil, 5},
	} {
		t.Run(name, func(t *testing.T) {
			m := abi.Manifest{Roles: []abi.PluginRole{"stale"}, Limits: abi.Limits{TimeoutMS: 9}}
			if err := json.Unmarshal([]byte(c.doc), &m); err != nil {
				t.Errorf("%v", err)
				return
			}
			if !slices.Equal(m.Roles, c.roles) || m.Limits.TimeoutMS != c.timeout {
				t.Errorf("roles %v, timeout %d", m.Roles, m.Limits.TimeoutMS)
			}
			if wantObserver := len(c.roles) == 0 || slices.Contains(c.roles, observer); m.Has(observer) != wantObserver {
				t.Errorf("an observer %v", !wantObserver)
			}
			if m.Has(compactor) != slices.Contains(c.roles, compactor) {
				t.Errorf("a compactor %v", m.Has(compactor))
			}
		})
	}
}

func TestManifestRefuses(t *testing.T) {
	for doc, why := range map[string]string{
		`{"nam":"x"}`: "an unknown field",
		`{"knobs":{"a":{"type":"text","size":1}}}`:            "an unknown field of a knob",
		`{"limits":{"cpu":1}}`:                                "an unknown limit",
		`{"capabilities":{"kv":{"reason":"r","scope":1}}}`:    "an unknown field of a request",
		`{"name":"x","name":"y"}`:                             "a field twice",
		`{"name":"x","Name":"y"}`:                             "a field twice, in another case",
		`{"Name":"x"}`:                                        "a field in another case",
		`{"HOOK_TIMEOUT_SEC":1}`:                              "an accepted alias in another case",
		`{"capabilities":{"\u212Av":{"reason":"r"},"kv":{}}}`: "a Kelvin sign for a k",
		`{"role":5}`:                                          "a role that is a number",
		`{"roles":[5]}`:                                       "roles that are numbers",
		`{"hook_timeout_sec":-1}`:                             "a negative time",
		`{"hook_timeout_sec":1e300}`:                          "a time beyond all",
		`{"hook_timeout_sec":"2"}`:                            "a time that is a text",
		`{"abi":"1"}`:                                         "a version that is a text",
		`[]`:                                                  "no object",
	} {
		t.Run(doc, func(t *testing.T) {
			var m abi.Manifest
			if err := json.Unmarshal([]byte(doc), &m); err == nil {
				t.Errorf("accepted: %s: %s", why, doc)
			}
		})
	}
}

func TestManifestValidate(t *testing.T) {
	valid := func() abi.Manifest { return abi.Manifest{Name: "x", Version: "1", ABI: abi.Version} }
	for name, c := range map[string]struct {
		change func(*abi.Manifest)
		says   string // what the author has to see; "" where it is valid
	}{
		"minimal":            {func(m *abi.Manifest) {}, ""},
		"no name":            {func(m *abi.Manifest) { m.Name = "" }, `name ""`},
		"an upper-case name": {func(m *abi.Manifest) { m.Name = "Memory" }, `name "Memory"`},
		"a path as a name":   {func(m *abi.Manifest) { m.Name = "../x" }, `name "../x"`},
		"a name of 64":       {func(m *abi.Manifest) { m.Name = strings.Repeat("a", 64) }, ""},
		"a name of 65":       {func(m *abi.Manifest) { m.Name = strings.Repeat("a", 65) }, "at most 64"},
		"a name and a line":  {func(m *abi.Manifest) { m.Name = "x\n" }, `name "x\n"`},
		"another abi":        {func(m *abi.Manifest) { m.ABI = 2 }, "abi 2"},
		"no abi":             {func(m *abi.Manifest) { m.ABI = 0 }, "abi is missing: write abi: 1"},
		"a content mode":     {func(m *abi.Manifest) { m.Content = "half" }, `content "half"`},
		"full content":       {func(m *abi.Manifest) { m.Content = abi.ContentFull }, ""},
		"an unknown role":    {func(m *abi.Manifest) { m.Roles = []abi.PluginRole{"admin"} }, `role "admin"`},
		"an unknown hook":    {func(m *abi.Manifest) { m.Hooks = []abi.Hook{"on_start"} }, `hook "on_start"`},
		"a compactor without its hook": {func(m *abi.Manifest) {
			m.Roles, m.Hooks = []abi.PluginRole{abi.RoleCompactor}, []abi.Hook{abi.HookTurnEnd}
		}, "without the hook pre_compact"},
		"a compactor of the hooks it exports": {func(m *abi.Manifest) { m.Roles = []abi.PluginRole{abi.RoleCompactor} }, ""},
		"a knob's name": {func(m *abi.Manifest) {
			m.Knobs = map[string]abi.Knob{"A": {Type: abi.KnobText}}
		}, `knob "A"`},
		"a knob": {func(m *abi.Manifest) {
			m.Knobs = map[string]abi.Knob{"a": {Type: "x"}}
		}, "knob a: type"},
		"an unknown capability": {func(m *abi.Manifest) {
			m.Capabilities = map[abi.Capability]abi.Request{"files": {Reason: "r"}}
		}, `capability "files"`},
		"a capability without a reason": {func(m *abi.Manifest) {
			m.Capabilities = map[abi.Capability]abi.Request{abi.CapKV: {Reason: " "}}
		}, "capability kv: say why"},
		"http to nowhere": {func(m *abi.Manifest) {
			m.Capabilities = map[abi.Capability]abi.Request{abi.CapHTTP: {Reason: "r"}}
		}, "name the hosts"},
		"a negative limit": {func(m *abi.Manifest) { m.Limits.HostCalls = -1 }, "host_calls: -1 is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			m := valid()
			c.change(&m)
			err := m.Validate()
			if c.says == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			if !errors.Is(err, &abi.Error{Code: abi.CodeBadInput}) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want it to say %q", err, c.says)
			}
		})
	}
}

// TestManifestValidateSaysTheSame: of several faults the same one is named
// each time, whatever the order of a map.
func TestManifestValidateSaysTheSame(t *testing.T) {
	m := abi.Manifest{Name: "x", ABI: abi.Version, Knobs: map[string]abi.Knob{"a": {}, "b": {}, "c": {}, "d": {}}}
	want := m.Validate().Error()
	for range 20 {
		if got := m.Validate().Error(); got != want {
			t.Fatalf("%q, before %q", got, want)
		}
	}
}

func TestManifestConfigure(t *testing.T) {
	features.Proves(t, "K27")
	m := abi.Manifest{Name: "x", ABI: abi.Version, Knobs: map[string]abi.Knob{
		"depth": {Type: abi.KnobIntRange, Min: 1, Max: 9, Default: json.RawMessage("3")},
		"alias": {Type: abi.KnobModelAlias},
	}}
	for name, c := range map[string]struct {
		values, want abi.Config // want nil is an error
	}{
		"defaults": {nil, abi.Config{"depth": json.RawMessage("3")}},
		"given": {abi.Config{"depth": json.RawMessage("5"), "alias": json.RawMessage(`"fast"`)},
			abi.Config{"depth": json.RawMessage("5"), "alias": json.RawMessage(`"fast"`)}},
		"out of range":     {abi.Config{"depth": json.RawMessage("50")}, nil},
		"null":             {abi.Config{"depth": json.RawMessage("null")}, nil},
		"no such knob":     {abi.Config{"height": json.RawMessage("5")}, nil},
		"another spelling": {abi.Config{"Depth": json.RawMessage("5")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := m.Configure(c.values)
			if c.want == nil {
				if got != nil || abi.CodeOf(err) != abi.CodeUsage {
					t.Errorf("%v, %v", got, err)
				}
				return
			}
			if err != nil || !maps.EqualFunc(got, c.want, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	if _, err := (&abi.Manifest{}).Configure(abi.Config{"a": nil}); err == nil ||
		!strings.Contains(err.Error(), "it has none") {
		t.Errorf("a plugin without knobs: %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	for _, doc := range []string{fullManifest, `{}`, `{"role":"observer"}`, `{"Name":1}`, `{"hook_timeout_sec":1e9}`,
		`null`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var m abi.Manifest
		if json.Unmarshal(doc, &m) != nil || m.Validate() != nil {
			return
		}
		out, err := json.Marshal(m)
		if err != nil {
			t.Fatalf("a valid manifest cannot be written: %v", err)
		}
		var back abi.Manifest
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("what is written is refused: %v: %s", err, out)
		}
		if err := back.Validate(); err != nil {
			t.Fatalf("what is written is not valid: %v: %s", err, out)
		}
		if _, err := m.Configure(nil); err != nil {
			t.Fatalf("a valid manifest has no configuration: %v", err)
		}
	})
}
