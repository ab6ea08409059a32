package runtime

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

// Reloader is a plugin whose module can be replaced while it is in use: give it
// to a Compactor as one of its plugins, and [Reloader.Swap] the module whenever
// there is a new one. A call ends on the module it began on, the next call runs
// on the new one; none waits for a swap, and none is refused for one. It is
// safe for concurrent use.
type Reloader struct {
	mu      sync.Mutex
	current *generation
}

// generation is one module of a Reloader, and the calls it is in use by.
type generation struct {
	*Plugin
	uses    int
	retired bool
}

// NewReloader returns a plugin that starts with the module p, and owns it. Without
// one it is a usage error.
func NewReloader(p *Plugin) (*Reloader, error) {
	if p == nil {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "reload",
			Message: "no module to start with: give the one that Load returned"}
	}
	return &Reloader{current: &generation{Plugin: p}}, nil
}

// Swap puts next in the place of the module, and owns it then; the old module is
// closed once no call runs on it any more. Hosts sort their plugins by name and
// role when they are told of them: a module of another name, or with other
// roles, is refused with a usage error, and stays the caller's.
func (r *Reloader) Swap(next *Plugin) error {
	if next == nil {
		return &abi.Error{Code: abi.CodeUsage, Op: "swap", Message: "no module to put in its place"}
	}
	r.mu.Lock()
	old := r.current
	if err := replaces(next.Manifest(), old.Manifest()); err != nil {
		r.mu.Unlock()
		return err
	}
	r.current, old.retired = &generation{Plugin: next}, true
	idle := old.uses == 0
	r.mu.Unlock()
	if idle {
		old.discard()
	}
	return nil
}

// replaces reports why a module with the manifest cannot take the place of one
// with the other.
func replaces(next, old *abi.Manifest) error {
	refuse := func(format string, args ...any) error {
		return &abi.Error{Code: abi.CodeUsage, Op: "swap", Plugin: old.Name, Message: fmt.Sprintf(format, args...),
			Hint: "load it beside this one, and make a new compactor with it"}
	}
	if next.Name != old.Name {
		return refuse("the new module is another plugin, %s", next.Name)
	}
	for _, role := range []abi.PluginRole{abi.RoleObserver, abi.RoleCompactor} {
		if next.Has(role) != old.Has(role) {
			return refuse("the new module has other roles: one of the two is a %s", role)
		}
	}
	return nil
}

// Manifest returns what the current module says about itself.
func (r *Reloader) Manifest() *abi.Manifest { return r.now().Manifest() }

// Hooks returns the hooks of the current module.
func (r *Reloader) Hooks() []abi.Hook { return r.now().Hooks() }

// Digest returns the digest of the current module.
func (r *Reloader) Digest() string { return r.now().Digest() }

// Granted reports whether the current module has a capability.
func (r *Reloader) Granted(c abi.Capability) bool { return r.now().Granted(c) }

// Namespace returns the namespace of the current module's data for an agent.
func (r *Reloader) Namespace(ctx context.Context, agentPath string) (string, error) {
	g := r.use()
	defer r.release(g)
	return g.Plugin.Namespace(ctx, agentPath)
}

// Call is [Plugin.Call] on the current module. Where a swap has removed the hook since the caller asked
// for the hooks, the answer is nothing to say.
func (r *Reloader) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	g := r.use()
	defer r.release(g)
	if !slices.Contains(g.hooks, in.Hook) {
		return nil, abi.CallStats{}, nil
	}
	return g.Plugin.Call(ctx, in)
}

// Close closes the current module, as [Plugin.Close] does.
func (r *Reloader) Close(ctx context.Context) error { return r.now().Close(ctx) }

func (r *Reloader) now() *Plugin {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current.Plugin
}

// use keeps the current module open until it is released.
func (r *Reloader) use() *generation {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current.uses++
	return r.current
}

func (r *Reloader) release(g *generation) {
	r.mu.Lock()
	g.uses--
	last := g.retired && g.uses == 0
	r.mu.Unlock()
	if last {
		g.discard()
	}
}

// discard frees a module that nobody uses any more.
func (g *generation) discard() { _ = g.Close(context.Background()) } // its memory is the engine's own
