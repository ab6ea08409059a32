package main

import (
	"context"

	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
)

// openAuthor opens a loader for trying out a plugin: its calls may use the configured models, and
// nothing is stored without --state.
func (f *pluginFlags) openAuthor(ctx context.Context, e env, conf *configFlag) (*loader, error) {
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		return nil, err
	}
	conf.trial = true
	c, err := conf.configured(e, "", nil)
	if err != nil {
		return nil, err
	}
	model, err := c.models()
	if err != nil {
		return nil, err
	}
	l, err := openLoader(ctx, e, f, counter, model, true)
	if err != nil {
		return nil, err
	}
	// Nothing is stored without --state, so it does not matter whose it would be: hooks are called by
	// hand.
	l.author = f.state == ""
	l.conf = c
	return l, nil
}

// host opens the module and returns the options to load it with, for packages that load it themselves
// over a storage of their own: those of their runtime and of the plugin.
func (l *loader) host(path string) (*runtime.Module, runtime.Options, runtime.PluginOptions, error) {
	opts := l.options(false)
	m, err := l.named.Open(path)
	if err == nil {
		opts, err = l.meant(m.Manifest(), opts)
	}
	if err == nil {
		err = l.unusedFlag()
	}
	o := runtime.Options{CacheDir: l.state.CacheDir, CacheKey: l.state.CacheKey, Counter: l.counter, Model: l.model}
	return m, o, opts, err
}
