package main

import (
	"context"
	"fmt"
	"path/filepath"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// mega is a megabyte, in which --keep is given.
const mega = 1_000_000

// records reports whether the run is kept in the store.
func (f *compactFlags) records() bool {
	return !f.noRecord && !f.dryRun && f.state != state.InMemory
}

// turnOver refuses what a person asks for while a turn of the stored session is open or a call in flight, as a server
// does: its agent works with what would go. Where the store cannot be read the session is compacted all the same, and
// recording says why.
func turnOver(ctx context.Context, f *compactFlags, e env, run *record.Run) error {
	if !f.records() || f.reason != "" && f.reason != string(abi.TriggerManual) {
		return nil
	}
	s, err := state.ReadSessions(ctx, f.state, e.stateHome, e.say)
	if err != nil {
		return nil
	}
	defer s.Close()
	run.Session = abi.Session{ID: record.ID(run.File), AgentPath: f.agent}
	if !f.quiet {
		sayOver(ctx, e, s, run)
	}
	if key, open := inTurn(ctx, s, run); open != nil {
		return turns.Busy("compact", key, "compact when it has ended, or have the agent ask for it; --no-record compacts "+
			"the file alone and leaves the stored session as it is", *open)
	}
	return nil
}

// sayOver says which turn or call of the session is not waited for, since its process is gone.
func sayOver(ctx context.Context, e env, s *store.Store, run *record.Run) {
	if some, err := turns.Over(ctx, s); err != nil || len(some) == 0 {
		return // the session, which may be long, need not be looked for
	}
	key, err := run.Key(ctx, s)
	if err != nil || key == "" {
		return
	}
	over, _ := turns.Over(ctx, s, key)
	for _, o := range over {
		e.say(fmt.Sprintf("session %q: %s, and that process is gone: it is not waited for", key, o))
	}
}

// due reports whether a look at a session would compact it. It asks no model and no plugin.
func due(ctx context.Context, opts kagewasm.Options, req kagewasm.Request) (bool, error) {
	opts.Plugins, opts.Model, opts.Audit = nil, nil, nil
	c, err := kagewasm.New(opts)
	if err != nil {
		return false, err
	}
	turn, err := c.TurnEnd(ctx, req)
	return err == nil && turn.Wanted != nil, err
}

// inTurn is the turn that is open, or the call in flight, of the session that a run goes on with, and its key; nil
// where there is none.
func inTurn(ctx context.Context, s *store.Store, run *record.Run) (key string, open *turns.Open) {
	var list []turns.Open
	some, err := turns.Any(ctx, s)
	if err == nil && some { // else the session, which may be long, need not be looked for
		key, err = run.Key(ctx, s)
	}
	if err == nil && key != "" {
		list, err = turns.Running(ctx, s, key)
	}
	if err != nil || len(list) == 0 {
		return key, nil
	}
	return key, &list[0]
}

// record keeps the run in the store. What goes wrong is said and changes nothing: the
// result is written already.
func (f *compactFlags) record(ctx context.Context, e env, run *record.Run) (kept record.Kept) {
	if !f.records() || run.Result == nil {
		return kept
	}
	if run.Path != "-" {
		if full, err := filepath.Abs(run.Path); err == nil {
			run.Path = full
		}
	}
	kept, err := f.keepRun(ctx, e, run)
	switch {
	case err != nil:
		what := "nothing of this is recorded: "
		if cp := run.Waits(); cp != nil {
			what = "checkpoint " + cp.Record.ID + ": nobody can be asked here, so nothing is written, and it could not be kept: "
		}
		if run.Result.Report.Compacted {
			what = "the compaction is done, and not recorded, so that it cannot be undone: "
		}
		what += err.Error()
		if hint := abi.AsError(err).Hint; hint != "" {
			what += ": " + hint
		}
		e.say(what)
		return record.Kept{}
	case len(kept.Deleted) > 0:
		e.say(ui.Plural(len(kept.Deleted), "old session") + " went from the store to make room: --keep says how much it " +
			"holds")
	}
	if n := len(run.Asked()); n > 0 && !f.quiet {
		e.say("what plugins asked for is kept with session " + kept.Key + ": it runs when its next turn is over, unless it " +
			"is compacted before")
	}
	if cp := run.Waits(); cp != nil {
		e.err().Linef("checkpoint %s: nobody can be asked here, so nothing is written, and it waits in the store: kagewasm "+
			"approve %[2]s, or kagewasm reject %[2]s", cp.Record.ID, kept.Key)
	}
	return kept
}

func (f *compactFlags) keepRun(ctx context.Context, e env, run *record.Run) (kept record.Kept, err error) {
	s, err := state.OpenSessions(ctx, f.state, e.stateHome, e.say)
	if err != nil {
		return kept, err
	}
	defer s.Close()
	return run.Keep(ctx, s, int64(f.keep)*mega)
}

// earlier is what earlier compactions of the session took away, of the store that the run
// would be recorded in.
func earlier(ctx context.Context, f *compactFlags, e env, run *record.Run) ([]session.StoredMessage, error) {
	s, err := readStore(ctx, f, e)
	if err != nil || s == nil {
		return nil, err
	}
	defer s.Close()
	return run.Earlier(ctx, s)
}

// readStore opens the store that the run would be recorded in, nil where there is none.
func readStore(ctx context.Context, f *compactFlags, e env) (*store.Store, error) {
	if f.noRecord || f.state == state.InMemory {
		return nil, nil
	}
	s, err := state.ReadSessions(ctx, f.state, e.stateHome, e.say)
	if ui.ExitCode(err) == ui.ExitUsage {
		return nil, nil // no session was ever kept
	}
	return s, err
}

// withFiles are messages with the files that earlier records of the session list. Where the store cannot be read that
// is said, and they are as they came: a summary names most of them too.
func withFiles(ctx context.Context, f *compactFlags, e env, run *record.Run, msgs []abi.Message) []abi.Message {
	if !record.LackFiles(msgs) {
		return msgs
	}
	s, err := readStore(ctx, f, e)
	if err == nil && s != nil {
		defer s.Close()
		msgs, err = run.Files(ctx, s, msgs)
	}
	if err != nil {
		e.say("of the files that earlier compactions list only those that the summary names are known: " + err.Error())
	}
	return msgs
}

// listen notes the events of a compactor.
func listen(opts *kagewasm.Options, run *record.Run) {
	opts.Audit = func(e kagewasm.Event) { run.Events = append(run.Events, e) }
}
