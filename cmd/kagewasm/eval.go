package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/evidence"
	"github.com/kagewasm/kagewasm/tokens"
)

func newEval(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure memory against labelled data",
		Args:  exactArgs(),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.AddCommand(newEvalRecall(e))
	return cmd
}

type evalFlags struct {
	pluginFlags
	plugin string
	budget int
	unit   string
	asJSON bool
}

func newEvalRecall(e env) *cobra.Command {
	f := &evalFlags{}
	cmd := &cobra.Command{
		Use:   "recall DATASET...",
		Short: "How much of the evidence that questions need is brought back",
		Long: `Give a memory the conversations of DATASET (files of LoCoMo or LongMemEval, or
folders of them) session by session, ask it every question, and compare what
it brings back with the labelled evidence. No model takes part.

The memory is the project's own ranking, or a plugin in the sandbox: what its
pre_compact retains of each session, and what a later pre_compact injects for
the question. Each conversation starts from an empty memory. Knobs of a plugin
that bound the tokens it injects are turned up to their end, unless --knob
sets them: the figures at 12% and at --budget cut what comes back. They cut it
in whole turns, or with --unit passage in the passages of long turns that come
back: of a plugin what it injects from one message's id to the next.`,
		Example: `  kagewasm eval recall locomo10.json
  kagewasm eval recall locomo/ --plugin build/hindsight.wasm --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return ui.Usagef("%s: name a file of LoCoMo or LongMemEval, or a folder of them", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), e, args) },
	}
	cmd.Flags().StringVar(&f.plugin, "plugin", "",
		"measure this plugin, `X.wasm` or its name, through its hooks (default: the project's own ranking)")
	_ = cmd.RegisterFlagCompletionFunc("plugin", e.completePlugin)
	cmd.Flags().IntVar(&f.budget, "budget", evidence.DefaultBudget,
		"how many `TOKENS` of turns to look at, beside the fixed figures")
	units := []string{string(evidence.UnitTurn), string(evidence.UnitPassage)}
	cmd.Flags().StringVar(&f.unit, "unit", units[0],
		"count and fill budgets with whole turns (turn), or with what is brought back of them (passage)")
	complete(cmd, "unit", units...)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	f.register(cmd)
	return cmd
}

func (f *evalFlags) run(ctx context.Context, e env, paths []string) error {
	if f.budget < 1 {
		return ui.Usagef("--budget %d: give a number of tokens from 1", f.budget)
	}
	unit := evidence.Unit(f.unit)
	if unit != evidence.UnitTurn && unit != evidence.UnitPassage {
		return ui.Usagef("--unit %s: give %s or %s", f.unit, evidence.UnitTurn, evidence.UnitPassage)
	}
	list, err := evidence.Read(paths...)
	if err != nil {
		return err
	}
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		return err
	}
	progress := e.progress()
	defer progress.Done()
	n := 0
	opts := evidence.Options{Counter: counter, Budget: f.budget, Unit: unit, Progress: func(d *evidence.Dataset) {
		n++
		progress.Step("conversation %d of %d, %s", n, len(list), abi.Defuse(d.ID))
	}}
	report := ui.Eval{Memory: "ranking"}
	opts.Memory = func(context.Context, *evidence.Dataset) (evidence.Memory, error) {
		return &evidence.Ranking{Passages: unit == evidence.UnitPassage}, nil
	}
	var m *measured
	if f.plugin != "" {
		if m, err = f.openMeasured(ctx, e, counter); err != nil {
			return err
		}
		defer m.close(context.WithoutCancel(ctx))
		report.Memory, opts.Memory = m.plugin.Manifest().Name, m.memory
	}
	if report.Result, err = evidence.Measure(ctx, list, opts); err != nil {
		return err
	}
	if m != nil {
		if report.EvalPlugin, err = m.report(ctx); err != nil {
			return err
		}
	}
	progress.Done()
	return show(e, f.asJSON, &report, ui.Recall)
}
