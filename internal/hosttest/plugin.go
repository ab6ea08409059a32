package hosttest

import (
	"context"
	"slices"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Handler answers a hook.
type Handler = func(*abi.Input) (*abi.Output, error)

// Plugin answers hooks with functions, and remembers what it was asked. It has
// the hooks whose functions are set.
type Plugin struct {
	Name            string
	Roles           []abi.PluginRole
	Pre, Post, Turn Handler
	// Grants are its capabilities.
	Grants []abi.Capability

	mu sync.Mutex
	// Asked are the inputs of all calls. It is read when they have ended.
	Asked []*abi.Input
}

var _ hooks.Plugin = (*Plugin)(nil)

// Manifest implements hooks.Plugin.
func (p *Plugin) Manifest() *abi.Manifest {
	return &abi.Manifest{Name: p.Name, Version: "1", ABI: abi.Version, Roles: p.Roles}
}

// Digest implements hooks.Plugin.
func (p *Plugin) Digest() string { return "" }

// Granted implements hooks.Plugin.
func (p *Plugin) Granted(c abi.Capability) bool { return slices.Contains(p.Grants, c) }

// Hooks implements hooks.Plugin.
func (p *Plugin) Hooks() []abi.Hook {
	return lists.Filter(abi.Hooks, func(h abi.Hook) bool { return p.handler(h) != nil })
}

func (p *Plugin) handler(h abi.Hook) Handler {
	return map[abi.Hook]Handler{abi.HookPreCompact: p.Pre, abi.HookPostCompact: p.Post, abi.HookTurnEnd: p.Turn}[h]
}

// Call implements hooks.Plugin.
func (p *Plugin) Call(_ context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	p.mu.Lock()
	p.Asked = append(p.Asked, in)
	p.mu.Unlock()
	out, err := p.handler(in.Hook)(in)
	return out, abi.CallStats{MS: 1}, err
}

// Calls are the inputs of the calls of a hook.
func (p *Plugin) Calls(h abi.Hook) []*abi.Input {
	return lists.Filter(p.Asked, func(in *abi.Input) bool { return in.Hook == h })
}

// Answers is a handler that always answers the same.
func Answers(out *abi.Output) Handler {
	return func(*abi.Input) (*abi.Output, error) { return out, nil }
}

// Compactor is a plugin with that role.
func Compactor(pre Handler) *Plugin {
	return &Plugin{Name: "comp", Roles: []abi.PluginRole{abi.RoleCompactor}, Pre: pre}
}

// Plugins are plugins of one type as Options has them.
func Plugins[P hooks.Plugin](list ...P) []hooks.Plugin {
	return lists.Map(list, func(p P) hooks.Plugin { return p })
}
