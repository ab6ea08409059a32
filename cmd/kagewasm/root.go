package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
)

// doMain runs one command line and returns its exit code.
func doMain(ctx context.Context, args []string, e env) int {
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ui.ExitOK
	}
	ui.Error(e.err(), err)
	return ui.ExitCode(err)
}

func newRoot(e env) *cobra.Command {
	root := &cobra.Command{
		Use:   "kagewasm",
		Short: "Compact the context of LLM agents, with WebAssembly plugins taking part",
		Long: `kagewasm makes agent sessions fit their model again: it says what it did, checks
the result, and loses nothing on the way. Plugins are .wasm modules, held to
memory and time limits on every call.`,
		Version:       readVersion().Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return ui.Usagef("unknown command %q (see kagewasm --help)", args[0])
			}
			return c.Help()
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return ui.Usagef("%s: %w (see %s --help)", c.Name(), err, c.CommandPath())
	})
	root.AddCommand(
		newCompact(e), newInit(e), newConfig(e), newMemory(e),
		newNew(e), newBuild(e), newInspect(e), newRun(e), newVerify(e), newBench(e), newDev(e), newDiff(e),
		newEval(e), newVersion(e),
	)
	return root
}

// exactArgs is cobra.ExactArgs with an error that names what is missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return ui.Usagef("%s: got %d arguments, want %d: %s", c.Name(), len(args), len(names), strings.Join(names, " "))
	}
}
