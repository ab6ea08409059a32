package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
)

func newMemoryCheck(e env) *cobra.Command {
	return newExamination(e, state.Check, &cobra.Command{
		Use:   "check",
		Short: "Say what is wrong with what plugins keep, and with its folder",
		Long: `Look at whose the folder of a state is and how it is sealed, at the records of
whose data each namespace is, and at every value: whether it can be read, and
whether those with checksums are whole. Nothing is changed. The exit code is 1
where something is wrong.`,
		Example: "  kagewasm memory check\n  kagewasm memory check --state DIR --json",
	})
}

func newMemoryRepair(e env) *cobra.Command {
	return newExamination(e, state.Repair, &cobra.Command{
		Use:   "repair",
		Short: "Repair what kagewasm memory check finds, as far as that can be",
		Long: `Do what kagewasm memory check says of each problem: take a folder for your own
that was not sealed by you on this machine, without the compiled code in it; put
copies in the place of values that are missing or damaged; rebuild a bank of
memories from what is left, where its root and the copy are gone; and keep data of
which nobody can tell any more whose it is for the plugin that you adopt
(--adopt NAME).
Look at a folder first that came from somewhere else: what is in it goes to
models. The exit code is 1 where something is left.`,
		Example: "  kagewasm memory repair\n  kagewasm memory repair --state DIR",
	})
}

// newExamination makes a command that looks through a state.
func newExamination(
	e env, examine func(ctx context.Context, dir, home string) (*ui.Health, error), cmd *cobra.Command,
) *cobra.Command {
	f := &memoryFlags{}
	cmd.Args = exactArgs()
	cmd.RunE = func(c *cobra.Command, _ []string) error {
		dir, err := f.dir(e)
		if err != nil {
			return err
		}
		if info, err := os.Stat(dir); err != nil {
			return ui.Usagef("no plugin has kept anything in %s: there is no such state: %w", dir, err)
		} else if !info.IsDir() {
			return ui.Usagef("%s is not a folder, so it is no state: give one with --state DIR", dir)
		}
		health, err := examine(c.Context(), dir, e.stateHome)
		if err != nil {
			return err
		}
		if err := show(e, f.asJSON, health, ui.Healthy); err != nil {
			return err
		}
		if n := health.Left(); n > 0 {
			return fmt.Errorf("memory %s: %s in %s", c.Name(), ui.Plural(n, "problem"), dir)
		}
		return nil
	}
	f.register(cmd)
	return cmd
}
