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
		Use:   "inspect [X.wasm]",
		Short: "Show what a plugin is, what it wants, and what it would get",
		Long: `Show a plugin: a file, or one that has a name here. Without an argument, list those
that have a name: every command takes it in place of a file.`,
		Example: `  kagewasm inspect
  kagewasm inspect hindsight
  kagewasm inspect ./mine.wasm --grant http=api.example.com`,
		Args:              oneArgOrNone("X.wasm"),
		ValidArgsFunction: e.completeModule,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return show(e, asJSON, e.named().List(), ui.Plugins)
			}
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
