package main

import (
	"context"
	"slices"

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
		lacks := len(h.now.missing(key.path)) > 0
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
			h.log.Error(goesOnWithout, "plugin", file, "error", err)
		}
	}
}

// problem is why a plugin cannot be loaded in any agent, "" where nothing says so.
func (g *generation) problem(names ...string) string {
	for path := range g.loaders {
		for _, u := range g.missing(path) {
			if slices.Contains(names, u.manifest.Name) {
				return u.err.Message
			}
		}
	}
	return ""
}

// missing are what stands for the plugins of an agent that cannot be loaded.
func (g *generation) missing(path string) []*unloaded {
	if l := g.loaders[path]; l != nil && l.loader != nil {
		return l.loader.missing
	}
	return nil
}
