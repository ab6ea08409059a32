package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/daemon"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/store"
)

func newBreaker(e env) *cobra.Command {
	f := &storeFlags{}
	cmd := &cobra.Command{
		Use:   "breaker",
		Short: "Show the plugins that failed, and which of them are not called for a while",
		Long: `A plugin that fails three times in a row is left alone for five minutes, then tried
again; each trial that fails doubles that. What is known of a plugin holds for all
commands and servers on one state folder. breaker reset has a plugin called again
at once.`,
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List them: how often each failed in a row, and until when it is left alone",
		Args:  exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return f.with(c.Context(), e, func(s *store.Store) error {
				circuits, err := state.ReadCircuits(c.Context(), s)
				if err != nil {
					return err
				}
				circuits = slices.DeleteFunc(circuits, func(c hooks.Circuit) bool { return c.State == "closed" && c.Failures == 0 })
				return show(e, f.asJSON, &ui.Breakers{Plugins: append([]hooks.Circuit{}, circuits...)}, ui.BreakersShown)
			})
		},
	}
	f.register(list)
	group(cmd, list, newBreakerReset(e))
	return byItself(cmd, list)
}

func newBreakerReset(e env) *cobra.Command {
	f := &storeFlags{}
	cmd := &cobra.Command{
		Use:   "reset PLUGIN",
		Short: "Have a plugin called again at once: PLUGIN is its name, or the digest of its module",
		Args:  exactArgs("PLUGIN"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.with(c.Context(), e, func(s *store.Store) error {
				n, err := resetBreaker(c.Context(), s, cmp.Or(f.state, e.stateHome), args[0])
				if err == nil && n == 0 {
					err = ui.Usagef("nothing is known of a plugin %q that failed: kagewasm breaker list shows those that did", args[0])
				}
				if err != nil {
					return err
				}
				return show(e, f.asJSON, map[string]int{"reset": n}, func(p ui.Printer, done map[string]int) {
					p.Linef("%s of that name: called again from now on", ui.Plural(done["reset"], "module"))
				})
			})
		},
	}
	f.register(cmd)
	return cmd
}

// resetBreaker forgets what is known of a plugin, of all its versions, also by the server of
// the state folder, where one runs.
func resetBreaker(ctx context.Context, s *store.Store, dir, plugin string) (n int, err error) {
	circuits, err := state.ReadCircuits(ctx, s)
	for i := 0; i < len(circuits) && err == nil; i++ {
		if c := &circuits[i]; c.Plugin == plugin || c.Digest == plugin {
			n++
			err = state.DropCircuit(ctx, s, c.Digest)
			plugin = cmp.Or(c.Plugin, plugin)
		}
	}
	if err != nil {
		return n, err
	}
	client, err := daemon.Find(ctx, dir)
	if errors.Is(err, daemon.ErrNone) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	defer client.Close()
	err = client.Do(ctx, http.MethodDelete, "/plugins/"+url.PathEscape(plugin)+"/breaker", nil, nil)
	if abi.CodeOf(err) == "not_found" { // its configuration has no such plugin
		err = nil
	}
	return n, err
}
