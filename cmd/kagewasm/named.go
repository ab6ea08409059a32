package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/named"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// named has the plugins that are called by a name. They are a user's own whatever state a command works on.
func (e env) named() named.Shelf {
	if e.stateHome == "" {
		return named.Shelf{}
	}
	return named.Shelf{Dir: filepath.Join(e.stateHome, named.Folder)}
}

// pluginFlag adds the flag --plugin, which may be repeated.
func (e env) pluginFlag(c *cobra.Command, list *[]string, usage string) {
	c.Flags().StringArrayVar(list, "plugin", nil, usage+"; may be repeated")
	_ = c.RegisterFlagCompletionFunc("plugin", e.completePlugin)
}

// completePlugin completes a plugin: a name, or else a file.
func (e env) completePlugin(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	meant := lists.Filter(e.named().Names(), func(p string) bool { return strings.HasPrefix(p, typed) })
	if len(meant) == 0 {
		return []string{"wasm"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return meant, cobra.ShellCompDirectiveDefault
}

// completeModule completes the argument X.wasm.
func (e env) completeModule(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return e.completePlugin(c, args, typed)
}

// completeModuleAndHook completes the arguments X.wasm HOOK.
func (e env) completeModuleAndHook(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return e.completeModule(c, args, typed)
	}
	return strings.Split(ui.Joined(abi.Hooks), ", "), cobra.ShellCompDirectiveNoFileComp
}

// pluginFile is the file of a plugin; none where it is called by a name.
func pluginFile(what, ref string) files.File {
	if named.Is(ref) {
		return files.File{}
	}
	return files.Named(what, ref)
}
