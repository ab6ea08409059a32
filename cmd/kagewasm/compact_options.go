package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/near"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/store/kv"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// resolve finds the model: what was asked for, else what the configuration or
// the session says.
func (f *compactFlags) resolve(s *transcript.Session, conf configured) tokens.Model {
	name := f.model
	if name == "" && (conf.agent == nil || conf.agent.Model == "") {
		name = s.Model
	}
	m := conf.resolveFor(name)
	if f.given("window") {
		m.ContextWindow = &f.window
	}
	return m
}

// assumed says that the window of the model somebody named is a guess, as nothing is
// known of the model; empty where it is not. A number of tokens at which to compact is
// taken to fit.
func (f *compactFlags) assumed(m tokens.Model, conf configured) string {
	if f.model == "" || m.ContextWindow != nil {
		return ""
	}
	policy := conf.policy()
	says := fmt.Sprintf("--model %s: its window is not known and taken as %s tokens; --window says another", f.model,
		ui.Number(policy.When.Window(nil)))
	if known := near.To(m.ID, tokens.Default().Names(), 3); known != nil {
		says += "; near names: " + strings.Join(known, ", ")
	}
	return says
}

// policy is the configuration's, with what the flags say instead.
func (f *compactFlags) policy(conf configured) kagewasm.Policy {
	p := conf.policy()
	if f.given("note-tokens") || f.given("ledger-tokens") {
		if p.Note.Tokens = f.noteTokens; f.noteTokens == 0 {
			p.Note.Tokens = -1
		}
	}
	if f.noPrune {
		p.Prune.Off = true
	}
	if f.force || f.given("target") {
		p.Disabled = false
	}
	return p
}

// overrides are the strategy and the thresholds that flags give.
func (f *compactFlags) overrides() *kagewasm.Overrides {
	o := &kagewasm.Overrides{Strategy: f.strategy, OnePiece: f.onePiece}
	if f.given("upper") {
		o.Upper = f.upper
	}
	if f.given("lower") {
		o.Lower = f.lower
	}
	return o
}

// options returns the compactor's Options, with the plugins loaded by l. Without plugins no state is
// opened, and l is nil.
func (f *compactFlags) options(
	ctx context.Context, e env, conf configured, counter *tokens.Counter, progress *ui.Progress,
) (opts kagewasm.Options, l *loader, err error) {
	model, err := conf.models()
	if err != nil {
		return opts, nil, err
	}
	opts = kagewasm.Options{Counter: counter, Policy: f.policy(conf), Model: model, Lookup: conf.resolve}
	if len(f.plugins)+len(conf.plugins()) == 0 {
		return opts, nil, f.noPlugins()
	}
	l, err = openLoaderOver(ctx, e, &f.pluginFlags, counter, model, func(kept abi.KV) abi.KV {
		if f.fresh {
			return kv.NewMemory(kv.Options{})
		}
		return kept
	})
	if err != nil {
		return opts, nil, err
	}
	opts.Memory, opts.Cancels = l.state.KV, l.state.Cancels()
	if f.spare != nil {
		l.spare(conf, f.spare)
	}
	plugins, err := l.loadAll(ctx, conf, f.plugins, progress)
	if err != nil {
		l.close(ctx)
		return opts, nil, err
	}
	opts.Plugins = l.with(plugins)
	opts.Breaker, l.end, err = breakerOf(ctx, f, e)
	return opts, l, err
}

// forStored are the model of a stored session and the options of a compactor for it.
func forStored(
	ctx context.Context, f *compactFlags, e env, conf configured, one *store.Session,
) (model tokens.Model, opts kagewasm.Options, l *loader, err error) {
	model = f.learned(e, f.resolve(&transcript.Session{Model: one.Model}, conf))
	if model.ContextWindow == nil && one.Window > 0 {
		model.ContextWindow = &one.Window
	}
	counter, err := tokens.New(model.Encoding, tokens.Options{})
	if err == nil {
		opts, l, err = f.options(ctx, e, conf, counter, ui.NewProgress(nil, 0))
	}
	return model, opts, l, err
}

// breakerOf is one that knows what earlier runs on the state learned of plugins. end keeps what
// it learned itself, except in a dry run.
func breakerOf(ctx context.Context, f *compactFlags, e env) (b *hooks.Breaker, end func(context.Context), err error) {
	b = hooks.NewBreaker(hooks.BreakerOptions{})
	if f.noRecord || f.state == state.InMemory {
		return b, nil, nil
	}
	var known state.Circuits
	s, err := state.ReadSessions(ctx, f.state, e.stateHome, e.say)
	switch {
	case err == nil:
		err = errors.Join(known.Restore(ctx, s, b), s.Close())
	case ui.ExitCode(err) == ui.ExitUsage:
		err = nil // nothing was ever kept
	}
	return b, func(ctx context.Context) {
		if f.dryRun || !known.News(b) {
			return
		}
		s, err := state.OpenSessions(ctx, f.state, e.stateHome, e.say)
		if err == nil {
			err = errors.Join(known.Keep(ctx, s, b), s.Close())
		}
		if err != nil {
			e.say("what is known of plugins that fail is not kept: " + err.Error())
		}
	}, err
}

func (f *compactFlags) request(
	path string, s *transcript.Session, m tokens.Model, tools int, sink *sink,
) kagewasm.Request {
	req := kagewasm.Request{
		Session:  abi.Session{ID: record.ID(s), AgentPath: f.agent, Model: m.Name(), ContextWindow: m.ContextWindow},
		Messages: s.Messages, Overhead: tools + f.overhead, Force: f.force, DryRun: f.dryRun,
		Reason:       abi.TriggerReason(f.reason),
		Instructions: f.instructions, Release: f.releases, Overrides: f.overrides(), Commit: sink.commit,
		Recall: recallLine(path), Search: f.search,
	}
	if f.given("target") {
		req.Target = &f.target
	}
	return req
}

// recallLine says in a note how what went can be read: the file that is compacted
// stays as it is. It is empty where there is no file.
func recallLine(path string) string {
	full, err := filepath.Abs(path)
	if path == "-" || err != nil {
		return ""
	}
	if strings.ContainsAny(full, " \t'\"$") {
		full = strconv.Quote(full)
	}
	return "kagewasm recall " + full + " QUERY"
}

// verdict is what became of a checkpoint.
type verdict int

const (
	held     verdict = iota // nobody could be asked
	approved                // by --yes, or on the terminal
	rejected                // on the terminal
)

// ask asks whether a checkpoint is to be applied. Where nobody can be asked it is not:
// nobody has looked at it.
func (f *compactFlags) ask(e env, path string, pending *kagewasm.Result) verdict {
	if f.yes {
		return approved
	}
	if !e.terminal || path == "-" || f.quiet || f.asJSON {
		if !f.records() {
			e.err().Linef("checkpoint %s: nobody can be asked here, so nothing is written: look at it with --dry-run, and "+
				"approve it with --yes", pending.Record.ID)
		}
		return held // where it is recorded, what became of it is said then
	}
	ui.Report(e.err(), ui.Compaction{Path: path, Result: pending})
	if e.agreed("apply compaction %s?", pending.Record.ID) {
		return approved
	}
	return rejected
}
