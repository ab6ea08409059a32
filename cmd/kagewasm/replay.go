package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/internal/replay"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/transcript"
)

type replayFlags struct {
	compactFlags // what holds for all ways
	with         []string
}

func newReplay(e env) *cobra.Command {
	f := &replayFlags{}
	cmd := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Run recorded sessions through several ways to compact, and compare",
		Long: `Go through a recorded session call by call, as the host of its agent would: before
each call of the model it is looked at, and compacted where that is due. This is
done once for each way, and what the model would have been sent is shown side by
side: compactions, tokens, how much of them a provider's cache serves, the cost at
list prices, and what is kept.

A way is a name, and what differs behind it: --with drop,upper=0.7. Names are those
of the strategies; prune, which shortens old tool output and takes nothing away; and
configured, which does what the configuration says. Keys are strategy, plugin, knob,
model, window, upper and lower, as in compact, and settings by their full names; a
value with a comma cannot stand there, and goes by --set or --knob for all ways. The
row none, in which nothing is compacted, is always there. Without --with the ways
are prune and drop.

The agent's model is never asked: its answers are those of FILE, whatever it is
shown. A model writes summaries for summarize and configured alone, and plugins of
the configuration take part in configured alone. Plugins run in the sandbox, begin
each session with an empty memory, and are waited for. Nothing is stored. What an
earlier compaction left in FILE is a message like any other.

The exit code is 0 whatever was found, 1 where a replay failed, and 2 where FILE, a
way or a plugin is none.`,
		Example: `  kagewasm replay session.jsonl
  kagewasm replay session.jsonl --model claude-sonnet-4-5 --with drop --with drop,upper=0.6,lower=0.3
  kagewasm replay *.jsonl --window 64000 --with drop --with drop,plugin=markdown --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return ui.Usagef("replay: name a session file, or several")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.given = c.Flags().Changed
			return f.run(c.Context(), e, args)
		},
	}
	f.register(e, cmd)
	return cmd
}

func (f *replayFlags) register(e env, c *cobra.Command) {
	fs := c.Flags()
	fs.StringArrayVar(&f.with, "with", nil, "a `WAY` to compact: NAME[,KEY=VALUE...]; may be repeated (names: "+
		strings.Join(wayNames(), ", ")+"; keys: "+strings.Join(wayKeyNames(), ", ")+", and settings)")
	fs.StringVar(&f.format, "format", string(transcript.Auto), "format of FILE: auto, "+formatNames())
	fs.StringVar(&f.agent, "agent", "",
		"agent whose settings hold: its `PATH` in the configuration (default: the main one)")
	fs.StringArrayVar(&f.sets, "set", nil,
		"set a value on top of the configuration, for all ways: `FIELD=VALUE`; may be repeated")
	fs.StringVar(&f.model, "model", "", "the model's `NAME` or alias, for its tokenizer, window and prices "+
		"(default: what the configuration, else the session says)")
	fs.IntVar(&f.window, "window", 0,
		"context window in `TOKENS` (default: the configuration's, else the model's; 128,000 where unknown)")
	fs.IntVar(&f.overhead, "overhead", 0, "`TOKENS` each request costs beyond what FILE shows")
	fs.BoolVar(&f.asJSON, "json", false, "print JSON, which has the compactions one by one")
	f.configFlag.registerUsed(c)
	f.pluginFlags.register(c)
	complete(c, "format", append([]string{string(transcript.Auto)}, formatList()...)...)
	complete(c, "with", wayNames()...)
	completeBy(c, "model", f.models)
	completeBy(c, "agent", f.agents)
	completeParts(c, "set", f.settings)
}

func (f *replayFlags) run(ctx context.Context, e env, paths []string) error {
	progress := e.progress()
	defer progress.Done()
	f.to, f.trial, f.noRecord, f.fresh = string(transcript.Same), true, true, true
	if err := f.check("-"); err != nil {
		return err
	}
	ways, err := readWays(f.with)
	if err != nil {
		return err
	}
	tries, err := f.tries(e, ways)
	if err != nil {
		return err
	}
	report, err := f.all(ctx, e, paths, tries, progress)
	if err != nil {
		return whenCanceled(err, "interrupted before all was replayed; the comparison is shown as a whole")
	}
	progress.Done()
	return show(e, f.asJSON, report, ui.Replayed)
}

// all replays all sessions by all ways. A replay takes long, and models may be paid for it: so what is wrong with a
// file or a way is found before the first.
func (f *replayFlags) all(
	ctx context.Context, e env, paths []string, tries []*try, progress *ui.Progress,
) (*ui.Replay, error) {
	sessions := make([]*transcript.Session, len(paths))
	for i, path := range paths {
		progress.Step("reading %s", path)
		var err error
		if sessions[i], err = f.read(ctx, e, path); err != nil {
			return nil, err
		}
	}
	for _, t := range tries {
		progress.Step("loading %s", t.name)
		if err := t.loads(ctx, e, sessions[0], progress); err != nil {
			return nil, fmt.Errorf("--with %s: %w", t.name, err)
		}
	}
	report := new(ui.Replay)
	for i, path := range paths {
		one, err := f.session(ctx, e, path, sessions[i], tries, progress)
		if err != nil {
			return nil, err
		}
		report.Add(one)
		sessions[i] = nil // the memory is needed for the next
	}
	return report, nil
}

// try is a way with the settings that it comes to.
type try struct {
	*way
	flags compactFlags
	conf  configured
}

// tries reads the settings of all ways, before any of them is replayed.
func (f *replayFlags) tries(e env, ways []*way) (list []*try, err error) {
	if _, err := f.configured(e, f.agent, f.sets); err != nil {
		return nil, err // what all ways share
	}
	plugins := 0
	for _, w := range ways {
		t := &try{way: w, flags: f.compactFlags}
		t.flags.plugins, t.flags.knobs = w.plugins, slices.Concat(f.knobs, w.knobs)
		t.flags.given = func(flag string) bool { return flag == "window" && t.flags.window > 0 }
		if w.model != "" {
			t.flags.model = w.model
		}
		if w.window > 0 {
			t.flags.window = w.window
		}
		t.conf, err = t.flags.configured(e, f.agent, slices.Concat(f.sets, w.settings()))
		if err != nil {
			return nil, ui.Usagef("--with %s: %w", w.name, err)
		}
		if t.conf.asked = t.flags.model; w.base != wayConfigured {
			t.conf = t.conf.withoutPlugins()
		}
		n := len(w.plugins) + len(t.conf.plugins())
		if plugins += n; n == 0 {
			t.flags.knobs, t.flags.secrets, t.flags.adopts = w.knobs, nil, nil
		}
		switch {
		case w.base == kagewasm.StrategySummarize && (t.conf.file == nil || len(t.conf.file.Models) == 0):
			return nil, ui.Usagef("--with %s: no model is configured that could write summaries: name one below models "+
				"in kagewasm.yaml", w.name)
		case w.base == kagewasm.StrategyDelegate && n == 0:
			return nil, ui.Usagef("--with %s: it has no plugin that could compact: add plugin=X.wasm", w.name)
		}
		list = append(list, t)
	}
	if plugins == 0 {
		return list, f.noPlugins()
	}
	return list, nil
}

// read reads a session that has something to be replayed.
func (f *replayFlags) read(ctx context.Context, e env, path string) (*transcript.Session, error) {
	data, err := files.Read(ctx, e.stdin, path)
	if err != nil {
		return nil, err
	}
	file, err := transcript.ReadContext(ctx, path, data, transcript.Format(f.format))
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(file.Messages, func(m abi.Message) bool { return m.Role == abi.RoleAssistant }) {
		return nil, ui.Usagef("%s: it has no answer of a model: there is no call to be replayed", path)
	}
	return file, nil
}

// session replays one session by all ways.
func (f *replayFlags) session(
	ctx context.Context, e env, path string, file *transcript.Session, tries []*try, progress *ui.Progress,
) (*ui.ReplayedSession, error) {
	one := &ui.ReplayedSession{File: path, Messages: len(file.Messages)}
	for i, t := range tries {
		progress.Step("%s: replaying %s", path, t.name)
		t.flags.quiet = i > 0 // what is taken as a model's window is said once
		row, err := t.replay(ctx, e, file, progress)
		if err != nil {
			return nil, fmt.Errorf("%s, way %s: %w", path, t.name, err)
		}
		if one.Ways = append(one.Ways, *row); i == 0 {
			one.Model = row.Model
		}
	}
	return one, nil
}

// loads tries whether the plugins of a way can be loaded, and take its knobs. Which session it is makes no difference.
func (t *try) loads(ctx context.Context, e env, file *transcript.Session, progress *ui.Progress) error {
	flags := t.flags
	flags.quiet = true // the replay says it
	m, err := meansOf(ctx, &flags, e, file, t.conf, progress)
	if err != nil {
		return err
	}
	defer m.plugins.close(context.WithoutCancel(ctx))
	_, err = kagewasm.New(m.opts)
	return err
}

// replay replays a session by one way.
func (t *try) replay(
	ctx context.Context, e env, file *transcript.Session, progress *ui.Progress,
) (row *ui.ReplayedWay, err error) {
	m, err := meansOf(ctx, &t.flags, e, file, t.conf, progress)
	if err != nil {
		return nil, err
	}
	defer m.plugins.close(context.WithoutCancel(ctx))
	logged(file, transcript.Same, t.conf, &m.opts)
	if t.base == wayNone {
		// When stays: it may say how large the window is.
		m.opts.Policy = kagewasm.Policy{Disabled: true, When: m.opts.Policy.When,
			Prune: strategies.PruneConfig{Off: true, Trim: strategies.TrimConfig{Off: true}}}
	}
	// The same comes out each time, however busy the machine is.
	m.opts.Policy.When.Background, m.opts.Policy.ObserverWaitMS = false, mostObserverWait
	compactor, err := kagewasm.New(m.opts)
	if err != nil {
		return nil, err
	}
	row = &ui.ReplayedWay{ReplayedSum: ui.ReplayedSum{Way: t.name}, Model: m.model.Name(),
		ContextWindow: m.model.ContextWindow, Window: m.opts.Policy.When.Window(m.model.ContextWindow)}
	session := abi.Session{ID: record.ID(file), AgentPath: t.flags.agent, Model: m.model.Name(),
		ContextWindow: m.model.ContextWindow}
	limits, err := compactor.Limits(session)
	if err != nil {
		return nil, err
	}
	row.StartsAt = limits.Upper
	result, err := replay.Run(ctx, replay.Options{
		Compactor: compactor, Counter: m.counter, Messages: file.Messages, Overhead: m.tools.Tokens + t.flags.overhead,
		Session: session, Prices: m.model.Prices, TokenScale: m.model.TokenScale,
	})
	row.Stats, row.Points = result.Stats, result.Points
	return row, err
}

// mostObserverWait is how long observers are waited for, in milliseconds: as long as a setting can say.
const mostObserverWait = 86_400_000
