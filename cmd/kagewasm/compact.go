package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// compactFlags are the flags of compact, as they are typed.
type compactFlags struct {
	pluginFlags
	configFlag
	agent         string
	sets          []string
	yes           bool
	format, to    string
	model         string
	window        int
	strategy      string
	plugins       []string
	upper, lower  float64
	force, dryRun bool
	target        int
	ledgerTokens  int
	overhead      int
	instructions  string
	noPrune       bool
	out, report   string
	asJSON, quiet bool
	// given reports whether a flag was typed.
	given func(flag string) bool
}

func newCompact(e env) *cobra.Command {
	f := &compactFlags{}
	cmd := &cobra.Command{
		Use:   "compact FILE",
		Short: "Make a session fit its model's context window again",
		Long: `Read a session, and where it fills too much of the model's context window make
it smaller: old tool output is shortened, then the oldest messages are replaced
by a note with the exact names that stood in them. Plugins may take part.

FILE is a session in any known format, or - for standard input. It is never
changed. Without --out the result goes to standard output and the report, for a
person, to standard error.`,
		Example: `  kagewasm compact session.jsonl --window 32000 --out smaller.jsonl
  kagewasm compact session.jsonl --model claude-sonnet-4-5 --plugin markdown.wasm --dry-run
  kagewasm compact session.jsonl --force --target 8000 --report report.json > smaller.jsonl`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			f.given = c.Flags().Changed
			return f.run(c.Context(), e, args[0])
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", string(transcript.Auto), "format of FILE: auto, "+formatNames())
	fs.StringVar(&f.to, "to", string(transcript.Same), "format of the result: same, "+formatNames())
	f.configFlag.register(cmd)
	fs.BoolVar(&f.off, "no-config", false, "read no configuration")
	fs.StringVar(&f.agent, "agent", "", "`PATH` of the agent in the configuration whose settings hold (default: the main one)")
	fs.StringArrayVar(&f.sets, "set", nil, "set a value of the configuration for this time: `FIELD=VALUE`, such as compaction.summarize.chunks=3")
	fs.StringVar(&f.model, "model", "", "the model's `NAME` or alias, for its window and tokenizer (default: what the configuration or the session says)")
	fs.IntVar(&f.window, "window", 0, "context window in `TOKENS` (default: the model's; 128,000 where unknown)")
	fs.StringVar(&f.strategy, "strategy", kagewasm.StrategyDrop, "what to do where no compactor plugin has a plan: "+strings.Join(kagewasm.Strategies(), ", "))
	fs.StringArrayVar(&f.plugins, "plugin", nil, "load a plugin, `X.wasm`; may be repeated")
	fs.Float64Var(&f.upper, "upper", kagewasm.DefaultUpper, "`FRACTION` of the window over which to compact")
	fs.Float64Var(&f.lower, "lower", kagewasm.DefaultLower, "`FRACTION` of the window to get down to (with --upper alone: the same share of it)")
	fs.BoolVar(&f.force, "force", false, "compact below the threshold too")
	fs.IntVar(&f.target, "target", 0, "`TOKENS` to get down to (default: lower x window); 0 leaves only what is pinned and the summary")
	fs.IntVar(&f.ledgerTokens, "ledger-tokens", 0, "budget of the ledger of exact names, in `TOKENS` (default: a twelfth of the target, 150 to 4,000); 0 writes none")
	fs.IntVar(&f.overhead, "overhead", 0, "`TOKENS` the request costs beyond what FILE shows")
	fs.StringVar(&f.instructions, "instructions", "", "what the compaction should keep in view, for the model that summarizes and for plugins")
	fs.BoolVarP(&f.yes, "yes", "y", false, "approve a checkpoint without asking")
	fs.BoolVar(&f.noPrune, "no-prune", false, "leave old tool output as it is")
	fs.BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and write nothing but the report")
	fs.StringVar(&f.out, "out", "", "write the result to `FILE` instead of standard output")
	fs.StringVar(&f.report, "report", "", "write the report as JSON to `FILE`")
	fs.BoolVar(&f.asJSON, "json", false, "print the report as JSON (to standard output where the result does not go there)")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but failures")
	f.pluginFlags.register(cmd)
	completeWith := func(flag string, values []string) {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	completeWith("format", append([]string{string(transcript.Auto)}, formatList()...))
	completeWith("to", append([]string{string(transcript.Same)}, formatList()...))
	completeWith("strategy", kagewasm.Strategies())
	_ = cmd.MarkFlagFilename("plugin", "wasm")
	return cmd
}

func formatList() []string {
	var list []string
	for _, f := range transcript.Formats() {
		list = append(list, string(f))
	}
	return list
}

func formatNames() string { return strings.Join(formatList(), ", ") }

func (f *compactFlags) run(ctx context.Context, e env, path string) error {
	progress := newProgress(e)
	defer progress.done()
	if f.out == "-" {
		f.out = "" // standard output
	}
	if err := f.check(path); err != nil {
		return err
	}
	progress.step("reading %s", path)
	data, err := readInput(ctx, e, path)
	if err != nil {
		return err
	}
	session, err := transcript.Read(path, data, transcript.Format(f.format))
	if err != nil {
		return err
	}
	session.Messages = session.Live() // what the program itself took away is not the model's any more
	holdMemory(len(data), len(session.Messages), len(f.plugins))
	conf, err := f.configured(e, f.agent, f.sets)
	if err != nil {
		return err
	}
	model := f.resolve(session, conf)
	counter, err := tokens.New(model.Encoding, tokens.Options{})
	if err != nil {
		return err
	}
	tools, err := counter.Tools(ctx, session.Tools)
	if err != nil {
		return err
	}
	opts, closePlugins, err := f.options(ctx, e, conf, counter, progress)
	if err != nil {
		return err
	}
	defer closePlugins()
	compactor, err := kagewasm.New(opts)
	if err != nil {
		return err
	}
	progress.step("compacting %s messages", number(len(session.Messages)))
	sink := &sink{e: e, session: session, to: transcript.Format(f.to), out: f.out, dryRun: f.dryRun}
	result, err := compactor.Compact(ctx, f.request(path, session, model, tools.Tokens, sink))
	if err == nil && result.Checkpoint != nil {
		progress.done()
		result, err = f.decide(ctx, e, path, compactor, result)
	}
	if result != nil {
		result.Report.Metrics.InexactCount = !model.ExactCounts || !tools.Exact
	}
	if abi.CodeOf(err) == abi.CodeExceedsWindow {
		// Done as far as it goes: a warning, and exit code 0.
		result.Report.Failures = append(result.Report.Failures, abi.AsError(err))
		err = nil
	}
	if err == nil {
		err = sink.write(result)
	}
	progress.done()
	return f.tell(e, path, result, sink.written, err)
}

// check finds what makes no sense before anything is read or run.
func (f *compactFlags) check(path string) error {
	for _, t := range []struct {
		name  string
		value float64
	}{{"upper", f.upper}, {"lower", f.lower}} {
		if f.given(t.name) && !(t.value > 0 && t.value <= 1) {
			return usagef("--%s %v: give a fraction of the window, over 0 and at most 1", t.name, t.value)
		}
	}
	for _, t := range []struct{ flag, value, extra string }{{"--format", f.format, string(transcript.Auto)}, {"--to", f.to, string(transcript.Same)}} {
		if t.value != t.extra && !slices.Contains(formatList(), t.value) {
			return usagef("%s %q: known are %s, %s", t.flag, t.value, t.extra, formatNames())
		}
	}
	switch {
	case f.given("window") && f.window <= 0:
		return usagef("--window %d: give the context window in tokens", f.window)
	case f.overhead < 0 || f.target < 0 || f.ledgerTokens < 0:
		return usagef("--overhead, --target and --ledger-tokens cannot be negative")
	case f.timeout < 0 || f.memory < 0:
		return usagef("--timeout-ms and --memory-mb cannot be negative")
	}
	if f.report == "-" {
		return usagef("--report -: give a file, or use --json")
	}
	return f.checkPaths(path)
}

// noPlugins checks the flags that are for plugins where there are none.
func (f *compactFlags) noPlugins() error {
	if len(f.knobs) > 0 {
		return usagef("knob %q: no plugin is loaded", f.knobs[0])
	}
	if len(f.secrets) > 0 {
		return usagef("--secret %s: no plugin is loaded", f.secrets[0])
	}
	if len(f.adopts) > 0 {
		return usagef("--adopt %s: no plugin is loaded", f.adopts[0])
	}
	if _, err := f.limitValues(); err != nil {
		return err
	}
	_, err := f.granted()
	return err
}

// sessionID is the session's own id, or the name of its file.
func sessionID(path string, s *transcript.Session) string {
	switch {
	case s.ID != "":
		return s.ID
	case path == "-":
		return "stdin"
	}
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// tell writes the reports. An error of the compaction wins over one of them.
func (f *compactFlags) tell(e env, path string, result *kagewasm.Result, written bool, err error) error {
	if result == nil {
		return err
	}
	if f.report != "" {
		var buf bytes.Buffer
		rerr := printJSON(&buf, result.Report)
		if rerr == nil {
			rerr = writeFile(f.report, buf.Bytes())
		}
		err = errors.Join(err, rerr)
	}
	switch {
	case f.asJSON:
		w := e.stderr
		if f.out != "" || f.dryRun {
			w = e.stdout
		}
		err = errors.Join(err, printJSON(w, result.Report))
	case f.quiet:
		human{printer{w: e.stderr, color: e.color}}.failures(result.Report.Failures)
	default:
		out := f.out
		if !written {
			out = ""
		}
		h := human{printer{w: e.stderr, color: e.color}}
		h.report(path, out, result)
		if len(f.plugins) > 0 && len(result.Report.Hooks) == 0 {
			h.field("hooks", "none called: %s", result.Report.ReasonCode)
		}
	}
	return err
}
