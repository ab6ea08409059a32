package main

import (
	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/config"
)

func newInit(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a commented kagewasm.yaml and the default prompt",
		Long: `Write a configuration in which every setting stands with its default, commented
out, its JSON Schema for editors, and the prompt of summaries, which is yours
from then on. DIR is the current folder by default. What is there is never
written over, and what is missing is written beside it. Once it names models or plugins it is used after kagewasm config
trust.`,
		Args: oneArgOrNone("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			wrote, err := config.Init(argOr(args, "."))
			p := e.out()
			for _, path := range wrote {
				p.Linef("wrote %s", path)
			}
			if err == nil {
				p.Linef("edit it; in a repository run kagewasm config trust once it names models or plugins, and again after " +
					"each change")
			}
			return err
		},
	}
}
