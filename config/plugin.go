package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// Plugin is a plugin under a name. It takes part where an agent names it.
type Plugin struct {
	Name string
	// Path of the module; where it is relative, to the folder of the
	// configuration.
	Path string
	// Digest pins the module: "sha256:" and 64 hex digits. Empty: any.
	Digest string
	// Roles it may take here; nil are those of its manifest.
	Roles []abi.PluginRole
	// Grants are what it may do beside computing, http with the origins that it is
	// granted for. Empty: nothing.
	Grants map[abi.Capability][]string
	// Knobs are values for its knobs; whether it has them shows when it is
	// loaded.
	Knobs abi.Config
	// Limits of each call; zero fields are the defaults.
	Limits abi.Limits
	// Secrets are the names of environment variables, by the names its manifest
	// has for them.
	Secrets map[string]string
	// Adopt lets it go on with what another version has stored.
	Adopt bool
}

// may reports whether the configuration leaves the plugin a role.
func (p *Plugin) may(r abi.PluginRole) bool { return p.Roles == nil || slices.Contains(p.Roles, r) }

func newPluginBlock() *field {
	role := &field{kind: text, choices: []string{string(abi.RoleObserver), string(abi.RoleCompactor)}}
	return &field{name: "plugin", kind: block, fields: []*field{
		{name: "path", kind: text, required: true, need: "where its .wasm file lies", pattern: regexp.MustCompile(`^\S(.*\S)?$`), likeness: "give the path of a .wasm module", doc: "Module, as a path relative to this file.", example: "plugins/hindsight.wasm",
			set: to(func(p *Plugin) *string { return &p.Path })},
		{name: "digest", kind: text, pattern: regexp.MustCompile(`^sha256:[0-9a-f]{64}$`), likeness: "write sha256: and 64 hexadecimal digits, as kagewasm inspect shows them", doc: "Digest that the module has to have.", example: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			set: to(func(p *Plugin) *string { return &p.Digest })},
		{name: "roles", kind: list, elem: role, doc: "Roles it may take. Default those of its manifest.", example: "[observer, compactor]",
			set: to(func(p *Plugin) *[]abi.PluginRole { return &p.Roles })},
		newGrantBlock(),
		{name: "knobs", kind: table, keys: pluginNameRE, elem: &field{kind: free}, doc: "Values for its knobs.", example: "{depth: 3}",
			set: setKnobs},
		{name: "secrets", kind: table, keys: regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`), elem: &field{name: "secret", kind: text, check: checkKeyEnv}, doc: "Environment variables by the names of secrets that its manifest asks for.", example: "{api_key: HINDSIGHT_KEY}",
			set: to(func(p *Plugin) *map[string]string { return &p.Secrets })},
		newLimitBlock(),
		{name: "adopt", kind: boolean, def: false, doc: "Let it go on with what another version of it has stored.",
			set: to(func(p *Plugin) *bool { return &p.Adopt })},
	}}
}

func (p *Plugin) grant(c abi.Capability, origins []string) {
	if p.Grants == nil {
		p.Grants = make(map[abi.Capability][]string)
	}
	p.Grants[c] = origins
}

// newGrantBlock has a field for each capability.
func newGrantBlock() *field {
	docs := map[abi.Capability]string{
		abi.CapKV:                "Storage of its own.",
		abi.CapHTTP:              "Origins it may send requests to: HOST[:PORT] is https, http://HOST is http, localhost:PORT this machine.",
		abi.CapModel:             "Completions, at your cost.",
		abi.CapCompactionRequest: "Asking for a compaction.",
		abi.CapCompactionSummary: "An observer's summary, or its cancel.",
	}
	b := &field{name: "grants", kind: block, doc: "What it may do beside computing, as far as its manifest asks for it. Nothing is granted that does not stand here."}
	for _, c := range abi.Capabilities {
		f := &field{name: string(c), kind: boolean, def: false, doc: docs[c], example: "true", set: func(target any, n *node) {
			if n.value.(bool) {
				target.(*Plugin).grant(c, nil)
			}
		}}
		if c == abi.CapHTTP {
			f = &field{name: string(c), kind: list, elem: &field{kind: text, pattern: regexp.MustCompile(`^[^\s/@]+(://[^\s/@]+)?/?$`), likeness: "write an origin, such as api.example.com or http://localhost:8080"},
				def: []string{}, doc: docs[c], example: "[api.example.com]", set: func(target any, n *node) {
					var origins []string
					if assign(reflect.ValueOf(&origins).Elem(), n); len(origins) > 0 {
						target.(*Plugin).grant(c, origins)
					}
				}}
		}
		b.fields = append(b.fields, f)
	}
	return b
}

var limitDocs = map[string]string{
	"timeout_ms":      "Wall clock in milliseconds; 300000 where model is granted.",
	"memory_mb":       "Memory in MiB.",
	"output_bytes":    "Length of the answer.",
	"log_bytes":       "Length of all log lines.",
	"error_bytes":     "Length of an error text.",
	"host_calls":      "Calls of the host.",
	"host_call_bytes": "Length of all that these move.",
	"http_requests":   "HTTP requests, redirects included.",
	"http_bytes":      "Length of one body.",
	"model_calls":     "Completions.",
	"stack_bytes":     "Depth of calls, by the size of their frames.",
	"table_elements":  "Elements of all tables.",
	"module_bytes":    "Length of the module.",
}

// newLimitBlock has a field for each limit that a manifest knows.
func newLimitBlock() *field {
	b := &field{name: "limits", kind: block, doc: "Limits of one call. A manifest can only lower them."}
	set := func(target any, n *node) {
		// The names are the ABI's, and so is the knowledge where they go.
		_ = json.Unmarshal(fmt.Appendf(nil, "{%q:%d}", n.name, n.value), &target.(*Plugin).Limits)
	}
	for name, def := range abi.DefaultLimits().All() {
		b.fields = append(b.fields, &field{name: name, kind: integer, min: 1, max: math.MaxInt32, def: def, doc: limitDocs[name], set: set})
	}
	b.fields = append(b.fields, &field{name: "fuel", kind: integer, min: 1, max: 1 << 53, doc: "Instructions by weight, the same on every machine. Default none but the clock.", example: "5000000000", set: set})
	return b
}

func setKnobs(target any, n *node) {
	p := target.(*Plugin)
	p.Knobs = make(abi.Config, len(n.kids))
	for _, k := range n.kids {
		p.Knobs[k.name] = k.value.(json.RawMessage)
	}
}
