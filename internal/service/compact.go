package service

import (
	"context"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// Manual is a compaction that a person asks for: what it does otherwise than configured.
type Manual struct {
	// Agent is the path of the agent whose settings hold. Default the session's.
	Agent *string `json:"agent_path,omitempty" doc:"the agent whose settings hold; default the session's own"`
	// Strategy is named by hand: no plugin's plan is asked for, unless it is delegate.
	Strategy  string   `json:"strategy,omitempty" doc:"drop, summarize, delegate or checkpoint; it wins over a compactor plugin"`
	Summarize *bool    `json:"summarize,omitempty" doc:"whether a model writes the summary"`
	Upper     *float64 `json:"upper_threshold,omitempty" exclusiveMinimum:"0" maximum:"1"`
	Lower     *float64 `json:"lower_threshold,omitempty" exclusiveMinimum:"0" maximum:"1"`
	Prompt    string   `json:"prompt,omitempty" doc:"the path of the summary's prompt: project:/ or config:/"`
	KeepLast  *int     `json:"keep_last,omitempty" minimum:"0" doc:"messages at the end that stay; 0 takes the current turn too"`
	// Target is the number of tokens to get down to.
	Target       *int     `json:"target_tokens,omitempty" minimum:"0" doc:"tokens to get down to; 0 leaves what is pinned and the summary"`
	DryRun       bool     `json:"dry_run,omitempty" doc:"say what would be done, and change nothing"`
	Instructions string   `json:"instructions,omitempty" maxLength:"20000" doc:"what to keep in view"`
	Release      []string `json:"release,omitempty" doc:"messages that plugins pinned and that need not stay"`
	NoPrune      bool     `json:"no_prune,omitempty" doc:"leave old tool output as it is"`
	// OnePiece is for hosts that keep a session from one message on.
	OnePiece bool `json:"one_piece,omitempty" doc:"let nothing stay before what goes, beside what always stays"`
}

// Overrides are those of a request.
func (m *Manual) overrides(prompt string) *kagewasm.Overrides {
	o := &kagewasm.Overrides{Strategy: m.Strategy, Summarize: m.Summarize, Prompt: prompt, KeepLast: m.KeepLast,
		NoPrune: m.NoPrune, OnePiece: m.OnePiece}
	if m.Upper != nil {
		o.Upper = *m.Upper
	}
	if m.Lower != nil {
		o.Lower = *m.Lower
	}
	return o
}

// Compacted is what came of a compaction.
type Compacted struct {
	Session string           `json:"session"`
	Version int              `json:"version"`
	Report  *kagewasm.Report `json:"report"`
	Record  *abi.Record      `json:"record"`
	// Pending is the id of the compaction that waits for a decision instead.
	Pending string `json:"pending,omitempty"`
	// Messages is the session as it would be, in a dry run.
	Messages []abi.Message `json:"messages,omitempty"`
}

// Compact compacts a session now, whatever the thresholds say. While a turn or a call
// runs it fails with the code busy.
func (s *compactions) Compact(ctx context.Context, key string, m Manual, version *int) (out *Compacted, err error) {
	prompt := ""
	if m.Prompt != "" {
		if prompt, err = s.host.Prompt(m.Prompt); err != nil {
			return nil, err
		}
	}
	req := kagewasm.Request{Target: m.Target, Overrides: m.overrides(prompt), DryRun: m.DryRun,
		Instructions: m.Instructions, Release: m.Release}
	if m.DryRun {
		req.Audit = func(e kagewasm.Event) { s.hub.publish(eventOf(e)) } // nothing was done that a log has to know
	}
	err = s.with(ctx, key, func(l *live, open *session.Session) error {
		if err := s.at(ctx, key, version); err != nil {
			return err // before a model is asked for it
		}
		if o := l.running(); o != nil {
			return turnRuns(key, o)
		}
		by, err := s.compactorOf(ctx, l, open, m.Agent)
		if err != nil {
			return err
		}
		if by != open {
			defer l.reopen()
		}
		result, err := by.Compact(withTerms(ctx, newTerms(version)), req)
		if result == nil {
			return err
		}
		out = &Compacted{Session: key, Report: &result.Report, Record: result.Record}
		if result.Pending != nil {
			out.Pending = result.Pending.Record.ID
		} else {
			l.compacted(&result.Report)
		}
		if m.DryRun {
			out.Messages = result.Messages
		}
		l.writing.Lock()
		defer l.writing.Unlock()
		out.Version = l.version
		return err
	})
	if err != nil && (out == nil || abi.CodeOf(err) != abi.CodeExceedsWindow) {
		return nil, err
	}
	return out, nil // what does not fit is done as far as it goes, and the report says so
}

// compactorOf is the session as another agent's settings have it.
func (s *compactions) compactorOf(
	ctx context.Context, l *live, open *session.Session, path *string,
) (*session.Session, error) {
	if path == nil || *path == l.row.Agent {
		return open, nil
	}
	if err := s.knowsAgent(*path); err != nil {
		return nil, err
	}
	l.mu.Lock()
	row := l.row
	l.mu.Unlock()
	agent, err := s.host.Agent(ctx, *path, row.Model)
	if err != nil {
		return nil, err
	}
	return s.openOn(ctx, l, &row, agent)
}

// turnRuns is the error of a compaction that a person asks for in a turn or a call.
func turnRuns(key string, o *turns.Open) error {
	return turns.Busy("compact", key, "compact when it has ended, or have the agent ask for it", *o)
}

// running is the turn or call that goes on of the stored session of a run, which need not be open, and its key.
func (s *compactions) running(ctx context.Context, run *record.Run) (key string, o *turns.Open, err error) {
	if key, err = run.Key(ctx, s.store); err != nil {
		return key, nil, err
	}
	l, release := s.take(key)
	defer release()
	l.mu.Lock()
	err = s.knowTurns(ctx, l)
	l.mu.Unlock()
	return key, l.running(), err
}

// reopen has a session opened again when it is needed next: it was changed beside the open
// one.
func (l *live) reopen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = nil
}

// Compactions are the records of a session, oldest first, those that were undone too.
func (s *compactions) Compactions(ctx context.Context, key string) ([]store.Record, error) {
	if _, err := s.store.Session(ctx, key); err != nil {
		return nil, err
	}
	return s.store.Records(ctx, key)
}

// Compaction is a record of a session.
func (s *compactions) Compaction(ctx context.Context, key, id string) (*store.Record, error) {
	if _, err := s.store.Session(ctx, key); err != nil {
		return nil, err
	}
	return record.Compaction(ctx, s.store, key, id)
}

// Flag keeps the operator's judgement of a compaction. What is nil stays as it was.
func (s *compactions) Flag(ctx context.Context, key, id string, flag, notes *string) (*store.Record, error) {
	r, err := s.Compaction(ctx, key, id)
	if err != nil {
		return nil, err
	}
	if flag != nil {
		r.Flag = *flag
	}
	if notes != nil {
		r.Notes = *notes
	}
	err = s.store.Update(ctx, func(tx *store.Tx) error { return tx.Flag(ctx, key, id, r.Flag, r.Notes) })
	if err == nil {
		s.hub.publish(Event{Type: EventFlagged, Session: key, Compaction: id})
	}
	return r, err
}
