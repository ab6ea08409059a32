package main

import (
	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/config"
)

func newInit(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a commented kagewasm.yaml and the default prompt",
		Long: `Write a configuration in which every setting stands with its default, commented
out, its JSON Schema for editors, and the prompt of summaries, which is yours
from then on. DIR is the current folder by default. What is there is never
written over. Once it names models or plugins it is used after kagewasm config
trust.`,
		Args: oneArgOrNone("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			wrote, err := config.Init(argOr(args, "."))
			p := e.out()
			for _, path := range wrote {
				p.Linef("wrote %s", path)
			}
			if err == nil {
				p.Linef("edit it; in a repository run kagewasm config trust once it names models or plugins, and again after each change")
			}
			return err
		},
	}
}

// oneArgOrNone is cobra.MaximumNArgs(1) with an error that names what could be
// there.
func oneArgOrNone(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return ui.Usagef("%s: got %d arguments, want at most one: %s", c.Name(), len(args), name)
		}
		return nil
	}
}

// argOr is the argument of a command that can do without.
func argOr(args []string, def string) string {
	if len(args) == 0 {
		return def
	}
	return args[0]
}
