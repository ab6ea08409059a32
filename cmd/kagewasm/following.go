package main

import (
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/trust"
	"github.com/kagewasm/kagewasm/config"
)

// following is a configuration that is read again when it changes. One that cannot be read, or that nobody trusts,
// changes nothing. It is not safe for concurrent use.
type following struct {
	e       env
	live    *config.Live
	named   bool           // by a flag: it is trusted then
	warn    func(error)    // is told once why the files as they are now are not used
	now     *config.Config // the one that holds
	problem string         // why the files as they are now are not used
}

// followed follows a configuration that was read; it is nil where there is no file.
func followed(e env, f *configFlag, c *config.Config, warn func(error)) (*following, error) {
	if c == nil || c.Digest == "" {
		return nil, nil
	}
	live, err := config.Follow(c.File)
	return &following{e: e, live: live, named: f.path != "", warn: warn}, err
}

// current is the configuration as it is now: the last one that could be used.
func (f *following) current() *config.Config {
	if f == nil {
		return nil
	}
	c, err := f.live.Current()
	if err == nil && f.now != nil && c != f.now {
		if !f.named {
			err = trust.List{Dir: f.e.stateHome}.Check(c)
		}
		if err == nil {
			err = c.CheckManifests(f.e.manifestOf)
		}
		if err != nil {
			c = f.now
		}
	}
	if err != nil && err.Error() != f.problem {
		f.warn(err)
	}
	f.problem = ""
	if err != nil {
		f.problem = err.Error()
	}
	f.now = c
	return c
}
