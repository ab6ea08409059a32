package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/tokens"
)

// serveHost is what a configuration says of the sessions of a server: compactors for its
// agents, made when they are first asked for, and made again when the configuration or a knob
// is another one.
type serveHost struct {
	e     env
	flags *serveFlags
	store *store.Store
	log   *slog.Logger
	audit func(kagewasm.Event)
	live  *following // nil where there is no configuration
	// breaker is one for all: what one session learns of a plugin holds for all, and for the
	// next process.
	breaker  *hooks.Breaker
	circuits state.Circuits
	keeping  chan struct{} // full while what it knows is to be kept
	stop     chan struct{} // closed when the host is; nil where it keeps nothing itself
	stopped  chan struct{} // closed when all is kept

	plugs plugHosts

	mu       sync.Mutex
	counters map[tokens.Encoding]*tokens.Counter
	now      *generation
	seen     *config.Config // what now was made of, or could not be
	problem  string         // why the last agent could not be made that could not
	past     sync.WaitGroup // generations that are being closed
}

var _ service.Host = (*serveHost)(nil)

// generation is all that was made of a configuration, as long as nothing changes.
type generation struct {
	conf    *config.Config // nil where there is none
	agents  map[agentKey]*service.Agent
	loaders map[string]*loaded // by the agent's path
}

type agentKey struct{ path, model string }

// loaded are the plugins of an agent.
type loaded struct {
	loader  *loader
	plugins []*runtime.Plugin
}

func (f *serveFlags) openHost(e env, s *store.Store, log *slog.Logger, audit func(kagewasm.Event)) (*serveHost, error) {
	h := &serveHost{e: e, flags: f, store: s, log: log, audit: audit, keeping: make(chan struct{}, 1),
		counters: make(map[tokens.Encoding]*tokens.Counter)}
	h.breaker = hooks.NewBreaker(hooks.BreakerOptions{Changed: h.learned})
	conf, err := f.configured(e, "", nil) // which asks whether it is trusted
	if err == nil {
		h.begin(conf.file)
		h.live, err = followed(e, &f.configFlag, conf.file, func(err error) {
			h.log.Warn("the configuration has changed and cannot be used: the one before holds", "error", err)
		})
	}
	return h, err
}

// keepBreaker has the breaker go on with what the store has of plugins, and keeps there what
// it learns until the host is closed.
func (h *serveHost) keepBreaker(ctx context.Context) error {
	if err := h.circuits.Restore(ctx, h.store, h.breaker); err != nil {
		return err
	}
	h.stop, h.stopped = make(chan struct{}), make(chan struct{})
	go h.keepLearned()
	return nil
}

// learned has what the breaker knows kept, beside the call of a plugin that it learned it of.
func (h *serveHost) learned() {
	select {
	case h.keeping <- struct{}{}:
	default: // it is to be kept already
	}
}

func (h *serveHost) keepLearned() {
	defer close(h.stopped)
	for last := false; !last; {
		select {
		case <-h.keeping:
		case <-h.stop:
			last = true
		}
		if err := h.circuits.Keep(context.Background(), h.store, h.breaker); err != nil {
			h.log.Warn("what is known of plugins that fail is not kept", "error", err)
		}
	}
}

// ResetBreaker implements service.Host.
func (h *serveHost) ResetBreaker(ctx context.Context, digest string) error {
	h.breaker.Reset(digest)
	return h.circuits.Keep(ctx, h.store, h.breaker)
}

// current is the generation that holds now.
func (h *serveHost) current() *generation {
	switch c := h.live.current(); {
	case h.now == nil:
		h.now, h.seen = newGeneration(c), c
	case h.seen != c:
		h.change(c)
	}
	return h.now
}

// closeLater is how long plugins of an earlier generation may go on for those who still
// use them.
const closeLater = 6 * time.Minute

// replace begins a new generation.
func (h *serveHost) replace(next *generation) {
	if old := h.now; old != nil {
		h.past.Add(1)
		time.AfterFunc(closeLater, func() {
			defer h.past.Done()
			old.close(context.Background())
		})
	}
	h.now = next
}

func newGeneration(c *config.Config) *generation {
	return &generation{conf: c, agents: make(map[agentKey]*service.Agent), loaders: make(map[string]*loaded)}
}

func (g *generation) close(ctx context.Context) {
	for _, l := range g.loaders {
		l.loader.close(ctx)
	}
}

// Agent implements service.Host.
func (h *serveHost) Agent(ctx context.Context, path, model string) (*service.Agent, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.current()
	key := agentKey{path, model}
	if a := g.agents[key]; a != nil {
		return a, nil
	}
	a, err := h.agent(context.WithoutCancel(ctx), g, path, model, true) // it is made for all
	if err != nil && err.Error() != h.problem {
		h.problem = err.Error()
		h.log.Error("an agent cannot be made", "agent", path, "error", err)
	}
	if err == nil {
		if len(g.agents) >= maxAgents {
			clear(g.agents) // names of models are the clients' to choose
		}
		g.agents[key] = a
	}
	return a, err
}

// maxAgents bounds what is kept for pairs of an agent and a model.
const maxAgents = 500

// agent makes an agent. Where spares is set plugins that cannot be loaded are failures of its compactions.
func (h *serveHost) agent(
	ctx context.Context, g *generation, path, model string, spares bool,
) (*service.Agent, error) {
	conf := configured{}
	if g.conf != nil {
		conf = configured{file: g.conf, agent: g.conf.Agent(path)}
	}
	conf, err := h.withSettings(ctx, conf, path)
	if err != nil {
		return nil, err
	}
	conf.asked = model
	known := h.flags.compact.learned(h.e, conf.resolveFor(model))
	counter, err := h.counter(known.Encoding)
	if err != nil {
		return nil, err
	}
	opts, err := h.options(ctx, g, conf, path, counter, spares)
	if err != nil {
		return nil, err
	}
	compactor, err := kagewasm.New(opts)
	if err != nil {
		return nil, err
	}
	a := &service.Agent{Path: path, Model: known, Window: known.ContextWindow, Compactor: compactor,
		Tools: func(ctx context.Context, definitions json.RawMessage) (int, error) {
			n, err := counter.Tools(ctx, definitions)
			return n.Tokens, err
		}}
	for _, p := range opts.Plugins {
		a.Plugins = append(a.Plugins, p.Manifest().Name)
	}
	return a, nil
}

// options are those of an agent's compactor.
func (h *serveHost) options(
	ctx context.Context, g *generation, conf configured, path string, counter *tokens.Counter, spares bool,
) (kagewasm.Options, error) {
	model, err := conf.models()
	if err != nil {
		return kagewasm.Options{}, err
	}
	opts := kagewasm.Options{Counter: counter, Policy: conf.policy(), Model: model, Lookup: conf.resolve,
		Breaker: h.breaker, Audit: h.audit}
	goesBy(&h.flags.compact, h.e, &opts)
	opts.Learned = func(model string, window int) {
		if err := keepWindows(h.flags.state, h.e, map[string]int{model: window}); err != nil {
			h.log.Warn("what a provider said of its model is not kept", "model", model, "error", err)
		}
	}
	l, err := h.loaded(ctx, g, conf, path, counter, model, spares)
	if err != nil {
		return opts, err
	}
	if l.loader != nil {
		opts.Memory, opts.Cancels = l.loader.state.KV, l.loader.state.Cancels()
		opts.Plugins = l.loader.with(l.plugins)
	}
	return opts, nil
}

// loaded are the plugins of an agent, with the values that an operator gave their knobs.
func (h *serveHost) loaded(
	ctx context.Context, g *generation, conf configured, path string, counter *tokens.Counter, model abi.Model,
	spares bool,
) (*loaded, error) {
	if l := g.loaders[path]; l != nil {
		return l, nil
	}
	l := &loaded{}
	if len(h.flags.compact.plugins)+len(conf.plugins()) > 0 {
		var err error
		if l.loader, err = openLoaderOver(ctx, h.e, &h.flags.pluginFlags, counter, model, h.memory); err != nil {
			return nil, err
		}
		l.loader.several = true
		l.loader.set = func(name string) (abi.Config, error) {
			values, err := h.store.Knobs(ctx, name, path)
			return abi.Config(values), err
		}
		if spares {
			l.loader.spare(conf, func(err error) { h.log.Error(goesOnWithout, "agent", path, "error", err) })
		}
		if l.plugins, err = l.loader.loadAll(ctx, conf, h.flags.compact.plugins, ui.NewProgress(nil, 0)); err != nil {
			l.loader.close(ctx)
			return nil, err
		}
	}
	g.loaders[path] = l
	return l, nil
}

// memory is what plugins keep: in the database of the server, and nowhere where it keeps
// nothing.
func (h *serveHost) memory(kept abi.KV) abi.KV {
	dir := cmp.Or(h.flags.state, h.e.stateHome)
	switch {
	case h.flags.database != "":
		dir = ""
	case dir == state.InMemory:
		return kept
	}
	return state.MemoryIn(h.store, dir, h.e.say)
}

// maxCounted is how many texts' counts are remembered, in 50 MB at most: to count a session again takes longer than to
// read it, and there may be a thousand.
const maxCounted = 1 << 19

func (h *serveHost) counter(e tokens.Encoding) (*tokens.Counter, error) {
	if c := h.counters[e]; c != nil {
		return c, nil
	}
	c, err := tokens.New(e, tokens.Options{CacheEntries: maxCounted})
	if err == nil {
		h.counters[e] = c
	}
	return c, err
}

// Agents implements service.Host.
func (h *serveHost) Agents() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.current().conf; c != nil {
		return c.Agents()
	}
	return []string{""}
}

// Models implements service.Host.
func (h *serveHost) Models() (list []service.Model) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.current().conf
	if c == nil {
		return nil
	}
	for _, alias := range slices.Sorted(maps.Keys(c.Models)) {
		m := c.Models[alias]
		one := service.Model{Alias: alias, Provider: m.Provider, Name: m.Name, ContextWindow: m.Window}
		if w := (configured{file: c, agent: c.Agent("")}).resolve(alias).ContextWindow; w != nil {
			one.ContextWindow = *w
		}
		list = append(list, one)
	}
	return list
}

// Plugins implements service.Host.
func (h *serveHost) Plugins(context.Context) ([]service.Plugin, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, byName := h.current().conf, make(map[string]*service.Plugin)
	if c != nil {
		for name, p := range c.Plugins {
			byName[name] = h.described(name, p.Path, p)
		}
		for _, path := range c.Agents() {
			for _, name := range c.Agent(path).Plugins() {
				byName[name].Agents = append(byName[name].Agents, path)
			}
		}
	}
	for _, path := range h.flags.compact.plugins {
		p := h.described(filepath.Base(path), path, config.Plugin{})
		p.Agents = h.pathsOf(c)
		byName[p.Name] = p
	}
	list := []service.Plugin{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		list = append(list, *byName[name])
	}
	return list, nil
}

func (h *serveHost) pathsOf(c *config.Config) []string {
	if c == nil {
		return []string{""}
	}
	return c.Agents()
}

// described is what a module says of itself, and how it has fared.
func (h *serveHost) described(name, path string, c config.Plugin) *service.Plugin {
	p := &service.Plugin{Name: name, Agents: []string{}, Roles: []abi.PluginRole{}, Hooks: []abi.Hook{},
		Grants: slices.Sorted(maps.Keys(c.Grants)), Configured: c.Knobs, Breaker: service.Breaker{State: "closed"}}
	module, err := h.e.named().Open(path)
	if err != nil {
		p.Error = err.Error()
		return p
	}
	m := module.Manifest()
	p.Error = h.now.problem(name, m.Name)
	p.Name, p.Version, p.Digest, p.Knobs = m.Name, m.Version, module.Digest(), m.Knobs
	p.Roles, p.Hooks = append(p.Roles, m.Roles...), append(p.Hooks, m.Hooks...)
	for _, c := range h.breaker.Circuits() {
		if c.Digest != p.Digest {
			continue
		}
		p.Breaker = service.Breaker{State: c.State, Failures: c.Failures, Last: c.LastError}
		if c.OpenUntil != nil {
			p.Breaker.Until = c.OpenUntil.Format(time.RFC3339)
		}
	}
	return p
}

// KnobsChanged implements service.Host.
func (h *serveHost) KnobsChanged() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now != nil {
		h.change(h.now.conf)
	}
}

// Close implements service.Host.
func (h *serveHost) Close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.plugs.close(ctx); err != nil {
		return err
	}
	if h.now != nil {
		for _, a := range h.now.agents {
			if err := a.Compactor.Wait(ctx); err != nil {
				return fmt.Errorf("plugins did not end: %w", err)
			}
		}
		h.now.close(ctx)
	}
	if h.stop != nil {
		close(h.stop)
		<-h.stopped
	}
	return nil
}
