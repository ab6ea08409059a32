package main

import (
	"context"
	"errors"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
)

// change goes by another configuration, or by other values of knobs and settings. Where the plugins of an agent that is
// in use cannot be loaded with it, it changes nothing, as sessions go on with what they have.
func (h *serveHost) change(c *config.Config) {
	h.seen = c
	next := newGeneration(c)
	for key := range h.now.agents {
		if next.loaders[key.path] != nil {
			continue
		}
		lacks := h.now.loaders[key.path] != nil && len(h.now.loaders[key.path].missing) > 0
		a, err := h.agent(context.Background(), next, key.path, key.model, lacks)
		if err != nil {
			h.log.Warn("the configuration, a plugin or a knob has changed and cannot be used: what was made before holds until "+
				"the next change", "agent", key.path, "error", err)
			next.close(context.Background())
			return
		}
		next.agents[key] = a
	}
	h.replace(next)
}

// unloaded stands for a plugin of a running server that cannot be loaded: that is a failure in each compaction, and
// stalls none.
type unloaded struct {
	manifest *abi.Manifest
	err      *abi.Error
}

// standIn stands for the plugin of a name. Its own manifest is not known.
func standIn(conf configured, name string, err error) *unloaded {
	role := abi.RoleObserver
	if conf.agent != nil && conf.agent.Compactor == name {
		role = abi.RoleCompactor
	}
	e := abi.AsError(errors.Unwrap(err))
	return &unloaded{&abi.Manifest{Name: name, Roles: []abi.PluginRole{role}},
		&abi.Error{Code: abi.CodeOf(err), Op: "load", Plugin: name, Message: "the plugin cannot be loaded: " + e.Message,
			Hint: "repair it, and touch the configuration or start the server anew", Err: err}}
}

// Manifest implements hooks.Plugin.
func (u *unloaded) Manifest() *abi.Manifest { return u.manifest }

// Hooks implements hooks.Plugin.
func (u *unloaded) Hooks() []abi.Hook { return []abi.Hook{abi.HookPreCompact} }

// Digest implements hooks.Plugin.
func (u *unloaded) Digest() string { return "" }

// Granted implements hooks.Plugin.
func (u *unloaded) Granted(abi.Capability) bool { return false }

// Call implements hooks.Plugin.
func (u *unloaded) Call(context.Context, *abi.Input) (*abi.Output, abi.CallStats, error) {
	return nil, abi.CallStats{}, u.err
}

// begin logs the plugins that are no modules when a server starts.
func (h *serveHost) begin(c *config.Config) {
	files := slices.Clone(h.flags.compact.plugins)
	if c != nil {
		for _, p := range c.Plugins {
			files = append(files, p.Path)
		}
	}
	for _, file := range files {
		if _, err := h.e.named().Open(file); err != nil {
			h.log.Error("a plugin cannot be loaded: compactions go on without it", "plugin", file, "error", err)
		}
	}
}

// problem is why a plugin cannot be loaded in any agent, "" where nothing says so.
func (g *generation) problem(names ...string) string {
	for _, l := range g.loaders {
		for _, u := range l.missing {
			if slices.Contains(names, u.manifest.Name) {
				return u.err.Message
			}
		}
	}
	return ""
}
