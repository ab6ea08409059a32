package main

import (
	"context"
	"errors"
	"fmt"

	json "github.com/goccy/go-json"
	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/runtime"
)

type runFlags struct {
	pluginFlags
	configFlag
	sessionFlags
	input   string
	session string
	repeat  int
	asJSON  bool
}

func newRun(e env) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run X.wasm HOOK",
		Short: "Call one hook of a plugin and show what it does",
		Long: `Load a module, call one of its exports with an input document, and show its
output, time, memory, host calls and logs. The output goes to standard output,
everything else to standard error.

The input is a document (-i), or what a compaction of a session would give the
hook (--session, in any format that compact reads).

--record FILE keeps the HTTP requests and completions the plugin makes, and
--replay FILE answers them offline.`,
		Example: `  kagewasm run markdown pre_compact --session session.jsonl
  kagewasm run markdown.wasm pre_compact -i testdata/hook-input.json
  kagewasm run markdown.wasm pre_compact -i input.json --repeat 100 --json`,
		Args:              exactArgs("X.wasm", "HOOK"),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c.Context(), e, args[0], args[1]) },
		ValidArgsFunction: e.completeModuleAndHook,
	}
	cmd.Flags().StringVarP(&f.input, "input", "i", "",
		"`FILE` with the input document, - for standard input (default: empty)")
	cmd.Flags().StringVar(&f.session, "session", "", "make the input of the session in `FILE`, - for standard input")
	f.sessionFlags.register(cmd)
	cmd.Flags().IntVar(&f.repeat, "repeat", 1, "call it `N` times, each in an instance of its own")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print everything as one JSON document")
	f.pluginFlags.register(cmd)
	f.cassette.register(cmd)
	f.configFlag.registerUsed(cmd)
	return cmd
}

func (f *runFlags) run(ctx context.Context, e env, path, export string) error {
	if f.repeat < 1 {
		return ui.Usagef("--repeat %d: give a number from 1", f.repeat)
	}
	if f.input != "" && f.session != "" {
		return ui.Usagef("-i %s and --session %s: give one of them", f.input, f.session)
	}
	if err := files.CheckOutputs([]files.File{pluginFile("X.wasm", path), files.Named("-i", f.input),
		files.Named("--session", f.session)}, f.cassette.output()); err != nil {
		return err
	}
	l, err := f.openAuthor(ctx, e, &f.configFlag)
	if err != nil {
		return err
	}
	defer l.close(context.WithoutCancel(ctx))
	p, err := l.loadOnly(ctx, path, true)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r := ui.Run{Plugin: p.Manifest().Name, Digest: p.Digest(), Engine: f.engine, Hook: export, Limits: p.Limits()}
	call, err := f.caller(ctx, e, l, p, export)
	if err != nil {
		return err
	}
	out, err := repeat(ctx, &r, call, f.repeat)
	if r.Error != nil && f.input+f.session == "" && r.Error.Hint == "" {
		r.Error.Hint = "it was called without an input: give one with -i FILE or --session FILE"
		err = r.Error
	}
	shown := f.show(e, &r, out, err)
	return errors.Join(f.cassette.finish(e), shown)
}

// caller is a call of the export on the input that the flags name.
func (f *runFlags) caller(ctx context.Context, e env, l *loader, p *runtime.Plugin, export string) (caller, error) {
	hook, err := hookNamed(export, p)
	if err != nil && (f.session != "" || abi.Hook(export).Valid()) {
		return nil, err // a module in Go exports every hook, and says nothing to those it has not
	}
	if f.session != "" {
		in, judge, err := f.hookInput(ctx, e, l.conf, f.session, hook, p)
		call := func(ctx context.Context) ([]byte, abi.CallStats, error) { return p.CallHook(ctx, in) }
		return checked(call, judge), err
	}
	var input []byte
	if f.input != "" {
		var err error
		if input, err = files.Read(ctx, e.stdin, f.input); err != nil {
			return nil, err
		}
	}
	if !abi.Hook(export).Valid() {
		return func(ctx context.Context) ([]byte, abi.CallStats, error) { return p.CallRaw(ctx, export, input) }, nil
	}
	input = withConfig(input, p.Info().Config)
	call := func(ctx context.Context) ([]byte, abi.CallStats, error) { return p.CallRaw(ctx, export, input) }
	return checked(call, judgeOf(p.Manifest(), hook, input)), nil
}

// checked adds what a compaction would say of a hook's answer to the warnings.
func checked(call caller, judge func(answer []byte) []string) caller {
	return func(ctx context.Context) ([]byte, abi.CallStats, error) {
		out, stats, err := call(ctx)
		if err == nil {
			stats.Warnings = append(append(stats.Warnings, doubts(out)...), judge(out)...)
		}
		return out, stats, err
	}
}

// caller makes one call and returns the answer as a document.
type caller func(ctx context.Context) ([]byte, abi.CallStats, error)

// repeat makes the call so many times, up to the first failure, and returns the
// last answer.
func repeat(ctx context.Context, r *ui.Run, call caller, times int) (out []byte, err error) {
	for range times {
		out, r.CallStats, err = call(ctx)
		r.MS = append(r.MS, r.CallStats.MS)
		if err != nil {
			break
		}
	}
	r.Error = abi.AsError(err)
	return out, err
}

// doubts returns the warnings with which a compaction would take a hook's answer.
func doubts(out []byte) []string {
	warnings, err := runtime.CheckOutput(out)
	if err != nil {
		warnings = append(warnings, "a compaction refuses this answer (bad_output): "+err.Error())
	}
	return warnings
}

// withConfig puts the knob values into an input document that has none.
func withConfig(input []byte, config abi.Config) []byte {
	var doc map[string]json.RawMessage
	if len(config) == 0 || json.Unmarshal(input, &doc) != nil || doc == nil || doc["config"] != nil {
		return input
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return input
	}
	doc["config"] = raw
	if raw, err = json.MarshalWithOption(doc, json.DisableHTMLEscape()); err != nil {
		return input
	}
	return raw
}

// show writes the answer to standard output, and the rest to standard error.
func (f *runFlags) show(e env, r *ui.Run, out []byte, err error) error {
	if f.asJSON {
		switch {
		case len(out) == 0: // nothing to say
		case json.Valid(out):
			r.Output = json.RawMessage(out)
		default:
			r.Output = string(out)
		}
		return errors.Join(ui.JSON(e.stdout, r), err)
	}
	if err == nil {
		if werr := ui.Answer(e.out(), out); werr != nil {
			return werr
		}
	}
	ui.Calls(e.err(), r)
	return err
}
