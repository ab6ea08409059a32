package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
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
sets them: the figures at 12% and at --budget cut what comes back.`,
		Example: `  kagewasm eval recall locomo10.json
  kagewasm eval recall locomo/ --plugin build/hindsight.wasm --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s: name a file of LoCoMo or LongMemEval, or a folder of them", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), e, args) },
	}
	cmd.Flags().StringVar(&f.plugin, "plugin", "", "measure this `X.wasm`, through its hooks (default: the project's own ranking)")
	cmd.Flags().IntVar(&f.budget, "budget", evidence.DefaultBudget, "how many `TOKENS` of turns to look at, beside the fixed figures")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	f.register(cmd)
	return cmd
}

// evalReport is what `kagewasm eval recall --json` prints.
type evalReport struct {
	// Memory is "ranking", or the plugin's name.
	Memory string `json:"memory"`
	*evidence.Result
	*evalPlugin // where a plugin is measured
}

func (f *evalFlags) run(ctx context.Context, e env, paths []string) error {
	if f.budget < 1 {
		return usagef("--budget %d: give a number of tokens from 1", f.budget)
	}
	list, err := evidence.Read(paths...)
	if err != nil {
		return err
	}
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		return err
	}
	progress := newProgress(e)
	defer progress.done()
	n := 0
	opts := evidence.Options{Counter: counter, Budget: f.budget, Progress: func(d *evidence.Dataset) {
		n++
		progress.step("conversation %d of %d, %s", n, len(list), abi.Defuse(d.ID))
	}}
	report := evalReport{Memory: "ranking"}
	opts.Memory = func(context.Context, *evidence.Dataset) (evidence.Memory, error) { return new(evidence.Ranking), nil }
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
		if report.evalPlugin, err = m.report(ctx); err != nil {
			return err
		}
	}
	progress.done()
	if f.asJSON {
		return printJSON(e.stdout, report)
	}
	var text bytes.Buffer
	showEval(printer{w: &text, color: e.color}, &report)
	_, err = e.stdout.Write(text.Bytes())
	return err
}

func showEval(p printer, r *evalReport) {
	p.linef("%s: %d conversations, %s turns, %s questions with evidence", p.paint(bold, abi.Defuse(r.Memory)), r.Conversations, number(r.Turns), number(r.Questions))
	var t table
	t.head("turns", "questions", "R@5", "R@10", "R@25", "R@50", "at 12%", fmt.Sprintf("at %s t", number(r.Budget)), "")
	row := func(name string, c *evidence.Recall) {
		cells := []string{name, number(c.Questions)}
		for _, share := range []float64{c.R5, c.R10, c.R25, c.R50, c.At12Pct, c.AtBudget} {
			cells = append(cells, fmt.Sprintf("%.3f", share))
		}
		t.row(append(cells, "")...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.ByCategory)) {
		row(abi.Defuse(name), r.ByCategory[name])
	}
	row("overall", &r.Overall)
	t.print(p)
	s := &r.Sessions
	p.linef("  sessions: any of them in the first 5 %.3f, 10 %.3f; all of them %.3f, %.3f (%s questions)", s.Any5, s.Any10, s.All5, s.All10, number(s.Questions))
	if r.UnknownEvidence > 0 {
		p.field("warning", "%s", p.paint(yellow, fmt.Sprintf("questions name %s that are in no conversation: they count as not found", plural(r.UnknownEvidence, "turn"))))
	}
	if r.evalPlugin != nil {
		showMeasured(p, r.evalPlugin)
	}
}
