package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/kit/verify"
	"github.com/kagewasm/kagewasm/runtime"
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

Nothing is kept: every load begins with an empty storage. Exit code 0: all rules
are kept; 1: one is broken; 2: the module cannot be loaded.`,
		Example: `  kagewasm verify build/markdown.wasm
  kagewasm verify mine.wasm --rule isolation --rule "no bytes"
  kagewasm verify mine.wasm --grant http=api.example.com --secret key=API_KEY --record calls.jsonl
  kagewasm verify mine.wasm --replay calls.jsonl --junit verify.xml`,
		Args:              exactArgs("X.wasm"),
		ValidArgsFunction: completeModule,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c.Context(), e, args[0]) },
	}
	cmd.Flags().StringArrayVar(&f.rules, "rule", nil, "check this rule alone, by its `NAME`; may be repeated (default: all)")
	cmd.Flags().StringVar(&f.junit, "junit", "", "write the outcome as JUnit XML to `FILE`")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	f.pluginFlags.register(cmd)
	f.tape.register(cmd)
	f.configFlag.registerUsed(cmd)
	return cmd
}

func (f *verifyFlags) run(ctx context.Context, e env, path string) error {
	if err := notOver("--junit", f.junit, path); err != nil {
		return err
	}
	progress := newProgress(e)
	defer progress.done()
	host, opts, err := f.host(ctx, e, path, &f.configFlag)
	if err != nil {
		return err
	}
	r, err := verify.Run(ctx, path, verify.Options{
		Runtime: host, Plugin: opts, Rules: f.rules,
		Progress: func(rule string) { progress.step("verifying %s: %s", path, rule) },
	})
	progress.done()
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), f.recordedAnyway(e))
	}
	if f.junit != "" {
		var doc bytes.Buffer
		if err := r.JUnit(&doc); err != nil {
			return err
		}
		if err := writeFile(f.junit, doc.Bytes()); err != nil {
			return err
		}
	}
	if err := f.show(e, r); err != nil {
		return err
	}
	if err := f.recordedAnyway(e); err != nil {
		return err
	}
	if r.Broken > 0 {
		return fmt.Errorf("%s breaks %s", path, rulesOf(r.Broken))
	}
	return nil
}

// recordedAnyway writes a recording; that a replay lacked something is a rule.
func (f *verifyFlags) recordedAnyway(e env) error {
	if f.tape.recorder == nil {
		return nil
	}
	return f.tape.finish(e)
}

func rulesOf(n int) string {
	if n == 1 {
		return "1 rule"
	}
	return fmt.Sprintf("%d rules", n)
}

func (f *verifyFlags) show(e env, r *verify.Report) error {
	if f.asJSON {
		return printJSON(e.stdout, r)
	}
	var text bytes.Buffer
	showVerdict(printer{w: &text, color: e.color}, r)
	_, err := e.stdout.Write(text.Bytes())
	return err
}

func showVerdict(p printer, r *verify.Report) {
	p.linef("%s %s  %s  %s", p.paint(bold, r.Plugin), cmp.Or(abi.Defuse(r.Version), "(no version)"), bytesOf(r.Size), p.paint(dim, r.Digest))
	width := 0
	for _, rule := range r.Rules {
		width = max(width, len(rule.Rule))
	}
	for _, rule := range r.Rules {
		name := fmt.Sprintf("%-*s", width, rule.Rule)
		switch rule.Outcome {
		case verify.Kept:
			p.linef("  %s %s %s", p.paint(green, "ok     "), name, p.paint(dim, fmt.Sprintf("%6.0f ms", rule.MS)))
		case verify.Broken:
			p.linef("  %s %s %s", p.paint(red, "BROKEN "), p.paint(bold, name), p.paint(dim, fmt.Sprintf("%6.0f ms", rule.MS)))
			showBroken(p, rule)
		}
	}
	showSkipped(p, r.Rules)
	for _, f := range r.Findings {
		p.linef("  %s %s: %s", p.paint(yellow, "warning"), f.Name, f.Message)
		p.linef("          %s", p.paint(dim, f.Mend))
	}
	p.linef("%s", p.paint(bold, "most used by a call"))
	for _, u := range r.Usage {
		allowed := "no bound"
		if u.Allowed > 0 {
			allowed = fmt.Sprintf("%s (%.0f%%)", number(u.Allowed), 100*u.Share())
		}
		p.linef("  %s %15s of %-24s %s", p.paint(dim, fmt.Sprintf("%-15s", u.Limit)), number(u.Used), allowed, p.paint(dim, u.Rule))
	}
	verdict := p.paint(green, "all rules kept")
	if r.Broken > 0 {
		verdict = p.paint(red, rulesOf(r.Broken)+" broken")
	}
	p.linef("%s: %d kept, %d skipped, %d warnings, in %.1f s", verdict, r.Kept, r.Skipped, len(r.Findings), r.MS/1000)
}

// showSkipped names the rules that were not checked, by why.
func showSkipped(p printer, rules []verify.Result) {
	names := make(map[string][]string)
	var reasons []string
	for _, r := range rules {
		if r.Outcome != verify.Skipped {
			continue
		}
		if names[r.Skipped] == nil {
			reasons = append(reasons, r.Skipped)
		}
		names[r.Skipped] = append(names[r.Skipped], r.Rule)
	}
	for _, why := range reasons {
		p.linef("  %s %s", p.paint(dim, "skipped"), p.paint(dim, why+": "+strings.Join(names[why], ", ")))
	}
}

// showBroken says how a rule was broken, why it matters and what to do.
func showBroken(p printer, r verify.Result) {
	how := strings.Join(firstLines(r.Broken, brokenLines), "\n          | ")
	if r.Code != "" {
		how = string(r.Code) + ": " + how
	}
	p.linef("          %s", how)
	p.linef("          %s %s", p.paint(dim, "why: "), r.Explanation)
	p.linef("          %s %s", p.paint(dim, "mend:"), r.Mend)
	if r.Hint != "" {
		p.linef("                %s", r.Hint)
	}
}

// brokenLines is how many lines of an error are shown: the message, and where
// the guest was.
const brokenLines = 5

func firstLines(s string, n int) []string {
	lines := strings.Split(s, "\n")
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n-1], fmt.Sprintf("… %d more lines (--json has them)", len(lines)-n+1))
}

// host is the host and the options for packages that load a module by
// themselves, over a storage of their own.
func (f *pluginFlags) host(ctx context.Context, e env, path string, conf *configFlag) (runtime.Options, runtime.PluginOptions, error) {
	l, err := f.openAuthor(ctx, e, conf)
	if err != nil {
		return runtime.Options{}, runtime.PluginOptions{}, err
	}
	defer l.close(context.WithoutCancel(ctx))
	opts, err := l.fitted(ctx, path, l.options(false))
	if err == nil {
		err = l.unusedFlag()
	}
	if err != nil {
		return runtime.Options{}, opts, fmt.Errorf("%s: %w", path, err)
	}
	return runtime.Options{CacheDir: l.state.cacheDir, Counter: l.counter, Model: l.model}, opts, nil
}
