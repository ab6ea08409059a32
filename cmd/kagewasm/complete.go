package main

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/store/kv"
	"github.com/kagewasm/kagewasm/tokens"
)

// complete says which values a flag has.
func complete(c *cobra.Command, flag string, values ...string) {
	completeBy(c, flag, func() []string { return values })
}

// completeBy is complete for values that have to be looked up.
func completeBy(c *cobra.Command, flag string, values func() []string) {
	_ = c.RegisterFlagCompletionFunc(flag,
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
}

// completeParts is for a flag whose values are NAME=VALUE: it says which names there are.
func completeParts(c *cobra.Command, flag string, names func() []string) {
	_ = c.RegisterFlagCompletionFunc(flag,
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return lists.Map(names(), func(name string) string { return name + "=" }),
				cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		})
}

// completeFirst says which values the first argument of a command has; others are files.
func completeFirst(values func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return values(), cobra.ShellCompDirectiveNoFileComp
	}
}

// models are the aliases of the configuration and the models that are known.
func (f *compactFlags) models() []string {
	names := tokens.Default().Names()
	if conf, err := f.load(); err == nil && !f.off {
		names = append(slices.Sorted(maps.Keys(conf.Models)), names...)
	}
	return names
}

// agents are the paths of the agents in the configuration, but for the main one, whose
// path is empty.
func (f *configFlag) agents() []string {
	conf, err := f.load()
	if err != nil {
		return nil
	}
	return conf.Agents()[1:]
}

// settings are the names of all settings.
func (f *configFlag) settings() []string {
	conf, err := config.None(".")
	if err != nil {
		return nil
	}
	x, err := conf.Explain("")
	if err != nil {
		return nil
	}
	return lists.Map(x.Settings, func(s config.Setting) string { return s.Name })
}

// plugins are the namespaces in which something is kept.
func (f *memoryFlags) plugins(e env) []string {
	kept, err := f.read(context.Background(), e)
	if err != nil {
		return nil
	}
	defer kept.Close()
	spaces, err := kept.Spaces(context.Background())
	if err != nil {
		return nil
	}
	return lists.Map(spaces, func(s kv.Space) string { return s.Name })
}
