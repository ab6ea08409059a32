package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
)

// doMain runs one command line and returns its exit code.
func doMain(ctx context.Context, args []string, e env) int {
	root := newRoot(e, args)
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

func newRoot(e env, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "kagewasm",
		Short: "Compact the context of LLM agents, with WebAssembly plugins taking part",
		Long: `kagewasm makes agent sessions fit their model again: it says what it did, checks
the result, and loses nothing on the way. Plugins are .wasm modules, held to
memory and time limits on every call.`,
		Version:       readVersion().Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if slip, ok := misspelled(c, args); ok {
			return unknown(c, slip) // whose flag it is nobody knows
		}
		return badFlag(c, err)
	})
	root.SetHelpCommand(newHelp(e))
	root.SetHelpFunc(showHelp(e))
	group(root,
		newCompact(e), newInit(e), newConfig(e), newMemory(e), newRecall(e), newReplay(e),
		newSessions(e), newLost(e), newUndo(e), newApprove(e), newReject(e), newFlag(e), newStats(e), newAudit(e),
		newBreaker(e),
		newServe(e),
		newNew(e), newBuild(e), newInspect(e), newRun(e), newVerify(e), newBench(e), newDev(e), newDiff(e),
		newEval(e), newProxy(e), newMCP(e), newInstall(e), newUninstall(e), newDoctor(e), newHook(e), newTurnEnd(e),
		newVersion(e),
	)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		group(completion)
	}
	return root
}

// group makes a command of others: by itself it shows its help.
func group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2 // a slip or two
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknown(c, args[0])
		}
		return c.Help()
	}
	cmd.AddCommand(commands...)
	return cmd
}

// byItself has a command of others take the flags of one of them: where any is given it does what that does.
func byItself(cmd, one *cobra.Command) *cobra.Command {
	help := cmd.RunE
	cmd.Flags().AddFlagSet(one.Flags())
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 || c.Flags().NFlag() == 0 {
			return help(c, args)
		}
		return one.RunE(c, args)
	}
	return cmd
}

// misspelled is the argument that is no command of a group. Behind a flag that nobody
// knows it may be the flag's value, so there it has to be nearly a command.
func misspelled(group *cobra.Command, args []string) (arg string, found bool) {
	if !group.HasSubCommands() || group.Flags().NArg() > 0 {
		return group.Flags().Arg(0), group.HasSubCommands()
	}
	for _, arg := range args {
		near := group.SuggestionsFor(arg)
		switch {
		case arg == "", strings.HasPrefix(arg, "-"), arg == group.Name(), len(near) == 0:
			continue
		}
		return arg, !slices.Contains(near, arg)
	}
	return "", false
}

// unknown is the error of an argument that is no command of a group.
func unknown(group *cobra.Command, arg string) error {
	var names []string
	for _, c := range group.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if names == nil {
		return ui.Usagef("unknown command %q of %s: it has none (see %s --help)", arg, group.CommandPath(),
			group.CommandPath())
	}
	meant := "use " + strings.Join(names, ", ")
	if near := group.SuggestionsFor(arg); len(near) > 0 {
		meant = fmt.Sprintf("did you mean %s? (see %s --help)", strings.Join(near, " or "), group.CommandPath())
	}
	return ui.Usagef("unknown command %q of %s: %s", arg, group.CommandPath(), meant)
}

// argCount is cobra.RangeArgs with an error that says what is wanted.
func argCount(least, most int, want string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		return ui.Usagef("%s: got %d arguments, want %s", c.Name(), len(args), want)
	}
}

// exactArgs demands one argument for each name.
func exactArgs(names ...string) cobra.PositionalArgs {
	if len(names) == 0 {
		return argCount(0, 0, "none")
	}
	return argCount(len(names), len(names), fmt.Sprintf("%d: %s", len(names), strings.Join(names, " ")))
}

// oneArgOrNone allows one argument of that name.
func oneArgOrNone(name string) cobra.PositionalArgs { return argCount(0, 1, "at most one: "+name) }

// argOr returns the first argument, or def where there is none.
func argOr(args []string, def string) string {
	if len(args) == 0 {
		return def
	}
	return args[0]
}
