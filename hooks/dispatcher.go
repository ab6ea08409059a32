package hooks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Plugin takes part in compactions: give it to kagewasm.Options. Package runtime loads modules as
// plugins; a Go type may be one too. Its methods may be called from several goroutines at once.
type Plugin interface {
	Manifest() *abi.Manifest
	// Hooks are the hooks it handles.
	Hooks() []abi.Hook
	// Digest identifies its code: "sha256:" and 64 hex digits, or "" for a plugin that is not a module.
	Digest() string
	// Granted reports whether the plugin has a capability: its manifest asks for it, and the operator
	// grants it.
	Granted(abi.Capability) bool
	// Call handles in.Hook. It keeps the limits of a single call, and ends soon after ctx does. A nil
	// output says nothing. The plugin may change the input, except for bytes: raw JSON and content
	// parts are shared. A panic is a failure of the call.
	Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error)
}

// Options of a dispatcher.
type Options struct {
	// Timeout is how long the observers' calls of a hook may take together, since they run side by
	// side, and how long the compactor's call may take. Default [abi.PlanTime].
	Timeout time.Duration
	// Breaker keeps plugins that fail too often from being called. Dispatchers may share one. Default:
	// a breaker of its own.
	Breaker *Breaker
	// Cancels keeps how many compactions of a session in a row plugins have cancelled, for other
	// dispatchers and processes. Its methods may be called from several goroutines at once. Default:
	// the dispatcher counts its own.
	Cancels interface {
		Cancelled(s *abi.Session) (int, error)
		SetCancelled(s *abi.Session, n int) error
	}
}

// Dispatcher calls plugins; [New] makes one. It is safe for concurrent use.
type Dispatcher struct {
	observers []Plugin // in the order given
	compactor Plugin   // or nil
	all       []Plugin // in the order they are called
	timeout   time.Duration
	breaker   *Breaker
	opts      Options
	cancels   streaks // by session
	requests  streaks // by session and plugin
}

// New returns a dispatcher that calls the plugins in the order given, the compactor last. It refuses
// more than one compactor, and two plugins of one name.
func New(plugins []Plugin, opts Options) (*Dispatcher, error) {
	d := &Dispatcher{timeout: opts.Timeout, breaker: cmp.Or(opts.Breaker, NewBreaker(BreakerOptions{})),
		opts: opts}
	if d.timeout <= 0 {
		d.timeout = abi.PlanTime
	}
	names := make(map[string]bool, len(plugins))
	for i, p := range plugins {
		if p == nil {
			return nil, misused("", fmt.Sprintf("plugin %d is nil", i), "leave it out")
		}
		m := p.Manifest()
		if names[m.Name] {
			return nil, misused(m.Name, "two plugins have this name", "load it once, or rename one")
		}
		names[m.Name] = true
		if !m.Has(abi.RoleCompactor) {
			d.observers = append(d.observers, p)
			continue
		}
		if d.compactor != nil {
			first := d.compactor.Manifest().Name
			return nil, misused(m.Name, "a second compactor: "+first+" is one already, and an agent has at most one",
				"load one of the two, or leave one with the roles [observer] in the configuration")
		}
		d.compactor = p
	}
	d.all = slices.Clone(d.observers)
	if d.compactor != nil {
		d.all = append(d.all, d.compactor)
	}
	return d, nil
}

func misused(plugin, message, hint string) *abi.Error {
	return &abi.Error{Code: abi.CodeUsage, Op: "hooks", Plugin: plugin, Message: message, Hint: hint}
}

// Empty reports whether no plugin handles the hook.
func (d *Dispatcher) Empty(h abi.Hook) bool {
	return !slices.ContainsFunc(d.all, func(p Plugin) bool { return handles(p, h) })
}

// HasObservers reports whether observers take part before a compaction.
func (d *Dispatcher) HasObservers() bool {
	return slices.ContainsFunc(d.observers, func(p Plugin) bool { return handles(p, abi.HookPreCompact) })
}

// HasCompactor reports whether a compactor takes part.
func (d *Dispatcher) HasCompactor() bool {
	return d.compactor != nil && handles(d.compactor, abi.HookPreCompact)
}

// source returns how a plugin is named in records and frames.
func source(p Plugin) abi.Source {
	m := p.Manifest()
	return abi.Source{Type: abi.SourcePlugin, Name: m.Name, Version: m.Version, Digest: p.Digest()}
}

func handles(p Plugin, h abi.Hook) bool { return slices.Contains(p.Hooks(), h) }
