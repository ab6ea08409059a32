package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/retained"
	"github.com/kagewasm/kagewasm/store/kv"
)

func newMemoryDelete(e env) *cobra.Command {
	f, all := &memoryFlags{}, false
	cmd := &cobra.Command{
		Use:   "delete PLUGIN [KEY...]",
		Short: "Delete some or all of what a plugin keeps, and the copies of it",
		Long: `Delete the values of these keys, or with --all of all. A KEY that ends with a slash means
all that begin with it. What a plugin retained the host keeps as well, below retained/ in
the same place: the copies of what the values say go with them. All is deleted, or nothing.
The keys are those of kagewasm memory export, whose files are named after them.

PLUGIN is a plugin's name, or a namespace as kagewasm memory list shows it.`,
		Example: `  kagewasm memory delete markdown memory/keep-the-port.md
  kagewasm memory delete hindsight banks/parcel/
  kagewasm memory delete markdown --all --agent main/reviewer`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || (len(args) == 1) != all {
				return ui.Usagef("memory delete: give PLUGIN and the keys, or PLUGIN and --all")
			}
			ns, err := f.namespace(args[0])
			if err != nil {
				return err
			}
			if there, err := f.read(c.Context(), e); err != nil {
				return err // nothing is made for who deletes
			} else if err := there.Close(); err != nil {
				return err
			}
			kept, err := f.open(c.Context(), e)
			if err != nil {
				return err
			}
			defer kept.Close()
			done, err := forget(c.Context(), kept, ns, args[1:])
			if err != nil {
				return err
			}
			return show(e, f.asJSON, done, ui.Forgot)
		},
	}
	f.registerAgent(cmd)
	cmd.ValidArgsFunction = completeFirst(func() []string { return f.plugins(e) })
	cmd.Flags().BoolVar(&all, "all", false, "delete all that it keeps")
	return cmd
}

// forget deletes the values of keys, of all where none is named, with the copies of them.
func forget(ctx context.Context, kept state.Memory, ns string, names []string) (*ui.Forgotten, error) {
	there, err := kept.List(ctx, ns, "")
	if err != nil {
		return nil, err
	}
	done := &ui.Forgotten{Namespace: ns, Keys: there, Copies: []string{}}
	if len(names) > 0 {
		done.Keys = nil
	}
	for _, name := range names {
		found := lists.Filter(there, func(key string) bool {
			return key == name || strings.HasSuffix(name, "/") && strings.HasPrefix(key, name)
		})
		if len(found) == 0 {
			return nil, ui.Usagef("%s: %s keeps no such key: kagewasm memory export shows what it keeps", name, ns)
		}
		done.Keys = append(done.Keys, found...)
	}
	if len(done.Keys) == 0 {
		return nil, ui.Usagef("nothing is stored under %s", ns)
	}
	slices.Sort(done.Keys)
	done.Keys = slices.Compact(done.Keys)
	copies, err := retained.Copies(ctx, kept, ns, done.Keys...)
	if err != nil {
		return nil, err
	}
	done.Copies = append(done.Copies, lists.Filter(copies, func(key string) bool {
		return !slices.Contains(done.Keys, key)
	})...)
	changes := lists.Map(slices.Concat(done.Keys, done.Copies), func(key string) kv.Change {
		return kv.Change{Key: key, Delete: true}
	})
	if err := kept.Apply(ctx, ns, changes); err != nil {
		return nil, err
	}
	return done, state.Scrub(ctx, kept)
}
