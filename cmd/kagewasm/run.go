package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	json "github.com/goccy/go-json"
	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
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

// runReport is what `kagewasm run --json` prints.
type runReport struct {
	Plugin string `json:"plugin"`
	Digest string `json:"digest"`
	Engine string `json:"engine"`
	Hook   string `json:"hook"`
	// Output of the last call: a document, or text where it is none.
	Output any `json:"output"`
	// MS of each call.
	MS []float64 `json:"ms"`
	// What follows is of the last call.
	abi.CallStats
	Limits abi.Limits `json:"limits"`
	Error  *abi.Error `json:"error,omitempty"`
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
		Example: `  kagewasm run markdown.wasm pre_compact --session session.jsonl
  kagewasm run markdown.wasm pre_compact -i testdata/hook-input.json
  kagewasm run markdown.wasm pre_compact -i input.json --repeat 100 --json`,
		Args:              exactArgs("X.wasm", "HOOK"),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c.Context(), e, args[0], args[1]) },
		ValidArgsFunction: completeModuleAndHook,
	}
	cmd.Flags().StringVarP(&f.input, "input", "i", "", "`FILE` with the input document, - for standard input (default: empty)")
	cmd.Flags().StringVar(&f.session, "session", "", "make the input of the session in `FILE`, - for standard input")
	f.sessionFlags.register(cmd)
	cmd.Flags().IntVar(&f.repeat, "repeat", 1, "call it `N` times, each in an instance of its own")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print everything as one JSON document")
	f.pluginFlags.register(cmd)
	f.tape.register(cmd)
	f.configFlag.registerUsed(cmd)
	return cmd
}

// completeModule completes the argument X.wasm.
func completeModule(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"wasm"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeModuleAndHook completes the arguments X.wasm HOOK.
func completeModuleAndHook(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return completeModule(c, args, typed)
	}
	return strings.Split(joined(abi.Hooks), ", "), cobra.ShellCompDirectiveNoFileComp
}

func (f *runFlags) run(ctx context.Context, e env, path, export string) error {
	if f.repeat < 1 {
		return usagef("--repeat %d: give a number from 1", f.repeat)
	}
	if f.input != "" && f.session != "" {
		return usagef("-i %s and --session %s: give one of them", f.input, f.session)
	}
	l, err := f.openAuthor(ctx, e, &f.configFlag)
	if err != nil {
		return err
	}
	defer l.close(context.WithoutCancel(ctx))
	p, err := l.load(ctx, path, true)
	if err == nil {
		err = l.unusedFlag()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r := runReport{Plugin: p.Manifest().Name, Digest: p.Digest(), Engine: f.engine, Hook: export, Limits: p.Limits()}
	call, err := f.caller(ctx, e, l, p, export)
	if err != nil {
		return err
	}
	out, err := r.call(ctx, call, f.repeat)
	return cmp.Or(f.show(e, &r, out, err), f.tape.finish(e))
}

// caller is a call of the export on the input that the flags name.
func (f *runFlags) caller(ctx context.Context, e env, l *loader, p *runtime.Plugin, export string) (caller, error) {
	if f.session != "" {
		hook, err := hookNamed(export, p)
		if err != nil {
			return nil, err
		}
		in, err := f.hookInput(ctx, e, l.conf, f.session, hook, p)
		return checked(func(ctx context.Context) ([]byte, abi.CallStats, error) { return p.CallHook(ctx, in) }), err
	}
	var input []byte
	if f.input != "" {
		var err error
		if input, err = readInput(ctx, e, f.input); err != nil {
			return nil, err
		}
	}
	if !abi.Hook(export).Valid() {
		return func(ctx context.Context) ([]byte, abi.CallStats, error) { return p.CallRaw(ctx, export, input) }, nil
	}
	input = withConfig(input, p.Info().Config)
	return checked(func(ctx context.Context) ([]byte, abi.CallStats, error) { return p.CallRaw(ctx, export, input) }), nil
}

// checked adds what a compaction would say of a hook's answer to the warnings.
func checked(call caller) caller {
	return func(ctx context.Context) ([]byte, abi.CallStats, error) {
		out, stats, err := call(ctx)
		if err == nil {
			stats.Warnings = append(stats.Warnings, doubts(out)...)
		}
		return out, stats, err
	}
}

// caller makes one call and returns the answer as a document.
type caller func(ctx context.Context) ([]byte, abi.CallStats, error)

// call makes the call so many times, up to the first failure, and returns the
// last answer.
func (r *runReport) call(ctx context.Context, call caller, times int) (out []byte, err error) {
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

// doubts are what a compaction would say of a hook's answer.
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

func (f *runFlags) show(e env, r *runReport, out []byte, err error) error {
	if f.asJSON {
		switch {
		case len(out) == 0: // nothing to say
		case json.Valid(out):
			r.Output = json.RawMessage(out)
		default:
			r.Output = string(out)
		}
		if perr := printJSON(e.stdout, r); perr != nil {
			return perr
		}
		return err
	}
	if err == nil {
		if _, werr := fmt.Fprintln(e.stdout, strings.TrimRight(string(out), "\n")); werr != nil {
			return werr
		}
	}
	r.tell(printer{w: e.stderr, color: e.color})
	return err
}

// tell says for a person what the calls used and logged.
func (r *runReport) tell(p printer) {
	p.linef("%s %s of %s", p.paint(bold, r.Hook), r.Digest, r.Plugin)
	p.field("time", "%s", callTimes(r.MS, r.CallStats.MS))
	p.field("memory", "%s of %d MiB", bytesOf(r.CallStats.PeakMemoryBytes), r.Limits.MemoryMB)
	p.field("bytes", "%s in, %s out of %s", bytesOf(r.CallStats.InputBytes), bytesOf(r.CallStats.OutputBytes), bytesOf(r.Limits.OutputBytes))
	r.showCode(p)
	r.showCalls(p)
	for _, w := range r.CallStats.Warnings {
		p.field("warning", "%s", abi.Defuse(w))
	}
	for _, l := range r.CallStats.Logs {
		p.field("log "+string(l.Level), "%s", abi.Defuse(l.Message))
	}
	if n := r.CallStats.LogBytes; n > 0 {
		p.field("log", "%s of %s", bytesOf(n), bytesOf(r.Limits.LogBytes))
	}
	if r.CallStats.LogsDropped > 0 {
		p.field("log", "%d lines dropped: over the limit", r.CallStats.LogsDropped)
	}
}

// showCalls shows the host calls, each beside what bounds it.
func (r *runReport) showCalls(p printer) {
	s := &r.CallStats
	total := 0
	for _, op := range sortedOps(s.HostCalls) {
		total += s.HostCalls[op]
		of := ""
		switch {
		case op == abi.OpHTTP:
			of = fmt.Sprintf(": %d requests of %s, %s (%s a body)", s.HTTPRequests, number(int64(r.Limits.HTTPRequests)), bytesOf(s.HTTPBytes), bytesOf(r.Limits.HTTPBytes))
		case op == abi.OpModelComplete && s.Model != nil:
			of = fmt.Sprintf(": %d completions of %s, %d tokens in, %d out", s.Model.Calls, number(int64(r.Limits.ModelCalls)), s.Model.InputTokens, s.Model.OutputTokens)
		}
		p.field("host call", "%s × %d%s", op, s.HostCalls[op], of)
	}
	if total > 0 {
		p.field("", "%s of %s host calls, %s of %s", number(int64(total)), number(int64(r.Limits.HostCalls)), bytesOf(s.HostCallBytes), bytesOf(r.Limits.HostCallBytes))
	}
}

// showCode shows what the guest's code used, where the engine counts it.
func (r *runReport) showCode(p printer) {
	s := &r.CallStats
	if s.Fuel == 0 {
		return
	}
	allowed := ""
	if r.Limits.Fuel > 0 {
		allowed = " of " + number(r.Limits.Fuel)
	}
	p.field("fuel", "%s%s", number(s.Fuel), allowed)
	p.field("stack", "%s of %s", bytesOf(s.StackBytes), bytesOf(r.Limits.StackBytes))
	if s.TableElements > 0 {
		p.field("tables", "%s elements of %s", number(s.TableElements), number(int64(r.Limits.TableElements)))
	}
}

func callTimes(ms []float64, last float64) string {
	if len(ms) < 2 {
		return fmt.Sprintf("%.2f ms", last)
	}
	sorted := slices.Sorted(slices.Values(ms))
	return fmt.Sprintf("%d calls: median %.2f ms, fastest %.2f, slowest %.2f", len(ms), sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1])
}

func sortedOps(calls map[abi.Op]int) []abi.Op {
	var ops []abi.Op
	for op := range calls {
		ops = append(ops, op)
	}
	slices.Sort(ops)
	return ops
}
