package main

import (
	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/store"
)

func newStats(e env) *cobra.Command {
	f := &storeFlags{}
	cmd := &cobra.Command{
		Use:   "stats [ID]",
		Short: "Show the figures of all compactions, or of those of a session",
		Args:  oneArgOrNone("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.with(c.Context(), e, func(s *store.Store) error {
				key, err := meantKey(c.Context(), s, argOr(args, ""))
				if err != nil {
					return err
				}
				st, err := s.Stats(c.Context(), key)
				if err != nil {
					return err
				}
				return show(e, f.asJSON, st, ui.Stats)
			})
		},
	}
	f.register(cmd)
	return cmd
}
