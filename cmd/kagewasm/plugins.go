package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/named"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/near"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/extism"
	"github.com/kagewasm/kagewasm/store/kv"
)

// pluginFlags are the flags of every command that loads plugins.
type pluginFlags struct {
	state    string
	engine   string
	grants   []string
	denies   []string
	adopts   []string
	secrets  []string
	knobs    []string
	timeout  int
	memory   int
	limits   []string
	cassette cassetteFlags // registered by the commands that have them
}

func (f *pluginFlags) register(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.state, "state", "",
		"`DIR` for what plugins keep and for compiled modules; "+state.InMemory+" keeps nothing (default: the "+
			"platform's state folder)")
	f.engine = runtime.EngineNative
	fs.Var((*engineFlag)(&f.engine), "engine",
		"native (sandboxed), or extism: upstream's engine, for trusted plugins only, as it keeps few of the limits")
	fs.StringSliceVar(&f.grants, "grant", nil, "grant a `CAPABILITY` that a plugin asks for: kv, compaction.request "+
		"and compaction.summary are granted already; also model, messages.search, http=HOST[:PORT] (https; http=http://HOST "+
		"for http, http=private+http://HOST for a name in a private network, http=localhost:PORT for this machine)")
	fs.StringSliceVar(&f.adopts, "adopt", nil,
		"let the plugin of this `NAME` go on with what another version of it has stored")
	fs.StringSliceVar(&f.denies, "deny", nil, "deny a `CAPABILITY` that is granted already")
	fs.StringArrayVar(&f.secrets, "secret", nil, "give a secret that a plugin asks for, for the headers of its "+
		"requests: `[PLUGIN.]NAME=VARIABLE` of the environment")
	fs.StringArrayVar(&f.knobs, "knob", nil, "turn a knob: `[PLUGIN.]NAME=VALUE`")
	fs.IntVar(&f.timeout, "timeout-ms", 0,
		"wall clock of one call, in milliseconds (default 10,000; 300,000 for who makes the plan or may ask a model, "+
			"but for verify)")
	fs.IntVar(&f.memory, "memory-mb", 0, "memory of one call, in MiB (default 64)")
	fs.StringArrayVar(&f.limits, "limit", nil,
		"set a limit of one call: `NAME=NUMBER`, as a manifest names it: "+strings.Join(limitNames(), ", "))
	complete(c, "engine", runtime.EngineNative, extism.Name)
	completeParts(c, "limit", limitNames)
	complete(c, "grant", lists.Strings(abi.Capabilities)...)
	complete(c, "deny", lists.Strings(abi.Capabilities)...)
}

// engineFlag is the name of an engine, which there is.
type engineFlag string

func (f *engineFlag) String() string { return string(*f) }
func (f *engineFlag) Type() string   { return "string" }

func (f *engineFlag) Set(name string) error {
	if name != runtime.EngineNative && name != extism.Name {
		return fmt.Errorf("use %s or %s", runtime.EngineNative, extism.Name)
	}
	*f = engineFlag(name)
	return nil
}

// granted returns the grants of plugins that a person loads by name. What stays on
// this machine, within quotas, is granted. The network and models cost something or
// tell somebody, so they are granted one by one.
func (f *pluginFlags) granted() (runtime.Grants, error) {
	g := runtime.Grants{KV: true, CompactionRequest: true, CompactionSummary: true}
	for _, s := range f.grants {
		name, origin, hasOrigin := strings.Cut(s, "=")
		var origins []string
		if hasOrigin {
			origins = []string{origin}
		}
		if err := g.Grant(abi.Capability(name), origins...); err != nil {
			return g, ui.Usagef("--grant %s: %s", s, abi.AsError(err).Message)
		}
	}
	if err := f.cassette.grant(&g); err != nil {
		return g, err
	}
	for _, s := range f.denies {
		if err := g.Deny(abi.Capability(s)); err != nil {
			return g, ui.Usagef("--deny %s: %s", s, abi.AsError(err).Message)
		}
	}
	return g, nil
}

// loader loads the plugins of one command.
type loader struct {
	flags   *pluginFlags
	state   *state.State
	runtime *runtime.Runtime
	counter abi.Counter
	model   abi.Model
	conf    configured // whose models knobs may name
	grants  runtime.Grants
	limits  abi.Limits
	taken   map[string]bool // values of --knob, --adopt and --secret that were for some plugin
	author  bool            // who loads a module is the one who builds it
	look    bool            // modules are looked at, and not called
	several bool            // other agents of the configuration have loaders of their own
	named   named.Shelf     // has those that are called by a name
	// end is called when it is closed. Nil: nothing is.
	end func(context.Context)
	// broken hears of a plugin that cannot be loaded, and loadAll goes on without it. Nil: it does not.
	broken  func(name string, err error)
	missing []*unloaded // those that loadAll went on without
	// set are values that an operator gave the knobs of a plugin, over all others. Nil: none.
	set func(plugin string) (abi.Config, error)
}

// openLoader opens the state and a runtime over it. With trial set a plugin's
// own data is kept in memory unless --state names a place for it: a call to try
// something out must not leave notes in anybody's memory.
//
// model completes prompts for plugins that are granted that; nil is none.
func openLoader(
	ctx context.Context, e env, f *pluginFlags, counter abi.Counter, model abi.Model, trial bool,
) (*loader, error) {
	return openLoaderOver(ctx, e, f, counter, model, func(kept abi.KV) abi.KV {
		if trial && f.state == "" {
			return kv.NewMemory(kv.Options{})
		}
		return kept
	})
}

// openLoaderOver is openLoader with the plugins' own data where over says, which
// is told where it is kept otherwise.
func openLoaderOver(
	ctx context.Context, e env, f *pluginFlags, counter abi.Counter, model abi.Model, over func(abi.KV) abi.KV,
) (*loader, error) {
	if err := f.cassette.open(); err != nil {
		return nil, err
	}
	grants, err := f.granted()
	if err != nil {
		return nil, err
	}
	limits, err := f.limitValues()
	if err != nil {
		return nil, err
	}
	st, err := state.Open(f.state, e.stateHome, e.say)
	if err != nil {
		return nil, err
	}
	st.KV = over(st.KV)
	rt, err := runtime.New(ctx, runtime.Options{
		CacheDir: st.CacheDir, CacheKey: st.CacheKey, KV: st.KV, Counter: counter, Model: model,
	})
	if err != nil {
		st.Close()
		return nil, err
	}
	return &loader{
		flags: f, state: st, runtime: rt, counter: counter, model: model, grants: grants, limits: limits, named: e.named(),
		taken: make(map[string]bool),
	}, nil
}

// close ends the use of the plugins. Nil is a loader of none.
func (l *loader) close(ctx context.Context) {
	if l == nil {
		return
	}
	if l.end != nil {
		l.end(ctx)
	}
	l.runtime.Close(ctx)
	l.state.Close()
}

// options returns the options of a module that the flags alone describe.
func (l *loader) options(anyExport bool) runtime.PluginOptions {
	return runtime.PluginOptions{
		Grants: l.grants, AnyExport: anyExport, Adopt: l.author,
		Limits: l.limits, Cassette: l.flags.cassette.inUse(),
	}
}

// load loads one module.
func (l *loader) load(ctx context.Context, path string, anyExport bool) (*runtime.Plugin, error) {
	module, err := l.named.Open(path)
	if err != nil {
		return nil, err
	}
	return l.loadModule(ctx, module, l.options(anyExport))
}

// loadOnly loads the one module that all flags are for; a changed one as if it were
// the first.
func (l *loader) loadOnly(ctx context.Context, path string, anyExport bool) (*runtime.Plugin, error) {
	clear(l.taken)
	p, err := l.load(ctx, path, anyExport)
	if err != nil {
		return nil, err
	}
	if err := l.unusedFlag(); err != nil {
		p.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return p, nil
}

// loadModule loads a module with the knobs, the secrets and the adoption that
// flags have for it.
func (l *loader) loadModule(
	ctx context.Context, module *runtime.Module, opts runtime.PluginOptions,
) (*runtime.Plugin, error) {
	opts, err := l.meant(module.Manifest(), opts)
	if err != nil {
		return nil, err
	}
	return l.runtime.Load(ctx, module, opts)
}

// meant adds what flags have for the plugin of a manifest.
func (l *loader) meant(m *abi.Manifest, opts runtime.PluginOptions) (runtime.PluginOptions, error) {
	if slices.Contains(l.flags.adopts, m.Name) {
		opts.Adopt, l.taken[m.Name] = true, true
	}
	knobs, err := l.config(m)
	if err != nil {
		return opts, err
	}
	secrets, err := l.secrets(m)
	if err != nil {
		return opts, err
	}
	opts.Config, opts.Secrets = over(opts.Config, knobs), over(opts.Secrets, secrets)
	if l.set != nil {
		values, err := l.set(m.Name)
		if err != nil {
			return opts, err
		}
		opts.Config = over(opts.Config, l.holds(m, values))
	}
	if opts.Engine = l.flags.ownEngine(); opts.Engine == nil && l.look {
		opts.Engine = runtime.Describe()
	}
	return opts, l.knowsDefaults(m, opts.Config)
}

// knowsDefaults is an error where a knob that is not set names a model by its default which
// the configuration does not have.
func (l *loader) knowsDefaults(m *abi.Manifest, set abi.Config) error {
	if l.conf.file == nil || len(l.conf.file.Models) == 0 {
		return nil
	}
	for name, err := range l.conf.file.UnknownDefaults(m, set) { // the first one
		return ui.Usagef("knob %s of %s, by its manifest's default: %w; --knob %s=ALIAS sets it", name, m.Name, err, name)
	}
	return nil
}

// holds leaves out the values of knobs that another version of a plugin had.
func (l *loader) holds(m *abi.Manifest, values abi.Config) abi.Config {
	maps.DeleteFunc(values, func(name string, value json.RawMessage) bool {
		knob, ok := m.Knobs[name]
		return !ok || knob.Check(value) != nil
	})
	return values
}

// ownEngine is the engine that plugins run on, nil for the runtime's own.
func (f *pluginFlags) ownEngine() runtime.Engine {
	if f.engine == extism.Name {
		return extism.Engine{}
	}
	return nil
}

// over merges two maps. Where both have a key, top wins.
func over[M ~map[string]V, V any](under, top M) M {
	if len(under) == 0 {
		return top
	}
	out := maps.Clone(under)
	maps.Copy(out, top)
	return out
}

// config turns the knob flags that are meant for the plugin into values.
func (l *loader) config(m *abi.Manifest) (abi.Config, error) {
	config := make(abi.Config)
	for _, s := range l.flags.knobs {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, ui.Usagef("knob %q: write NAME=VALUE or PLUGIN.NAME=VALUE", s)
		}
		if plugin, rest, ok := strings.Cut(name, "."); ok {
			if plugin != m.Name {
				continue
			}
			name = rest
		} else if _, ok := m.Knobs[name]; !ok {
			continue
		}
		knob, ok := m.Knobs[name]
		if !ok {
			says := m.Name + " has no such knob"
			if meant := near.To(name, slices.Collect(maps.Keys(m.Knobs)), 1); meant != nil {
				says += ": did you mean " + meant[0] + "?"
			}
			return nil, ui.Usagef("knob %q: %s (see kagewasm inspect)", s, says)
		}
		raw, err := knob.Parse(value)
		if err != nil {
			return nil, ui.Usagef("knob %s of %s: %w", name, m.Name, err)
		}
		if knob.Type == abi.KnobModelAlias {
			if err := l.conf.knowsModel(raw); err != nil {
				return nil, ui.Usagef("knob %s of %s: %w", name, m.Name, err)
			}
		}
		config[name] = raw
		l.taken[s] = true
	}
	return config, nil
}

// another reports whether the value of a flag names a plugin that another agent may load:
// NAME, or NAME.FIELD=VALUE.
func (l *loader) another(value string) bool {
	if !l.several || l.conf.file == nil {
		return false
	}
	name, _, _ := strings.Cut(value, "=")
	name, _, _ = strings.Cut(name, ".")
	_, has := l.conf.file.Plugins[name]
	return has
}

// unusedFlag is an error where a flag is meant for a plugin that is not there.
func (l *loader) unusedFlag() error {
	for _, flag := range []struct {
		values []string
		why    string
	}{
		{l.flags.adopts, "--adopt %s: no plugin that is loaded has this name"},
		{l.flags.secrets, "--secret %s: no plugin that is loaded asks for it"},
		{l.flags.knobs, "knob %q: no plugin that is loaded has it"},
	} {
		for _, value := range flag.values {
			if !l.taken[value] && !l.another(value) {
				return ui.Usagef(flag.why, value)
			}
		}
	}
	return nil
}

// loadAll loads every module, those of a configuration first, and says which
// one it is about when it fails.
func (l *loader) loadAll(
	ctx context.Context, conf configured, paths []string, progress *ui.Progress,
) ([]*runtime.Plugin, error) {
	l.conf = conf
	var loaded []*runtime.Plugin
	for _, c := range conf.plugins() {
		progress.Step("loading %s", c.Name)
		p, err := l.loadConfigured(ctx, c.Path, c)
		if err != nil {
			err = fmt.Errorf("%s: plugin %s: %w", conf.file.File, c.Name, err)
			if l.broken == nil {
				return nil, err
			}
			l.broken(c.Name, err)
			continue
		}
		loaded = append(loaded, p)
	}
	for _, path := range paths {
		progress.Step("loading %s", filepath.Base(path))
		p, err := l.load(ctx, path, false)
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
			if l.broken == nil {
				return nil, err
			}
			l.broken(filepath.Base(path), err)
			continue
		}
		loaded = append(loaded, p)
	}
	if len(loaded) < len(conf.plugins())+len(paths) {
		return loaded, nil // a flag may be for the one that is missing
	}
	return loaded, l.unusedFlag()
}
