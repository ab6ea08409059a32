package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
)

func newInspect(e env) *cobra.Command {
	f := &pluginFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "inspect X.wasm",
		Short:             "Show what a plugin is, what it wants, and what it would get",
		Args:              exactArgs("X.wasm"),
		ValidArgsFunction: completeModule,
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			l, err := openLoader(ctx, e, f, nil, nil, true)
			if err != nil {
				return err
			}
			defer l.close(context.WithoutCancel(ctx))
			l.look = true
			p, err := l.loadOnly(ctx, args[0], true)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return show(e, asJSON, p.Info(), ui.Info)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.register(cmd)
	return cmd
}
