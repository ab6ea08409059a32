package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/internal/folder"
)

func newMemoryExport(e env) *cobra.Command {
	f, o := &memoryFlags{}, folder.ExportOptions{}
	cmd := &cobra.Command{
		Use:   "export PLUGIN DIR",
		Short: "Copy what a plugin keeps to a folder",
		Long: `Write each value that a plugin keeps as a file below DIR, byte for byte. A DIR
that is not there is made, and is there as a whole or not at all. One that holds
something already is refused; with --force files of the same names are replaced,
and all others stay.

PLUGIN is a plugin's name, or a namespace as kagewasm memory list shows it.`,
		Example: `  kagewasm memory export markdown notes
  kagewasm memory export markdown notes --agent main/reviewer`,
		Args: exactArgs("PLUGIN", "DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			ns, err := f.namespace(args[0])
			if err != nil {
				return err
			}
			kv, err := f.read(c.Context(), e)
			if err != nil {
				return err
			}
			defer kv.Close()
			r, err := folder.Export(c.Context(), kv, ns, args[1], o)
			if err != nil {
				return err
			}
			if err := f.showCopy(e, "exported "+ns+" to "+r.Dir, r); err != nil {
				return err
			}
			if n := r.Count(folder.Skipped); n > 0 {
				return fmt.Errorf("memory export: %d of %d values could not be read", n, len(r.Files))
			}
			return nil
		},
	}
	f.registerAgent(cmd)
	cmd.ValidArgsFunction = completeFirst(func() []string { return f.plugins(e) })
	cmd.Flags().BoolVar(&o.Force, "force", false,
		"write into a folder that holds something: replace files of the same names, leave the others")
	return cmd
}
