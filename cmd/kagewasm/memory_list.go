package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/store/kv"
)

func newMemoryList(e env) *cobra.Command {
	f := &memoryFlags{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show which plugins keep something, for which agents, and how much",
		Args:  exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			spaces := []kv.Space{}
			kept, err := f.read(c.Context(), e)
			switch {
			case err == nil:
				defer kept.Close()
				list, err := kept.Spaces(c.Context())
				if err != nil {
					return err
				}
				spaces = append(spaces, list...)
			case f.state+f.database != "" || !errors.Is(err, fs.ErrNotExist): // the platform's folder need not be there yet
				return err
			}
			return show(e, f.asJSON, spaces, ui.Spaces)
		},
	}
	f.registerDatabase(cmd)
	return cmd
}
