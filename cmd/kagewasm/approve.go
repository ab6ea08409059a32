package main

import (
	"context"
	"errors"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// approveFlags are the flags of approve: where sessions are stored, and which plugins hear
// of what is applied.
type approveFlags struct{ compactFlags }

// approve applies the compaction that waits, and tells plugins.
func (f *approveFlags) approve(ctx context.Context, e env, id string) error {
	stored := &storeFlags{state: f.state, asJSON: f.asJSON, out: f.out}
	return stored.withSession(ctx, e, id, func(s *store.Store, one *store.Session) error {
		h, err := session.OpenHistory(ctx, s, one.Key, nil)
		if err != nil {
			return err
		}
		cp, err := waiting(h.Pending(), one.Key)
		if err != nil {
			return err
		}
		v := &ui.Decided{Session: one.Key, Compaction: cp.ID, Approved: true, Out: f.out}
		told, err := f.apply(ctx, e, s, one, cp)
		if err != nil {
			return err
		}
		v.Hooks, v.Retained, v.Failures = told.Hooks, told.Retained, told.Failures
		if h, err = session.OpenHistory(ctx, s, one.Key, nil); err == nil {
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
func (f *approveFlags) apply(
	ctx context.Context, e env, s *store.Store, one *store.Session, cp *session.Checkpoint,
) (told kagewasm.Report, err error) {
	conf, err := f.configuredFor(e, one.Agent)
	if err != nil {
		return told, err
	}
	model, opts, plugins, err := forStored(ctx, &f.compactFlags, e, conf, one)
	if err != nil {
		return told, err
	}
	defer plugins.close(context.WithoutCancel(ctx))
	sayDeaf(e, cp, opts.Plugins)
	compactor, err := kagewasm.New(opts)
	if err != nil {
		return told, err
	}
	open, err := session.Open(ctx, compactor, session.Options{
		Journal: approving{Store: s, event: decided(one, cp, kagewasm.EventCompleted)},
		Session: abi.Session{ID: one.ID, AgentPath: one.Agent, Model: one.Model, ContextWindow: model.ContextWindow}})
	if err != nil {
		return told, err
	}
	result, err := open.Approve(ctx, cp.ID)
	if err != nil {
		return told, err
	}
	err = result.Settle(ctx)
	return cameOf(&result.Report, cp), errors.Join(err, observed(ctx, s, one, cp, cameOf(&result.Report, cp)))
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

// approving is a store in which a compaction is applied and noted in one piece.
type approving struct {
	*store.Store
	event kagewasm.Event
}

// Append implements session.Journal.
func (a approving) Append(ctx context.Context, key string, entry session.Entry) error {
	return a.Update(ctx, func(tx *store.Tx) error {
		if err := tx.Append(ctx, key, entry); err != nil {
			return err
		}
		if err := tx.Describe(ctx, key, store.About{}, a.event.Report.TokensAfter); err != nil {
			return err
		}
		return tx.Log(ctx, a.event)
	})
}

// configuredFor are the settings of a stored session's agent. One that the configuration
// does not know has those of the agent above it.
func (f *approveFlags) configuredFor(e env, agent string) (configured, error) {
	conf, err := f.configured(e, "", nil)
	if err == nil && conf.file != nil {
		conf.agent = conf.file.Agent(agent)
	}
	return conf, err
}

// sayDeaf says which plugins took part in a compaction and do not hear that it is applied.
func sayDeaf(e env, cp *session.Checkpoint, loaded []hooks.Plugin) {
	hears := set.Of(lists.Map(loaded, func(p hooks.Plugin) string { return p.Manifest().Name })...)
	for _, h := range cp.Report.Hooks {
		if !hears[h.Plugin] {
			hears[h.Plugin] = true // it is said once
			e.say("plugin " + h.Plugin + " took part in it, is not loaded here, and does not hear of it: --plugin loads one")
		}
	}
}
