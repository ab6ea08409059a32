package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// decideFlags are the flags of approve and reject: where sessions are stored, and which plugins hear
// of what becomes of a compaction.
type decideFlags struct{ compactFlags }

func (f *decideFlags) registerFor(e env, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	e.pluginFlag(cmd, &f.plugins, pluginUsage)
	f.configFlag.registerUsed(cmd)
	f.pluginFlags.register(cmd)
}

// withWaiting calls act with a session and the compaction that waits in it.
func (f *storeFlags) withWaiting(
	ctx context.Context, e env, id string, act func(*store.Store, *store.Session, *session.Checkpoint) error,
) error {
	return f.withSession(ctx, e, id, func(s *store.Store, one *store.Session) error {
		h, err := session.OpenHistory(ctx, s, one.Key, nil)
		if err != nil {
			return err
		}
		cp, err := waiting(h.Pending(), one.Key)
		if err != nil {
			return err
		}
		return act(s, one, cp)
	})
}

// approve applies the compaction that waits, and tells plugins.
func (f *decideFlags) approve(ctx context.Context, e env, id string) error {
	stored := &storeFlags{state: f.state, asJSON: f.asJSON, out: f.out}
	return stored.withWaiting(ctx, e, id, func(s *store.Store, one *store.Session, cp *session.Checkpoint) error {
		v := &ui.Decided{Session: one.Key, Compaction: cp.ID, Approved: true, Out: f.out}
		told, err := f.apply(ctx, e, s, one, cp)
		if err != nil {
			return err
		}
		v.Hooks, v.Retained, v.Failures = told.Hooks, told.Retained, told.Failures
		h, err := session.OpenHistory(ctx, s, one.Key, nil)
		if err == nil {
			err = stored.write(ctx, s, one.Key, h)
		}
		if err != nil {
			return err
		}
		return show(e, f.asJSON, v, ui.Decision)
	})
}

// apply applies a compaction, and returns what came of telling plugins. Those are loaded
// before anything is done: where one cannot be, nothing is.
func (f *decideFlags) apply(
	ctx context.Context, e env, s *store.Store, one *store.Session, cp *session.Checkpoint,
) (told kagewasm.Report, err error) {
	open, done, err := f.open(ctx, e, s, one, cp, decided(one, cp, kagewasm.EventCompleted))
	if err != nil {
		return told, err
	}
	defer done()
	result, err := open.Approve(ctx, cp.ID)
	if err != nil {
		return told, err
	}
	err = result.Settle(ctx)
	return cameOf(&result.Report, cp), errors.Join(err, observed(ctx, s, one, cp, cameOf(&result.Report, cp)))
}

// reject drops the compaction that waits, and tells plugins. It does so whoever of them can be told.
func (f *decideFlags) reject(ctx context.Context, e env, id, why string) error {
	stored := &storeFlags{state: f.state, asJSON: f.asJSON}
	return stored.withWaiting(ctx, e, id, func(s *store.Store, one *store.Session, cp *session.Checkpoint) error {
		told, err := f.drop(ctx, e, s, one, cp, why)
		if err != nil {
			return err
		}
		return show(e, f.asJSON, &ui.Decided{Session: one.Key, Compaction: cp.ID, Hooks: told.Hooks,
			Retained: told.Retained, Failures: told.Failures}, ui.Decision)
	})
}

// drop drops a compaction, and returns what came of telling plugins.
func (f *decideFlags) drop(
	ctx context.Context, e env, s *store.Store, one *store.Session, cp *session.Checkpoint, why string,
) (told kagewasm.Report, err error) {
	event := decided(one, cp, kagewasm.EventFailed)
	event.Report.Compacted, event.Report.ReasonCode = false, abi.ReasonRejected
	event.Report.Reason = cp.Rejected(why)
	f.spare = func(err error) { e.say("a plugin cannot be loaded, and does not hear of it: " + err.Error()) }
	open, done, err := f.open(ctx, e, s, one, cp, event)
	if err != nil {
		e.say("plugins do not hear of it: " + err.Error())
		_, err = change(ctx, s, one.Key, func(tx *store.Tx, h *session.History) error {
			return errors.Join(h.Reject(ctx, cp.ID, why), tx.Log(ctx, event))
		})
		return told, err
	}
	defer done()
	result, err := open.Reject(ctx, cp.ID, why)
	if err != nil {
		return told, err
	}
	err = result.Settle(ctx)
	return cameOf(&result.Report, cp), errors.Join(err, observed(ctx, s, one, cp, cameOf(&result.Report, cp)))
}

// open opens the session that a compaction waits in, over plugins that are to hear of it. What is stored of it there is
// noted as an event.
func (f *decideFlags) open(
	ctx context.Context, e env, s *store.Store, one *store.Session, cp *session.Checkpoint, event kagewasm.Event,
) (open *session.Session, done func(), err error) {
	conf, err := f.configuredFor(e, one.Agent)
	if err != nil {
		return nil, nil, err
	}
	model, opts, plugins, err := forStored(ctx, &f.compactFlags, e, conf, one)
	if err != nil {
		return nil, nil, err
	}
	done = func() { plugins.close(context.WithoutCancel(ctx)) }
	sayDeaf(e, cp, opts.Plugins)
	compactor, err := kagewasm.New(opts)
	if err == nil {
		open, err = session.Open(ctx, compactor, session.Options{Journal: deciding{Store: s, event: event},
			Session: abi.Session{ID: one.ID, AgentPath: one.Agent, Model: one.Model, ContextWindow: model.ContextWindow}})
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return open, done, nil
}

// cameOf is what came of telling plugins, of a report that has what came before too.
func cameOf(r *kagewasm.Report, cp *session.Checkpoint) (told kagewasm.Report) {
	told.Hooks = lists.Filter(r.Hooks, func(o hooks.Outcome) bool { return o.Hook == abi.HookPostCompact })
	told.Retained = r.Retained[len(cp.Report.Retained):]
	told.Failures = r.Failures[len(cp.Report.Failures):]
	for _, list := range []*[]string{&told.Superseded, &told.Kept, &told.Inserted, &told.Pinned, &told.Pruned.IDs} {
		*list = []string{}
	}
	return told
}

// observed notes in the audit log what came of telling plugins. The compaction is done.
func observed(
	ctx context.Context, s *store.Store, one *store.Session, cp *session.Checkpoint, told kagewasm.Report,
) error {
	if len(told.Hooks) == 0 {
		return nil
	}
	event := decided(one, cp, kagewasm.EventObserved)
	event.Report, event.Heard, event.Said = &told, nil, nil
	return s.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.Log(ctx, event) })
}

// deciding is a store in which a compaction is applied or dropped, and noted, in one piece.
type deciding struct {
	*store.Store
	event kagewasm.Event
}

// Append implements session.Journal.
func (d deciding) Append(ctx context.Context, key string, entry session.Entry) error {
	return d.Update(ctx, func(tx *store.Tx) error {
		if err := tx.Append(ctx, key, entry); err != nil {
			return err
		}
		if entry.Rejected == nil {
			if err := tx.Describe(ctx, key, store.About{}, d.event.Report.TokensAfter); err != nil {
				return err
			}
		}
		return tx.Log(ctx, d.event)
	})
}

// configuredFor are the settings of a stored session's agent. One that the configuration
// does not know has those of the agent above it.
func (f *decideFlags) configuredFor(e env, agent string) (configured, error) {
	conf, err := f.configured(e, "", nil)
	if err == nil && conf.file != nil {
		conf.agent = conf.file.Agent(agent)
	}
	return conf, err
}

// sayDeaf says which plugins took part in a compaction and do not hear what is decided of it.
func sayDeaf(e env, cp *session.Checkpoint, loaded []hooks.Plugin) {
	hears := set.Of(lists.Map(loaded, func(p hooks.Plugin) string { return p.Manifest().Name })...)
	for _, h := range cp.Report.Hooks {
		if !hears[h.Plugin] {
			hears[h.Plugin] = true // it is said once
			e.say("plugin " + h.Plugin + " took part in it, is not loaded here, and does not hear of it: --plugin loads one")
		}
	}
}
