package config

import (
	"encoding/json"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
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
	// Adopt gives the module what other modules of its name have stored (--adopt).
	Adopt bool
}

// may reports whether the configuration leaves the plugin a role.
func (p *Plugin) may(r abi.PluginRole) bool { return p.Roles == nil || slices.Contains(p.Roles, r) }

// targets are where what is said of a plugin goes.
func (p *Plugin) targets() targets {
	return targets{
		"path": &p.Path, "digest": &p.Digest, "roles": &p.Roles, "knobs": &p.Knobs, "secrets": &p.Secrets, "adopt": &p.Adopt,
		"grants": p.grant,
		// The names are the ABI's, and so is the knowledge where they go.
		"limits": func(n *node) {
			b, _ := json.Marshal(n.plain())
			_ = json.Unmarshal(b, &p.Limits)
		},
	}
}

// grant takes what is granted: true, or origins where there are any.
func (p *Plugin) grant(n *node) {
	p.Grants = make(map[abi.Capability][]string)
	for _, k := range n.kids {
		if !k.null && k.value != false && (k.field.Kind == boolean || len(k.kids) > 0) {
			p.Grants[abi.Capability(k.name)] = lists.Map(k.kids, func(item *node) string { return item.value.(string) })
		}
	}
}
