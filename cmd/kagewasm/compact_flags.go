package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/transcript"
)

// compactFlags are the flags of compact, as they are typed.
type compactFlags struct {
	pluginFlags
	search abi.Search // in what the session file keeps
	// spare hears of plugins that cannot be loaded, and compactions go on without them. Nil: there are none then.
	spare func(error)
	// source is what the session is read from where the process ends with it; nil: a copy is read.
	source *files.Source
	configFlag
	agent         string
	sets          []string
	yes           bool
	format, to    string
	session       string
	model         string
	window        int
	strategy      string
	plugins       []string
	upper, lower  float64
	force, dryRun bool
	prepare       bool
	target        int
	noteTokens    int
	overhead      int
	instructions  string
	reason        string
	releases      []string
	noPrune       bool
	onePiece      bool
	out, report   string
	asJSON, quiet bool
	strict        bool
	noRecord      bool
	fresh         bool // plugins begin with an empty memory, and nothing they keep is stored
	keep          int  // megabytes of sessions
	// given reports whether a flag was typed.
	given func(flag string) bool
}

// pluginUsage is what --plugin is about.
const pluginUsage = "load a plugin, `X.wasm` or its name, beside those of the configuration"

func (f *compactFlags) register(e env, c *cobra.Command) {
	f.registerSession(c)
	e.pluginFlag(c, &f.plugins, pluginUsage)
	f.registerPlan(c)
	f.registerResult(c)
	f.configFlag.registerUsed(c)
	f.pluginFlags.register(c)
	f.cassette.register(c)
	complete(c, "format", append([]string{string(transcript.Auto)}, formatList()...)...)
	complete(c, "to", append([]string{string(transcript.Same)}, formatList()...)...)
	complete(c, "strategy", kagewasm.Strategies()...)
	completeBy(c, "model", f.models)
	completeBy(c, "agent", f.agents)
	completeParts(c, "set", f.settings)
}

// registerSettings adds the flags about settings and plugins, for commands that compact
// more than one session.
func registerSettings(f *compactFlags, e env, c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.agent, "agent", "",
		"agent whose settings hold: its `PATH` in the configuration (default: the main one)")
	fs.StringArrayVar(&f.sets, "set", nil, "set a value on top of the configuration: `FIELD=VALUE`; may be repeated")
	e.pluginFlag(c, &f.plugins, pluginUsage)
	f.configFlag.registerUsed(c)
	f.pluginFlags.register(c)
	completeParts(c, "set", f.settings)
}

// registerSession adds the flags about what is read, and for whom.
func (f *compactFlags) registerSession(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.format, "format", string(transcript.Auto), "format of FILE: auto, "+formatNames())
	fs.StringVar(&f.session, "session", "", "`ID` under which the session is kept (default: the one that FILE names, "+
		"else one made of its first messages)")
	fs.StringVar(&f.agent, "agent", "",
		"agent whose settings hold: its `PATH` in the configuration, such as main/reviewer (default: the main one)")
	fs.StringArrayVar(&f.sets, "set", nil, "set a value on top of the configuration for this time: `FIELD=VALUE`, "+
		"such as compaction.summarize.chunks=3; may be repeated")
	fs.StringVar(&f.model, "model", "", "the model's `NAME` or alias, for its tokenizer, and for its window where "+
		"the configuration sets none (default: what the configuration, else the session says)")
	fs.IntVar(&f.window, "window", 0,
		"context window in `TOKENS` (default: the configuration's, else the model's; 128,000 where unknown)")
	fs.IntVar(&f.overhead, "overhead", 0, "`TOKENS` the request costs beyond what FILE shows")
}

// registerPlan adds the flags about what is done.
func (f *compactFlags) registerPlan(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.strategy, "strategy", "",
		"`NAME` of what is done, whatever a compactor plugin has planned: "+strings.Join(kagewasm.Strategies(),
			", ")+" (default: the configuration's, else drop, which asks a model where there is one)")
	fs.Float64Var(&f.upper, "upper", 0, fmt.Sprintf("`FRACTION` of the window at which to compact (default: the "+
		"configuration's, else %v)", kagewasm.DefaultUpper))
	fs.Float64Var(&f.lower, "lower", 0, fmt.Sprintf("`FRACTION` of the window to get down to (default: the "+
		"configuration's, else %v, or as much below a low --upper)", kagewasm.DefaultLower))
	fs.BoolVar(&f.force, "force", false, "compact below the threshold too")
	fs.IntVar(&f.target, "target", 0,
		"`TOKENS` to get down to, the note among them (default: lower x window). 0 is no size: all goes but what is "+
			"pinned, the current turn too, and the note has its usual room; so a small number may leave less than 0")
	fs.IntVar(&f.noteTokens, "note-tokens", 0, "budget of what the host writes in the note, in `TOKENS`, up to half of "+
		"the target (default: the most of 7% of what goes up to 10,000, an eighth of the target up to 4,000, and three "+
		"quarters of an earlier note of the host that goes up to 60% of the target; with what failed beside it, and what "+
		"no message has room in); 0 writes none")
	fs.IntVar(&f.noteTokens, "ledger-tokens", 0, "the old name of --note-tokens")
	_ = fs.MarkHidden("ledger-tokens") // the flag is there
	fs.StringVar(&f.instructions, "instructions", "",
		"`TEXT`: what the compaction should keep in view, for the model that summarizes, for plugins, and "+
			"for the note: what bears on its words is told first. Over the threshold it is a person who asks, and fast_model "+
			"is not; below it nothing is compacted without --force")
	fs.StringVar(&f.reason, "reason", "", "who asked: manual, agent or plugin, or threshold where nobody did")
	_ = fs.MarkHidden("reason") // for plugs of agents; the flag is there
	fs.StringArrayVar(&f.releases, "release", nil, "`ID` of a message that a plugin pinned in an earlier compaction, and "+
		"that need not stay any more; may be repeated")
	fs.BoolVarP(&f.yes, "yes", "y", false, "approve what the strategy checkpoint plans without asking; where there "+
		"is no terminal to ask on, nothing is written without it")
	fs.BoolVar(&f.noPrune, "no-prune", false, "leave old tool output as it is")
	fs.BoolVar(&f.onePiece, "one-piece", false, "let nothing stay before what goes, beside what always stays, and cut no "+
		"giant: for programs that keep a session from one message on")
}

// registerResult adds the flags about what is written.
func (f *compactFlags) registerResult(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.to, "to", string(transcript.Same), "format of the result: same, "+formatNames())
	fs.BoolVar(&f.dryRun, "dry-run", false,
		"say what would be done, and write nothing but the report; models and plugins are asked all the same")
	fs.BoolVar(&f.prepare, "prepare", false, "show what a model's summary would be made of (whether the threshold is "+
		"reached, the target, the cut, what is summarized, the summary before, the files), below the threshold too, and "+
		"ask no model and no plugin; nothing is written")
	fs.StringVar(&f.out, "out", "", "write the result to `FILE` instead of standard output")
	fs.StringVar(&f.report, "report", "", "write the report as JSON to `FILE`")
	fs.BoolVar(&f.asJSON, "json", false,
		"print the report as JSON (to standard output where the result does not go there)")
	fs.BoolVar(&f.strict, "strict", false, "exit with 1 where anything failed on the way, such as a plugin's memory that "+
		"could not be stored, though the compaction is done and its result written")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but failures")
	fs.BoolVar(&f.noRecord, "no-record", false, "keep nothing of it in the state folder: it cannot be undone")
	fs.IntVar(&f.keep, "keep", 1000, "`MEGABYTES` of sessions that the state folder holds at most: those that did not "+
		"change for the longest time go first, none that waits for approval and not this one")
}

func formatList() []string { return lists.Strings(transcript.Formats()) }

func formatNames() string { return strings.Join(formatList(), ", ") }

// check finds what makes no sense before anything is read or run.
func (f *compactFlags) check(path string) error {
	for _, t := range []struct {
		name  string
		value float64
	}{{"upper", f.upper}, {"lower", f.lower}} {
		if f.given(t.name) && !(t.value > 0 && t.value <= 1) {
			return ui.Usagef("--%s %v: give a fraction of the window, over 0 and at most 1", t.name, t.value)
		}
	}
	for _, t := range []struct{ flag, value, extra string }{
		{"--format", f.format, string(transcript.Auto)}, {"--to", f.to, string(transcript.Same)},
	} {
		if t.value != t.extra && !slices.Contains(formatList(), t.value) {
			return ui.Usagef("%s %q: known are %s, %s", t.flag, t.value, t.extra, formatNames())
		}
	}
	for _, t := range []struct {
		name  string
		value int
	}{{"overhead", f.overhead}, {"target", f.target}, {"note-tokens", f.noteTokens}} {
		if t.value < 0 {
			return ui.Usagef("--%s %d: it cannot be negative", t.name, t.value)
		}
	}
	switch {
	case f.given("window") && f.window <= 0:
		return ui.Usagef("--window %d: give the context window in tokens", f.window)
	case f.reason != "" && !slices.Contains(record.Reasons, abi.TriggerReason(f.reason)):
		return ui.Usagef("--reason %q: known are %s", f.reason, strings.Join(lists.Strings(record.Reasons), ", "))
	case f.prepare && (f.out != "" || f.report != ""):
		return ui.Usagef("--prepare writes no file: leave --out and --report out; --json prints it as JSON")
	case f.keep < 0:
		return ui.Usagef("--keep %d: give the megabytes that stored sessions may take", f.keep)
	case f.timeout < 0 || f.memory < 0:
		return ui.Usagef("--timeout-ms and --memory-mb cannot be negative")
	}
	if f.report == "-" {
		return ui.Usagef("--report -: give a file, or use --json")
	}
	reads := []files.File{files.Named("the input", path)}
	for _, plugin := range f.plugins {
		reads = append(reads, pluginFile("a plugin", plugin))
	}
	return files.CheckOutputs(reads, f.outputs()...)
}

// outputs are the files that are written.
func (f *compactFlags) outputs() []files.File {
	return []files.File{files.Named("--out", f.out), files.Named("--report", f.report), f.cassette.output()}
}

// noPlugins checks the flags that are for plugins where there are none.
func (f *compactFlags) noPlugins() error {
	if len(f.knobs) > 0 {
		return ui.Usagef("knob %q: no plugin is loaded", f.knobs[0])
	}
	if len(f.secrets) > 0 {
		return ui.Usagef("--secret %s: no plugin is loaded", f.secrets[0])
	}
	if len(f.adopts) > 0 {
		return ui.Usagef("--adopt %s: no plugin is loaded", f.adopts[0])
	}
	if file := cmp.Or(f.cassette.record, f.cassette.replay); file != "" {
		return ui.Usagef("%s: no plugin is loaded whose calls could be recorded or replayed", file)
	}
	if _, err := f.limitValues(); err != nil {
		return err
	}
	_, err := f.granted()
	return err
}
