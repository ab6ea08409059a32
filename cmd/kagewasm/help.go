package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// showHelp prints the help of a command: in paragraphs as wide as the terminal, and flags
// with what they are about in a column beside them, or below where there is no room.
func showHelp(e env) func(*cobra.Command, []string) {
	return func(c *cobra.Command, _ []string) {
		p := e.out()
		usage := strings.TrimRight(c.UsageString(), "\n")
		if !slices.Contains(e.named().Names(), "markdown") { // a build from sources has no plugins inside
			usage = strings.NewReplacer("--plugin markdown", "--plugin build/markdown.wasm", "run markdown ",
				"run build/markdown.wasm ").Replace(usage)
		}
		for _, flags := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
			if p.Width > 0 && flags.HasFlags() {
				usage = strings.Replace(usage, strings.TrimRight(flags.FlagUsages(), " \n"),
					strings.TrimRight(flags.FlagUsagesWrapped(p.Width), " \n"), 1)
			}
		}
		p.Paragraphs(cmp.Or(strings.TrimSpace(c.Long), c.Short))
		p.Linef("")
		for line := range strings.SplitSeq(usage, "\n") {
			p.Linef("%s", strings.TrimRight(line, " "))
		}
	}
}

// newHelp is cobra's help command, but for topics that are not there: they are errors,
// as the commands of that name would be.
func newHelp(e env) *cobra.Command {
	help := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(c *cobra.Command, args []string) error {
			topic, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknown(topic, args[len(args)-max(len(rest), 1)])
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			topic, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, sub := range topic.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	help.AddCommand(newMan(e))
	return help
}
