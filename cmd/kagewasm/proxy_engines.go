package main

import (
	"context"
	"slices"
	"sync"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/learned"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/tokens"
)

// engines are the compactors of a proxy, made again when its configuration changes.
type engines struct {
	f     *proxyFlags
	e     env
	audit func(kagewasm.Event)
	live  *following // nil where there is no configuration

	mu   sync.Mutex
	seen *config.Config // what now was made of, or could not be
	now  *generated
	past []*generated // whose plugins may still be in use

	// windows are what providers said that models take: in earlier runs, and since this
	// proxy runs, for all conversations.
	windows learned.Windows
}

// generated are the compactors of one configuration: one for each encoding, as that is what
// they count in.
type generated struct {
	conf       configured
	byEncoding map[tokens.Encoding]proxy.Engine
	models     map[string]tokens.Model // without what their providers said
	loaders    []*loader
	spares     bool // plugins that cannot be loaded are failures of compactions
	closed     sync.Once
}

func newGenerated(conf configured) *generated {
	return &generated{
		conf:       conf,
		spares:     true,
		byEncoding: make(map[tokens.Encoding]proxy.Engine),
		models:     make(map[string]tokens.Model),
	}
}

// maxModels bounds the names of models that are remembered: a client may send any.
const maxModels = 1000

func (es *engines) of(ctx context.Context, name string) (proxy.Engine, error) {
	es.mu.Lock()
	defer es.mu.Unlock()
	es.follow(ctx)
	return es.engine(ctx, es.now, name)
}

// numCtx is the window that is configured for a model of Ollama, 0 where none is: the catalog
// has nothing on those.
func (es *engines) numCtx(ctx context.Context, name string) int {
	if es.f.given("window") {
		return es.f.window
	}
	es.mu.Lock()
	defer es.mu.Unlock()
	es.follow(ctx)
	if w := es.now.conf.resolveFor("ollama/" + name).ContextWindow; w != nil {
		return *w
	}
	return 0
}

// follow goes by the configuration as it is now. One that nothing can be made of changes nothing, nor does one with
// which a plugin cannot be loaded any more.
func (es *engines) follow(ctx context.Context) {
	c := es.live.current()
	if c == es.seen {
		return
	}
	es.seen = c
	a, err := c.With(es.f.agent, es.f.sets...)
	next := newGenerated(configured{file: c, agent: a})
	if next.spares = len(es.now.without()) > 0; err == nil {
		_, err = es.engine(context.WithoutCancel(ctx), next, "")
	}
	if err != nil {
		es.live.warn(err)
		next.close(context.WithoutCancel(ctx))
		return
	}
	next.spares = true // of another encoding's
	old := es.now
	es.now, es.past = next, append(es.past, old)
	time.AfterFunc(closeLater, func() { old.close(context.Background()) })
}

func (es *engines) engine(ctx context.Context, g *generated, name string) (proxy.Engine, error) {
	m, known := g.models[name]
	if !known {
		m = g.conf.resolveFor(name)
		if es.f.given("window") {
			m.ContextWindow = &es.f.window
		}
		if kept := es.f.learned(es.e, m, name).ContextWindow; m.ContextWindow == nil && kept != nil {
			es.windows.Learn(m.Name(), *kept, nil)
		}
		if len(g.models) < maxModels {
			g.models[name] = m
		}
	}
	if m.ContextWindow == nil {
		m.ContextWindow = es.windows.Within(nil, m.Name())
	}
	engine, made := g.byEncoding[m.Encoding]
	if !made {
		var err error
		if engine, err = es.make(ctx, g, m.Encoding); err != nil {
			return engine, err
		}
		g.byEncoding[m.Encoding] = engine
	}
	engine.Model = m
	return engine, nil
}

func (es *engines) make(ctx context.Context, g *generated, encoding tokens.Encoding) (engine proxy.Engine, err error) {
	if engine.Counter, err = tokens.New(encoding, tokens.Options{}); err != nil {
		return engine, err
	}
	f := es.f.compactFlags
	if g.spares {
		f.spare = func(err error) { es.e.say(goesOnWithout + ": " + err.Error()) }
	}
	opts, plugins, err := f.options(ctx, es.e, g.conf, engine.Counter, es.e.progress())
	if err != nil {
		return engine, err
	}
	if plugins != nil {
		g.loaders = append(g.loaders, plugins)
	}
	opts.Policy, opts.Audit, opts.Learned = proxy.Policy(opts.Policy), es.audit, es.learn
	engine.Compactor, err = kagewasm.New(opts)
	return engine, err
}

// learn goes by the window that a provider named for a model, and keeps it.
func (es *engines) learn(model string, window int) {
	es.windows.Learn(model, window, nil)
	if err := keepWindows(es.f.state, es.e, map[string]int{model: window}); err != nil {
		es.e.say("what the provider said of " + model + " is not kept: " + err.Error())
	}
}

// without says which plugins cannot be loaded, and why.
func (es *engines) without() []string {
	es.mu.Lock()
	defer es.mu.Unlock()
	return es.now.without()
}

func (g *generated) without() (list []string) {
	for _, l := range g.loaders {
		for _, u := range l.missing {
			if says := u.manifest.Name + ": " + u.err.Message; !slices.Contains(list, says) {
				list = append(list, says)
			}
		}
	}
	return list
}

func (es *engines) close(ctx context.Context) {
	for _, g := range append(es.past, es.now) {
		g.close(ctx)
	}
}

func (g *generated) close(ctx context.Context) {
	g.closed.Do(func() {
		for _, engine := range g.byEncoding {
			_ = engine.Compactor.Wait(ctx) // for plugins that retain something
		}
		for _, l := range g.loaders {
			l.close(ctx)
		}
	})
}
