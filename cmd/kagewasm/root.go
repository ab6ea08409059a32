package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
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
		return exitOK
	}
	printError(e, err)
	return exitCode(err)
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
				return usagef("unknown command %q (see kagewasm --help)", args[0])
			}
			return c.Help()
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%s: %w (see %s --help)", c.Name(), err, c.CommandPath())}
	})
	root.AddCommand(
		newCompact(e), newInit(e), newConfig(e), newMemory(e),
		newNew(e), newBuild(e), newInspect(e), newRun(e), newVerify(e), newBench(e), newDev(e), newDiff(e),
		newEval(e), newVersion(e),
	)
	return root
}

// usageError is a command line that makes no sense.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// usageCodes are failures of what the person gave us: nothing was run.
var usageCodes = map[abi.Code]bool{abi.CodeUsage: true, abi.CodeBadInput: true, abi.CodeRefused: true}

func exitCode(err error) int {
	var u usageError
	if errors.As(err, &u) || usageCodes[abi.CodeOf(err)] {
		return exitUsage
	}
	return exitFailure
}

// printError says what went wrong, where, and what to do.
func printError(e env, err error) {
	p := printer{w: e.stderr, color: e.color}
	// What a plugin says of itself must not look like lines of ours.
	text := strings.ReplaceAll(abi.Defuse(err.Error()), "\n", "\n    | ")
	p.linef("%s %s", p.paint(red, "kagewasm:"), text)
	var a *abi.Error
	if errors.As(err, &a) && a.Hint != "" {
		p.linef("  %s", p.paint(dim, abi.Defuse(a.Hint)))
	}
}

// exactArgs is cobra.ExactArgs with an error that names what is missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return usagef("%s: got %d arguments, want %d: %s", c.Name(), len(args), len(names), strings.Join(names, " "))
	}
}
