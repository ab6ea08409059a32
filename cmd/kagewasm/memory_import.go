package main

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/folder"
	"github.com/kagewasm/kagewasm/internal/near"
	"github.com/kagewasm/kagewasm/store/kv"
)

func newMemoryImport(e env) *cobra.Command {
	f, o := &memoryFlags{}, folder.ImportOptions{}
	cmd := &cobra.Command{
		Use:   "import PLUGIN DIR",
		Short: "Read a folder into what a plugin keeps",
		Long: `Store every text file in DIR and below under its name, where the plugin finds it
as if it were its own. Where another text of that name is stored already, both
are kept, the imported one beside it, or with --replace the imported one. Hidden
files, links and what is not text are skipped. All is stored, or nothing. What was
deleted in the folder stays stored, which is said: memory delete forgets it. Where
all is skipped the exit code is 2.

PLUGIN is a plugin's name, or a namespace as kagewasm memory list shows it.`,
		Example: `  kagewasm memory import markdown notes --dry-run
  kagewasm memory import markdown ~/.claude/projects/-home-me-parcel/memory`,
		Args: exactArgs("PLUGIN", "DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			ns, err := f.namespace(args[0])
			if err != nil {
				return err
			}
			kv, done, err := f.write(c.Context(), e, o.DryRun)
			if err != nil {
				return err
			}
			defer done()
			known := f.plugins(e)
			r, err := folder.Import(c.Context(), kv, ns, args[1], o)
			if err != nil {
				return err
			}
			if r.New && !slices.Contains(known, args[0]) && r.Count(folder.Skipped) < len(r.Files) {
				f.sayNew(e, args[0], known)
			}
			did := "imported "
			if r.DryRun {
				did = "would import "
			}
			err = f.showCopy(e, did+r.Dir+" into "+ns, r)
			if n := r.Count(folder.Skipped); err == nil && n > 0 && n == len(r.Files) {
				err = ui.Usagef("memory import: nothing of %s is a text that could be stored", r.Dir)
			}
			return err
		},
	}
	f.registerAgent(cmd)
	cmd.ValidArgsFunction = completeFirst(func() []string { return f.plugins(e) })
	cmd.Flags().BoolVar(&o.Replace, "replace", false, "let files take the place of stored values of the same name")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "store nothing, and say what would be")
	return cmd
}

// sayNew says that nothing was stored for a name before, where no plugin of that name is there either: it may be a
// slip.
func (f *memoryFlags) sayNew(e env, name string, known []string) {
	says := "nothing was stored for " + name + " before"
	own, _, _ := strings.Cut(name, "@")
	switch meant := near.To(name, known, 1); {
	case meant != nil:
		says += ": did you mean " + meant[0] + "?"
	case slices.Contains(e.named().Names(), own):
		return
	default:
		says += ": it is for a plugin of this name, and kagewasm memory delete " + name + " --all forgets it"
	}
	e.say(says)
}

// write opens what is kept to change it, and makes it where it is not there. A
// trial makes nothing: without a state it is over an empty one.
func (f *memoryFlags) write(ctx context.Context, e env, trial bool) (to folder.KV, done func() error, err error) {
	open := f.open
	if trial {
		open = f.read
	}
	kept, err := open(ctx, e)
	switch {
	case trial && errors.Is(err, fs.ErrNotExist):
		return kv.NewMemory(kv.Options{}), func() error { return nil }, nil
	case err != nil:
		return nil, nil, err
	}
	return kept, kept.Close, nil
}
