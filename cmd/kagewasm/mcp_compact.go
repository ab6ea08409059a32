package main

import (
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/toolserver"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// mcpCompactions are the compactions that agents ask for. Configuration and plugins are read for each: the server lives
// as long as its agent, and others use the state folder meanwhile.
type mcpCompactions struct {
	f *mcpFlags
	e env
}

// file compacts a session file as kagewasm compact does, and writes the result nowhere but to the store.
func (c mcpCompactions) file(ctx context.Context, path string, r toolserver.Request) (*toolserver.Compaction, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, ui.Usagef("%s is no file", path)
	}
	f := c.f.compactFlags
	f.format, f.to, f.instructions = string(transcript.Auto), string(transcript.Same), r.Focus
	f.force, f.dryRun, f.quiet, f.reason = true, r.DryRun, true, string(abi.TriggerAgent)
	e := c.e
	e.stdout = io.Discard
	if asked, err := askForFile(ctx, &f, e, path, r); asked != nil || err != nil {
		return asked, err
	}
	run, _, err := f.do(ctx, e, path, ui.NewProgress(nil, 0))
	if err != nil {
		return nil, err
	}
	return made(f.record(ctx, e, run).Key, run.Result), nil
}

// askInTurn asks for a compaction at the end of the turn of a stored session where one is open or a call in flight, as
// a server does for its agents: in the middle of a turn the agent needs what would go. It is nil where none is open,
// and for a dry run, which takes nothing away.
func askInTurn(
	ctx context.Context, s *store.Store, key string, r toolserver.Request,
) (*toolserver.Compaction, error) {
	if r.DryRun {
		return nil, nil
	}
	open, err := turns.Running(ctx, s, key)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	if _, err := turns.Ask(ctx, s, key, []hooks.Wish{{Instructions: r.Focus}}); err != nil {
		return nil, err
	}
	return &toolserver.Compaction{Key: key, Asked: true}, nil
}

// askForFile asks in the same way for the stored session that a file goes on with. Where the store cannot be read the
// file is compacted all the same, and recording says why.
func askForFile(
	ctx context.Context, f *compactFlags, e env, path string, r toolserver.Request,
) (*toolserver.Compaction, error) {
	s, err := state.ReadSessions(ctx, f.state, e.stateHome, e.say)
	if err != nil {
		return nil, nil
	}
	defer s.Close()
	if some, err := turns.Any(ctx, s); err != nil || !some {
		return nil, nil // the file, which may be long, need not be read for it
	}
	run, err := f.read(ctx, e, path)
	if err != nil {
		return nil, err
	}
	run.Session = abi.Session{ID: record.ID(run.File), AgentPath: f.agent}
	if key, open := inTurn(ctx, s, run); open != nil {
		return askInTurn(ctx, s, key, r)
	}
	return nil, nil
}

// stored compacts a session where it is stored.
func (c mcpCompactions) stored(
	ctx context.Context, s *store.Store, one *store.Session, r toolserver.Request,
) (*toolserver.Compaction, error) {
	if asked, err := askInTurn(ctx, s, one.Key, r); asked != nil || err != nil {
		return asked, err
	}
	settings := c.f.configFlag
	settings.trial = r.DryRun
	conf, err := settings.configured(c.e, c.f.agent, c.f.sets)
	if err != nil {
		return nil, err
	}
	model, opts, plugins, err := forStored(ctx, &c.f.compactFlags, c.e, conf, one)
	if err != nil {
		return nil, err
	}
	defer plugins.close(context.WithoutCancel(ctx))
	opts.Policy.Keep.DropThinking, opts.Lookup = false, conf.resolveForLog // the agent decides what it sends
	keep := c.f.learns(c.e, &opts)
	var events []kagewasm.Event
	opts.Audit = func(e kagewasm.Event) { events = append(events, e) }
	result, err := compactStored(ctx, opts, s, one, model, r)
	keep()
	if err != nil {
		return nil, err
	}
	if !r.DryRun {
		err = keepStored(ctx, s, one.Key, result, events)
	}
	return made(one.Key, result), err
}

// compactStored compacts a session in the store.
func compactStored(
	ctx context.Context, opts kagewasm.Options, s *store.Store, one *store.Session, model tokens.Model,
	r toolserver.Request,
) (*kagewasm.Result, error) {
	compactor, err := kagewasm.New(opts)
	if err != nil {
		return nil, err
	}
	open, err := session.Open(ctx, compactor, session.Options{Journal: s,
		Session: abi.Session{ID: one.ID, AgentPath: one.Agent, Model: model.Name(), ContextWindow: model.ContextWindow},
		Recall:  recallStored(one.Key)})
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	result, err := open.Compact(ctx, kagewasm.Request{Reason: abi.TriggerAgent, DryRun: r.DryRun, Instructions: r.Focus})
	if result != nil {
		err = errors.Join(err, result.Settle(ctx))
	}
	if result != nil && !r.DryRun {
		answers := turns.Answers(abi.TriggerAgent, result.Report.Compacted, err)
		err = errors.Join(err, turns.Looked(ctx, s, one.Key, begun, answers, open.Requested()))
	}
	if result != nil && abi.CodeOf(err) == abi.CodeExceedsWindow {
		err = nil // it is done as far as it goes, and the report says so
	}
	return result, err
}

// recallStored says in a note how what went can be read.
func recallStored(key string) string {
	const tool = "the tool recall of kagewasm mcp"
	if command := recallCommand(key); command != "" {
		return tool + ", or " + command
	}
	return tool
}

// recallCommand is the command that reads what went of a stored session. A session may call itself anything, and a note
// is no place for that: of a name that is no plain word there is none.
func recallCommand(key string) string {
	if !plainKey.MatchString(key) {
		return ""
	}
	return "kagewasm recall " + key + " QUERY"
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:#/-]{0,99}$`)

// keepStored keeps what a compaction of a stored session came to beside it.
func keepStored(ctx context.Context, s *store.Store, key string, r *kagewasm.Result, events []kagewasm.Event) error {
	return s.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { // the compaction is done
		if r.Pending == nil {
			if err := tx.Describe(ctx, key, store.About{}, r.Report.TokensAfter); err != nil {
				return err
			}
		}
		for _, e := range events {
			if err := tx.Log(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

func made(key string, r *kagewasm.Result) *toolserver.Compaction {
	c := &toolserver.Compaction{Key: key, Report: &r.Report}
	if r.Pending != nil {
		c.Pending, c.Report = r.Pending.Record.ID, &r.Pending.Report
	}
	return c
}
