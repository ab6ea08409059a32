package main

import (
	"context"

	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
)

// openAuthor opens a loader for who tries out a plugin: its calls may ask the
// configuration's models, and nothing is stored unless there is a place for it.
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
	// Without a place for it nothing is stored, and whose it would be is no
	// question for who calls one hook by hand.
	l.author = f.state == ""
	l.conf = c
	return l, nil
}

// host opens a module for packages that load it by themselves, over a storage of
// their own, with the options of their host and of the plugin.
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
