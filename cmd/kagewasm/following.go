package main

import (
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/trust"
	"github.com/kagewasm/kagewasm/config"
)

// following is a configuration that is read again when it changes. One that cannot be read, or that nobody trusts,
// changes nothing. It is not safe for concurrent use.
type following struct {
	e       env
	live    *config.Live           // nil until there is a file
	find    func() (string, error) // looks for one
	named   bool                   // by a flag: it is trusted then
	warn    func(error)            // is told once why the files as they are now are not used
	now     *config.Config         // the one that holds
	problem string                 // why the files as they are now are not used
}

// followed follows a configuration that was read, or waits for one where there is no file yet; it is nil where none is
// to be used.
func followed(e env, f *configFlag, c *config.Config, warn func(error)) (*following, error) {
	switch {
	case f.off:
		return nil, nil
	case c == nil || c.Digest == "":
		return &following{e: e, find: f.find, warn: warn}, nil
	}
	live, err := config.Follow(c.File)
	if err != nil {
		return nil, err
	}
	following := &following{e: e, live: live, named: f.path != "", warn: warn}
	if following.now, err = live.Current(); err == nil {
		err = following.usable(following.now)
	}
	return following, err
}

// usable is an error for a configuration that nobody trusts, or that names plugins for what their manifests do not
// allow. What is set on top of one is held to the manifests only after that.
func (f *following) usable(c *config.Config) error {
	if !f.named {
		if err := (trust.List{Dir: f.e.stateHome}).Check(c); err != nil {
			return err
		}
	}
	return c.CheckManifests(f.e.manifestOf)
}

// current is the configuration as it is now: the last one that could be used.
func (f *following) current() *config.Config {
	if f == nil || f.live == nil && !f.found() {
		return nil
	}
	c, err := f.live.Current()
	if err == nil && c != f.now {
		if err = f.usable(c); err != nil {
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

// found reports whether there is a file by now that can be read.
func (f *following) found() bool {
	path, err := f.find()
	if err != nil {
		return false
	}
	if f.live, err = config.Follow(path); err != nil && err.Error() != f.problem {
		f.problem = err.Error()
		f.warn(err)
	}
	return err == nil
}
