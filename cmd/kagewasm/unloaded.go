package main

import (
	"context"
	"errors"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/runtime"
)

// goesOnWithout is what is said of one.
const goesOnWithout = "a plugin cannot be loaded: compactions go on without it"

// spare has loadAll go on without plugins that cannot be loaded, and say so.
func (l *loader) spare(conf configured, say func(error)) {
	l.broken = func(name string, err error) {
		say(err)
		l.missing = append(l.missing, standIn(conf, name, err))
	}
}

// with are the plugins that were loaded, and what stands for those that cannot be.
func (l *loader) with(loaded []*runtime.Plugin) (all []hooks.Plugin) {
	for _, p := range loaded {
		all = append(all, p)
	}
	for _, u := range l.missing {
		if !slices.ContainsFunc(all, func(p hooks.Plugin) bool { return p.Manifest().Name == u.manifest.Name }) {
			all = append(all, u)
		}
	}
	return all
}

// unloaded stands for a plugin of a server or a proxy that cannot be loaded: that is a failure in each compaction, and
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
			Hint: "repair it, and touch the configuration or start kagewasm anew", Err: err}}
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
