package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/kit/check"
)

type verifyFlags struct {
	pluginFlags
	configFlag
	rules  []string
	junit  string
	asJSON bool
}

func newVerify(e env) *cobra.Command {
	f := &verifyFlags{}
	cmd := &cobra.Command{
		Use:   "verify X.wasm",
		Short: "Check a plugin against the rules that every plugin keeps",
		Long: `Run a module in its sandbox through the conformance kit: sessions as odd as
real ones, documents that are none, knobs at their ends, nothing granted; whether
answers are the same every time, and what calls cost as sessions grow. What is
odd about the module and its manifest is said as a warning, and what the calls
used stands beside the limits.

A call has 10 seconds, unless --timeout-ms gives it more: a plugin that hangs would
keep you waiting for long.

What the plugin stores is in memory, and gone afterwards. Exit code 0: all rules
are kept; 1: one is broken; 2: the module cannot be loaded.`,
		Example: `  kagewasm verify build/markdown.wasm
  kagewasm verify mine.wasm --rule isolation --rule "no bytes"
  kagewasm verify mine.wasm --grant http=api.example.com --secret key=API_KEY --record calls.jsonl
  kagewasm verify mine.wasm --replay calls.jsonl --junit verify.xml`,
		Args:              exactArgs("X.wasm"),
		ValidArgsFunction: e.completeModule,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c.Context(), e, args[0]) },
	}
	cmd.Flags().StringArrayVar(&f.rules, "rule", nil,
		"check this rule alone, by its `NAME`; may be repeated (default: all)")
	cmd.Flags().StringVar(&f.junit, "junit", "", "write the outcome as JUnit XML to `FILE`")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	f.pluginFlags.register(cmd)
	f.cassette.register(cmd)
	f.configFlag.registerUsed(cmd)
	return cmd
}

func (f *verifyFlags) run(ctx context.Context, e env, path string) error {
	if err := files.CheckOutputs([]files.File{pluginFile("X.wasm", path)}, files.Named("--junit", f.junit),
		f.cassette.output()); err != nil {
		return err
	}
	progress := e.progress()
	defer progress.Done()
	l, err := f.openAuthor(ctx, e, &f.configFlag)
	if err != nil {
		return err
	}
	defer l.close(context.WithoutCancel(ctx))
	module, host, opts, err := l.host(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if opts.Limits.TimeoutMS == 0 { // a plugin that hangs would take five minutes a rule
		opts.Limits.TimeoutMS = abi.DefaultLimits().TimeoutMS
	}
	r, err := check.Verify(ctx, module, check.VerifyOptions{
		Runtime: host, Plugin: opts, Rules: f.rules,
		Progress: func(rule string) { progress.Step("verifying %s: %s", path, rule) },
	})
	progress.Done()
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), f.recordedAnyway(e))
	}
	if f.junit != "" {
		var doc bytes.Buffer
		if err := r.JUnit(&doc); err != nil {
			return err
		}
		if err := files.Write(f.junit, doc.Bytes()); err != nil {
			return err
		}
	}
	if err := show(e, f.asJSON, r, ui.Verdict); err != nil {
		return err
	}
	if err := f.recordedAnyway(e); err != nil {
		return err
	}
	if r.Broken > 0 {
		return fmt.Errorf("%s breaks %s", path, ui.Plural(r.Broken, "rule"))
	}
	return nil
}

// recordedAnyway writes a recording; that a replay lacked something is a rule.
func (f *verifyFlags) recordedAnyway(e env) error {
	if f.cassette.recorder == nil {
		return nil
	}
	return f.cassette.finish(e)
}
