package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/daemon"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
)

const (
	// idleTime is how long a server in the background goes on when nobody asks for anything.
	idleTime = 30 * time.Minute
	// startTime is how long a started server may take to answer.
	startTime = 10 * time.Second
)

// alone is the state folder, for a flag that stands for another way to run and takes few others.
func (f *serveFlags) alone(c *cobra.Command, e env, flag string, with ...string) (dir string, err error) {
	c.Flags().Visit(func(other *pflag.Flag) {
		if other.Name != flag && !slices.Contains(with, other.Name) {
			err = ui.Usagef("serve --%s takes --%s alone, and no --%s", flag, strings.Join(with, ", --"), other.Name)
		}
	})
	switch dir = cmp.Or(f.state, e.stateHome); {
	case err != nil:
	case dir == "":
		err = state.NoHome()
	case dir == state.InMemory:
		err = ui.Usagef("serve --%s: --state %s has no socket: give a folder", flag, dir)
	}
	return dir, err
}

// end ends the server of the state folder, and waits for it.
func (f *serveFlags) end(c *cobra.Command, e env) error {
	dir, err := f.alone(c, e, "stop", "state")
	if err != nil {
		return err
	}
	switch err := daemon.Stop(c.Context(), dir); {
	case errors.Is(err, daemon.ErrNone):
		return ui.Usagef("serve --stop: %w", err)
	case err != nil:
		return err
	}
	e.say("the server of " + dir + " has ended")
	return nil
}

// background has a server run by itself, unless one runs already. It goes by no configuration: plugs have settings of
// their own, and the folder that this is called from may be anybody's.
func (f *serveFlags) background(c *cobra.Command, e env) error {
	dir, err := f.alone(c, e, "background", "idle", "state", "json")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), startTime)
	defer cancel()
	client, err := daemon.Start(ctx, dir, cmp.Or(f.idle, idleTime), "--no-config")
	if err != nil {
		return err
	}
	client.Close()
	return show(e, f.asJSON, daemon.Address{Socket: daemon.Socket(dir)}, func(p ui.Printer, a daemon.Address) {
		p.Linef("listening on %s", a.Socket)
	})
}

// place takes the state folder. A server in the background gives it up to one that a person starts, which the plugs ask
// from then on.
func (f *serveFlags) place(ctx context.Context, e env) (*state.Served, error) {
	if f.listen != "none" {
		if _, err := net.ResolveTCPAddr("tcp", f.listen); err != nil {
			return nil, unusableListen(f.listen, err)
		}
	}
	place, err := state.Serve(f.state, e.stateHome, e.say)
	dir := cmp.Or(f.state, e.stateHome)
	if abi.CodeOf(err) == abi.CodeBusy && !f.onDemand && state.Background(dir) {
		e.say("the server in the background ends, and this one answers in its place")
		if serr := daemon.Stop(ctx, dir); serr != nil && !errors.Is(serr, daemon.ErrNone) {
			return nil, errors.Join(err, serr)
		}
		place, err = state.Serve(f.state, e.stateHome, e.say)
	}
	if err == nil && f.onDemand {
		err = place.Yield()
	}
	return place, err
}

// outdated is closed when the program of a server that was started on demand is another one than at its start, as the
// next who needs a server gets one of that; or when its socket is gone, so that nobody finds it.
func (f *serveFlags) outdated(ctx context.Context, socket string) <-chan struct{} {
	self, err := os.Executable()
	if !f.onDemand || socket == "" || err != nil {
		return nil
	}
	was, err := os.Stat(self)
	listens, serr := os.Lstat(socket)
	if err != nil || serr != nil {
		return nil
	}
	same := func() bool {
		now, err := os.Stat(self)
		if err != nil || !os.SameFile(was, now) || !now.ModTime().Equal(was.ModTime()) || now.Size() != was.Size() {
			return false
		}
		its, err := os.Lstat(socket)
		return err == nil && os.SameFile(listens, its)
	}
	other := make(chan struct{})
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if !same() {
				close(other)
				return
			}
		}
	}()
	return other
}
