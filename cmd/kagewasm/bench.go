package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/bench"
	"github.com/kagewasm/kagewasm/runtime"
)

type benchFlags struct {
	pluginFlags
	configFlag
	sessionFlags
	input    string
	sessions []string
	n        int
	save     string
	baseline string
	failOver []string
	asJSON   bool
}

// defaultFailOver is the ratio of fuel to that of the baseline over which
// --fail-over fails.
const defaultFailOver = 1.10

func newBench(e env) *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench X.wasm [HOOK]",
		Short: "Measure what a plugin's calls take, and compare with a baseline",
		Long: `Call a hook again and again, over an empty storage each time, and show the time
of calls (on an instance made for the call, and on one that was waiting), fuel,
memory, output and host calls. Without an input it measures generated sessions of
three sizes.

--save keeps the figures, and --baseline compares with those that were kept: fuel,
memory and output exactly, times by their medians where the difference is more
than the spread of the calls. Exit code 1 where a figure is worse than
--fail-over allows, or where --fail-over is given and an input of the baseline
was not measured; 2 where there is nothing to compare.`,
		Example: `  kagewasm bench build/markdown.wasm
  kagewasm bench mine.wasm pre_compact --session session.jsonl --save bench.json
  kagewasm bench mine.wasm --session session.jsonl --baseline bench.json --fail-over 1.05 --fail-over warm=2`,
		Args:              argCount(1, 2, "X.wasm and perhaps a hook"),
		ValidArgsFunction: e.completeModuleAndHook,
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), e, args[0], argOr(args[1:], ""))
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&f.input, "input", "i", "", "`FILE` with the input document, - for standard input")
	fs.StringArrayVar(&f.sessions, "session", nil, "make an input of the session in `FILE`; may be repeated")
	f.sessionFlags.register(cmd)
	fs.IntVarP(&f.n, "n", "n", 50, "measure `N` calls of each kind on each input")
	fs.StringVar(&f.save, "save", "", "keep the figures in `FILE`")
	fs.StringVar(&f.baseline, "baseline", "", "compare with the figures in `FILE`, which --save kept")
	fs.StringArrayVar(&f.failOver, "fail-over", nil, fmt.Sprintf("exit with 1 where a figure is more than `RATIO` of "+
		"the baseline's: a number is for fuel (default %.2f); memory=, output=, warm= and cold= are for others; may be "+
		"repeated", defaultFailOver))
	fs.BoolVar(&f.asJSON, "json", false, "print JSON")
	f.pluginFlags.register(cmd)
	f.cassette.register(cmd)
	f.configFlag.registerUsed(cmd)
	return cmd
}

func (f *benchFlags) run(ctx context.Context, e env, path, hook string) error {
	limits, err := f.limitsOver()
	if err != nil {
		return err
	}
	if f.n < 1 {
		return ui.Usagef("--n %d: give a number from 1", f.n)
	}
	reads := []files.File{pluginFile("X.wasm", path), files.Named("-i", f.input)}
	for _, s := range f.sessions {
		reads = append(reads, files.Named("--session", s))
	}
	if err := files.CheckOutputs(reads, files.Named("--save", f.save), f.cassette.output()); err != nil {
		return err
	}
	var before *bench.Figures
	if f.baseline != "" {
		if before, err = bench.ReadFigures(f.baseline); err != nil {
			return err
		}
	}
	progress := e.progress()
	defer progress.Done()
	r, err := f.measure(ctx, e, path, hook, progress)
	progress.Done()
	if err = errors.Join(err, f.cassette.finish(e)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	report := ui.Bench{Figures: r}
	if before != nil {
		c := bench.Compare(before, r)
		report.Baseline, report.Worse = &c, c.Over(limits)
	}
	if f.save != "" {
		doc, err := r.Encode()
		if err != nil {
			return err
		}
		if err := files.Write(f.save, doc); err != nil {
			return err
		}
	}
	if err := show(e, f.asJSON, &report, ui.Measured); err != nil {
		return err
	}
	return f.verdict(&report, limits)
}

// verdict is the failure of a plugin that takes more than its baseline, or of a
// comparison that cannot tell.
func (f *benchFlags) verdict(r *ui.Bench, limits map[string]float64) error {
	switch {
	case r.Baseline == nil:
		return nil
	case len(r.Baseline.Changes) == 0:
		return &abi.Error{Code: abi.CodeBadInput, Op: "bench",
			Message: fmt.Sprintf("%s: nothing to compare: %s", f.baseline, strings.Join(r.Baseline.Notes, "; ")),
			Hint:    "name the inputs, the hook and the engine of the baseline, or make another one with --save"}
	case len(r.Worse) > 0:
		return ui.Worse(r.Worse, limits)
	case len(f.failOver) > 0 && len(r.Baseline.Missing) > 0:
		return fmt.Errorf("--fail-over: not compared, but in %s: %s", f.baseline, strings.Join(r.Baseline.Missing, ", "))
	}
	return nil
}

// limitsOver are the ratios of --fail-over, by measure.
func (f *benchFlags) limitsOver() (map[string]float64, error) {
	limits := map[string]float64{"fuel": defaultFailOver}
	for _, s := range f.failOver {
		name, value, named := strings.Cut(s, "=")
		if !named {
			name, value = "fuel", s
		}
		ratio, err := strconv.ParseFloat(value, 64)
		if err != nil || ratio < 1 || !slices.Contains(bench.Measures, name) {
			return nil, ui.Usagef("--fail-over %s: give a ratio from 1, as 1.10 or memory=1.2; there are %s", s,
				strings.Join(bench.Measures, ", "))
		}
		limits[name] = ratio
	}
	return limits, nil
}

func (f *benchFlags) measure(
	ctx context.Context, e env, path, hook string, progress *ui.Progress,
) (*bench.Figures, error) {
	if f.input != "" && len(f.sessions) > 0 {
		return nil, ui.Usagef("-i %s and --session %s: give one of them", f.input, f.sessions[0])
	}
	l, err := f.openAuthor(ctx, e, &f.configFlag)
	if err != nil {
		return nil, err
	}
	defer l.close(context.WithoutCancel(ctx))
	module, host, opts, err := l.host(path)
	if err != nil {
		return nil, err
	}
	inputs, err := f.inputs(ctx, e, l, module, hook)
	if err != nil {
		return nil, err
	}
	return bench.Run(ctx, module, bench.Options{
		Runtime: host, Plugin: opts, Hook: abi.Hook(hook), Inputs: inputs, N: f.n,
		Progress: func(input string) { progress.Step("measuring %s: %s", filepath.Base(path), input) },
	})
}

// inputs makes the inputs that the flags name, nil for none.
func (f *benchFlags) inputs(
	ctx context.Context, e env, l *loader, m *runtime.Module, hook string,
) ([]bench.Input, error) {
	if f.input == "" && len(f.sessions) == 0 {
		return nil, nil
	}
	p, err := l.loadModule(ctx, m, l.options(false))
	if err != nil {
		return nil, err
	}
	defer p.Close(context.WithoutCancel(ctx))
	if f.input != "" {
		doc, err := files.Read(ctx, e.stdin, f.input)
		return []bench.Input{{Name: inputName(f.input), Doc: withConfig(doc, p.Info().Config)}}, err
	}
	if hook == "" && len(p.Hooks()) > 0 {
		hook = string(p.Hooks()[0])
	}
	named, err := hookNamed(hook, p)
	if err != nil {
		return nil, err
	}
	var list []bench.Input
	for _, session := range f.sessions {
		in, _, err := f.hookInput(ctx, e, l.conf, session, named, p)
		if err != nil {
			return nil, err
		}
		in.Time, in.Call = benchTime, "bench"
		list = append(list, bench.Input{Name: inputName(session), In: in})
	}
	return list, nil
}

// inputName tells an input from others, on every system alike.
func inputName(path string) string { return filepath.ToSlash(filepath.Clean(path)) }

// benchTime is the time in inputs that are measured: the same input is the same
// document in every run.
const benchTime = "2026-01-01T00:00:00Z"
