package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/trust"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/models"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
)

// configured holds the settings of one agent in a configuration. The zero value
// stands for no configuration.
type configured struct {
	file  *config.Config
	agent *config.Agent
	// asked is the alias or the name of the session's model that somebody named; empty where nobody did.
	asked string
}

// knowsModel is an error where the value of a knob is no alias of a model. Without a
// configuration there are none.
func (c configured) knowsModel(value []byte) error {
	return cmp.Or(c.file, new(config.Config)).KnowsModel(value)
}

// configured reads the configuration that was named, or the nearest one; none
// where there is none.
func (f *configFlag) configured(e env, agent string, sets []string) (configured, error) {
	if f.off {
		return unconfigured(agent, sets)
	}
	c, err := f.load()
	if f.path == "" && errors.Is(err, fs.ErrNotExist) {
		return unconfigured(agent, sets)
	}
	if err == nil && f.path == "" {
		err = trust.List{Dir: e.stateHome}.Check(c)
	}
	if err == nil {
		err = c.CheckManifests(e.manifestOf)
	}
	if err != nil {
		return configured{}, err
	}
	if !f.trial {
		_ = c.WriteDefaultPrompt() // where that cannot be, the one that ships is used
	}
	a, err := c.With(agent, sets...)
	if err == nil && agent != "" && a.Path != agent && a.Path != "main/"+agent {
		err = ui.Usagef("--agent %s: %s has no such agent, but for %s", agent, c.File,
			cmp.Or(strings.Join(c.Agents()[1:], ", "), "the main one"))
	}
	return configured{file: c, agent: a}, err
}

// unconfigured is what holds without a configuration: what flags set, which need no
// file for it.
func unconfigured(agent string, sets []string) (configured, error) {
	switch {
	case agent != "":
		return configured{}, ui.Usagef("--agent %s: there is no %s here or in a folder above (kagewasm init "+
			"writes one)", agent,
			config.FileName)
	case len(sets) == 0:
		return configured{}, nil
	}
	c, err := config.None(".")
	if err != nil {
		return configured{}, err
	}
	a, err := c.With("", sets...)
	return configured{file: c, agent: a}, err
}

// policy is the agent's.
func (c configured) policy() kagewasm.Policy {
	if c.agent == nil {
		return kagewasm.Policy{}
	}
	p := c.agent.Policy
	p.Summarize.Model = cmp.Or(p.Summarize.Model, c.own())
	return p
}

// own is the alias of the agent's own model: the only one where it names none.
// Of several none is taken unasked, it could be another provider's.
func (c configured) own() string {
	if c.agent.Model == "" && len(c.file.Models) == 1 {
		for alias := range c.file.Models {
			return alias
		}
	}
	return c.agent.Model
}

// resolve finds what is known of a model by an alias or by its name; without
// one of the agent's own.
func (c configured) resolve(name string) tokens.Model {
	if c.file == nil {
		return tokens.Default().Resolve(name)
	}
	name = cmp.Or(name, c.agent.Model)
	overrides := c.file.Overrides
	if m, meant := c.alias(name); meant {
		own := m.Override()
		anywhere := own
		anywhere.Provider = m.Provider // so that no override of the file says more of the model
		overrides = append(slices.Clip(overrides), anywhere, own)
		if m.Alias == name {
			name = m.CatalogName()
		}
	}
	return tokens.Default().Resolve(name, overrides...)
}

// alias finds the model of an alias. A name that is none stands for the alias that goes by it, and of several for the
// one that was asked for, else for the agent's own: prices are an alias's, and sessions have their model by its name.
func (c configured) alias(name string) (m config.Model, meant bool) {
	if m, meant = c.file.Models[name]; meant || name == "" {
		return m, meant
	}
	named := make(map[string]config.Model)
	for alias, of := range c.file.Models {
		if called(of, name) {
			named[alias], m = of, of
		}
	}
	for _, alias := range []string{c.asked, c.agent.Model} {
		if one, meant := named[alias]; meant {
			return one, true
		}
	}
	return m, len(named) == 1
}

// called reports whether a model goes by a name that is no alias.
func called(m config.Model, name string) bool {
	catalog := tokens.Default()
	return strings.EqualFold(name, m.Name) || strings.EqualFold(name, m.CatalogName()) ||
		catalog.Resolve(name).Name() == catalog.Resolve(m.CatalogName()).Name()
}

// resolveForLog is resolve for an agent's own log, which keeps its thinking: the agent
// decides what it sends.
func (c configured) resolveForLog(name string) tokens.Model {
	m := c.resolve(name)
	m.BindsThinking = false
	return m
}

// resolveFor is resolve's model with the context window that the agent's configuration sets: its
// context, whatever the model is, else what the alias says. The agent's own model may go by the
// name that its provider has for it.
func (c configured) resolveFor(name string) tokens.Model {
	m := c.resolve(name)
	if c.agent == nil {
		return m
	}
	w := c.agent.Context
	if alias, meant := c.alias(cmp.Or(name, c.agent.Model)); meant {
		w = cmp.Or(w, alias.Window)
	}
	if w > 0 {
		m.ContextWindow = &w
	}
	return m
}

// models are those of the configuration, nil where it has none.
func (c configured) models() (abi.Model, error) {
	if c.file == nil || len(c.file.Models) == 0 {
		return nil, nil
	}
	byAlias := make(map[string]abi.Model, len(c.file.Models))
	for alias, m := range c.file.Models {
		if alias == c.own() && c.agent.Window > 0 {
			m.Window = c.agent.Window // what the agent says goes before what its model does
		} else if w := c.resolve(alias).ContextWindow; m.Window == 0 && w != nil {
			m.Window = *w // what an override says; the catalog knows of no server of one's own
		}
		made, err := c.model(m)
		if err != nil {
			return nil, fmt.Errorf("%s: model %s: %w", c.file.File, alias, err)
		}
		byAlias[alias] = made
	}
	return models.NewSet(c.own(), byAlias)
}

func (c configured) model(m config.Model) (abi.Model, error) {
	key := ""
	if m.KeyEnv != "" {
		if key = os.Getenv(m.KeyEnv); key == "" {
			return noKey{m}, nil
		}
	}
	limit := 0
	if m.Serial {
		limit = 1
	}
	prices := c.resolve(m.Alias).Prices
	return models.New(models.Config{
		Provider: models.Provider(m.Provider), Model: m.Name, BaseURL: m.BaseURL, Key: models.Key(key), Headers: m.Headers,
		MaxOutput: m.MaxOutput, NumCtx: m.NumCtx(), Timeout: m.Timeout, Retries: m.Retries, Concurrency: limit,
		Price:      func(u models.Usage) (float64, bool) { return prices.Cost(tokens.Usage(u)), prices != nil },
		HTTPClient: &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}},
	})
}

// noKey is a model whose key is not in the environment: what needs it learns
// so, and everything else goes on.
type noKey struct{ model config.Model }

func (n noKey) Complete(context.Context, abi.ModelRequest) (abi.ModelResponse, error) {
	return abi.ModelResponse{}, &abi.Error{Code: abi.CodeUnauthorized, Op: "model",
		Message: fmt.Sprintf("model %s: the environment has no %s", n.model.Alias, n.model.KeyEnv),
		Hint:    "export it, or take key_env out for a server that needs none"}
}

// plugins are those that the agent names.
func (c configured) plugins() []config.Plugin {
	if c.agent == nil {
		return nil
	}
	return lists.Map(c.agent.Plugins(), func(name string) config.Plugin { return c.file.Plugins[name] })
}

// withoutPlugins are the same settings with no plugin in them.
func (c configured) withoutPlugins() configured {
	if c.agent != nil {
		agent := *c.agent
		agent.Compactor, agent.Observers = "", nil
		c.agent = &agent
	}
	return c
}

// reads are the files that are read because of the configuration.
func (c configured) reads() []files.File {
	if c.file == nil {
		return nil
	}
	list := []files.File{files.Named("the configuration", c.file.File)}
	for _, p := range c.plugins() {
		list = append(list, pluginFile("plugin "+p.Name, p.Path))
	}
	return list
}

// loadConfigured loads a plugin with what its configuration grants it, and no
// more; flags that name its knobs and secrets win.
func (l *loader) loadConfigured(ctx context.Context, path string, c config.Plugin) (*runtime.Plugin, error) {
	opts := runtime.PluginOptions{
		Digest: c.Digest, Adopt: c.Adopt, Limits: l.limits.Or(c.Limits), Config: c.Knobs,
		Cassette: l.flags.cassette.inUse(),
	}
	for capability, origins := range c.Grants {
		if err := opts.Grants.Grant(capability, origins...); err != nil {
			return nil, err
		}
	}
	if err := l.flags.cassette.grant(&opts.Grants); err != nil {
		return nil, err
	}
	for name, variable := range c.Secrets {
		value := os.Getenv(variable)
		if value == "" && l.flags.cassette.player != nil {
			continue // a replay has what stands for it
		}
		if value == "" {
			return nil, ui.Usagef("secret %s: the environment has no %s", name, variable)
		}
		opts.Secrets = over(opts.Secrets, map[string]string{name: value})
	}
	module, err := l.named.Open(path)
	if err != nil {
		return nil, err
	}
	if c.Roles != nil {
		narrowed := *module.Manifest()
		narrowed.Roles = slices.DeleteFunc(slices.Clone(narrowed.Roles),
			func(r abi.PluginRole) bool { return !slices.Contains(c.Roles, r) })
		if len(narrowed.Roles) == 0 {
			return nil, ui.Usagef("its manifest has none of the roles %v", c.Roles)
		}
		opts.Manifest = &narrowed
	}
	return l.loadModule(ctx, module, opts)
}
