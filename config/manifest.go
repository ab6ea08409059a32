package config

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// CheckManifests checks what is said of plugins against their manifests, which stand
// in the modules: roles, of which one agent may have one compactor, and the names and
// values of knobs. A knob of type model_alias names one of Models, its default too.
// manifest returns that of a plugin, nil where it cannot be read, which loading it will
// tell.
//
// It runs no plugin. The errors are those of [Load]. What [Config.With] puts on top is
// held to the manifests from then on.
func (c *Config) CheckManifests(manifest func(Plugin) *abi.Manifest) error {
	met := *c
	met.Plugins = maps.Clone(c.Plugins)
	b := &builder{reader: &reader{source: c.source}, config: &met}
	for _, n := range c.root.kid("plugins").all() {
		p := c.Plugins[n.name]
		m := manifest(p)
		if m == nil {
			continue
		}
		roles := slices.DeleteFunc(slices.Clone(m.Roles), func(r abi.PluginRole) bool { return !p.may(r) })
		if len(roles) == 0 && len(m.Roles) > 0 {
			b.fail(n.kid("roles").at, "plugin %s has none of these roles: its manifest says %v", n.name, m.Roles)
			continue
		}
		if p.Roles = roles; roles != nil {
			met.Plugins[n.name] = p
		}
		for _, knob := range n.kid("knobs").all() {
			b.checkKnob(m, knob, p.Knobs[knob.name])
		}
		b.checkDefaults(m, n, p.Knobs)
	}
	for _, path := range c.Agents() {
		b.checkPlugins(c.agents[path])
	}
	c.met = met.Plugins
	return b.problems.asError()
}

// checkKnob: the plugin has the knob, and the value is one of it.
func (b *builder) checkKnob(m *abi.Manifest, n *node, value []byte) {
	knob, ok := m.Knobs[n.name]
	if !ok {
		b.fail(n.pos, "plugin %s has no knob %q%s", m.Name, n.name, suggest(n.name, slices.Collect(maps.Keys(m.Knobs))))
		return
	}
	err := knob.Check(value)
	if err == nil && knob.Type == abi.KnobModelAlias {
		err = b.config.KnowsModel(value)
	}
	if err != nil {
		b.fail(n.at, "knob %s of plugin %s: %v", n.name, m.Name, err)
	}
}

// checkDefaults: where the configuration does not set a knob that names a model, its default in
// the manifest is one of Models.
func (b *builder) checkDefaults(m *abi.Manifest, n *node, set abi.Config) {
	for name, err := range b.config.UnknownDefaults(m, set) {
		b.fail(n.pos, "knob %s of plugin %s, by its manifest's default: %v; set it under knobs", name, m.Name, err)
	}
}

// UnknownDefaults yields the knobs of a plugin, by name, that nobody has set and whose default in the
// manifest is no alias of Models, with what is wrong.
func (c *Config) UnknownDefaults(m *abi.Manifest, set abi.Config) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(m.Knobs)) {
			knob := m.Knobs[name]
			if _, ok := set[name]; ok || knob.Type != abi.KnobModelAlias || knob.Default == nil {
				continue
			}
			if err := c.KnowsModel(knob.Default); err != nil && !yield(name, err) {
				return
			}
		}
	}
}

// KnowsModel returns an error where the value of a knob of type model_alias is no alias of Models. An
// empty text names none.
func (c *Config) KnowsModel(value []byte) error {
	alias := strings.Trim(string(value), `"`)
	if _, ok := c.Models[alias]; ok || alias == "" {
		return nil
	}
	if len(c.Models) == 0 {
		return fmt.Errorf("no model has the alias %q: there are none under models", alias)
	}
	return fmt.Errorf("no model has the alias %q: there are %s", alias,
		strings.Join(slices.Sorted(maps.Keys(c.Models)), ", "))
}
