package service

import (
	"context"
	"slices"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/turnend"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
)

// Turn says what came of the end of a turn.
type Turn struct {
	*kagewasm.Turn
	// Background: plugins are still being told, or what was asked for or is due runs beside, or as soon as no turn is
	// open and no call in flight.
	Background bool `json:"background,omitempty"`
	// Report is about the compaction that ran; nil where none did, or it has not ended.
	Report  *kagewasm.Report `json:"report"`
	Version int              `json:"version"`
}

// BeginTurn says that a turn of the agent begins: from the request of a person to the
// answer, with all tool calls between. A compaction that a person asks for fails until it
// has ended.
func (s *loop) BeginTurn(ctx context.Context, key string) (id string, err error) {
	err = s.with(ctx, key, func(l *live, _ *session.Session) error {
		if id, err = turns.Begin(ctx, s.store, key); err == nil {
			l.begun(id)
		}
		return err
	})
	return id, err
}

// EndTurn says that a turn has ended. Where it has completed plugins hear of it, and what they or the agent asked for,
// or what is due, runs when no turn is open and no call in flight. EndTurn waits for that, so long at most, and for
// plugins no longer than anybody should: what is not over by then goes on beside, and Background says so.
func (s *loop) EndTurn(ctx context.Context, key, id string, completed bool, wait time.Duration) (*Turn, error) {
	e, told := &ending{telling: make(chan int, tries)}, make(chan struct{})
	s.runs.Go(func() { // who leaves when the turn is over takes it from nobody
		defer close(told)
		e.err = s.closeTurn(context.WithoutCancel(ctx), key, id, completed, e)
	})
	until := time.Now().Add(wait)
	var late <-chan time.Time
	version := 0
	for {
		select {
		case <-told:
			return e.result(ctx, time.Until(until))
		case <-ctx.Done():
			return nil, ctx.Err()
		case version = <-e.telling:
			late = time.After(max(wait, s.opts.TurnTime))
		case <-late:
			return &Turn{Background: true, Version: version}, nil
		}
	}
}

// ending is the end of a turn.
type ending struct {
	telling chan int // hears the version of the session before plugins are told
	live    *live
	turn    Turn
	after   *task // what runs behind it, nil for nothing
	err     error
}

// closeTurn ends a turn, and tells plugins of it.
func (s *loop) closeTurn(ctx context.Context, key, id string, completed bool, e *ending) error {
	return s.with(ctx, key, func(l *live, open *session.Session) error {
		if e.live == nil { // else it was ended, and the session has changed meanwhile
			if err := s.endTurn(ctx, l, id); err != nil {
				return err
			}
		}
		e.live, e.turn.Version = l, l.stored()
		if !completed {
			return nil
		}
		if l.hearsOfTurns() {
			e.telling <- e.turn.Version
		}
		turn, job, err := open.TurnEnded(ctx)
		if e.turn.Turn = turn; job != nil {
			e.after = s.follow(ctx, l, open, job)
		}
		return err
	})
}

// result waits for what runs behind the turn, so long at most.
func (e *ending) result(ctx context.Context, wait time.Duration) (*Turn, error) {
	t := &e.turn
	if e.err != nil || e.after == nil {
		return t, e.err
	}
	if t.Background = !e.after.wait(ctx, wait); t.Background {
		return t, nil
	}
	result, _, err := e.after.job.Poll()
	if result != nil {
		t.Report = &result.Report
	}
	t.Version = e.live.stored()
	return t, err
}

// hearsOfTurns reports whether a plugin of the session hears of ends of turns.
func (l *live) hearsOfTurns() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return turnend.Heard(l.agent.Compactor.Options().Plugins)
}

// endTurn ends a turn in the store, then here: where the store does not answer it goes on.
func (s *loop) endTurn(ctx context.Context, l *live, id string) error {
	was, err := turns.End(ctx, s.store, l.key, id)
	if err == nil && !was {
		err = unknown("turn " + id + ": it has not begun, or has ended")
	}
	if err == nil {
		l.ended(id)
	}
	return err
}

// knowTurns takes over from the store which turns are open and which calls in flight. To the open session a call of
// another process is a turn. The caller holds l.mu from before the store is asked, so that no answer undoes a later
// one.
func (s *core) knowTurns(ctx context.Context, l *live) (err error) {
	if l.open, err = turns.List(ctx, s.store, l.key); err != nil {
		return err
	}
	if slices.ContainsFunc(l.open, func(o turns.Open) bool { return o.Gone() }) {
		if err = turns.TakeOver(ctx, s.store, l.key); err == nil {
			l.open, err = turns.List(ctx, s.store, l.key)
		}
		if err != nil {
			return err
		}
	}
	for id := range l.turns {
		if !slices.ContainsFunc(l.open, func(o turns.Open) bool { return o.ID == id }) {
			l.endLocked(id)
		}
	}
	for _, o := range l.open {
		if !l.makes(o.ID) { // of which the session knows itself
			l.beginLocked(o.ID)
		}
	}
	return nil
}

// makes reports whether the open session makes the call or the compaction of an id. The caller holds l.mu.
func (l *live) makes(id string) bool {
	return l.call != nil && l.call.id == id || l.task != nil && l.task.id == id
}

// begun has the open session know of a turn.
func (l *live) begun(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beginLocked(id)
}

func (l *live) beginLocked(id string) {
	switch {
	case l.turns[id] != nil: // it is known
	case l.session == nil:
		l.turns[id] = func() {} // until the session is opened
	default:
		l.turns[id] = l.session.BeginTurn()
	}
}

// ended has the open session forget a turn.
func (l *live) ended(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endLocked(id)
}

func (l *live) endLocked(id string) {
	if end := l.turns[id]; end != nil {
		end()
		delete(l.turns, id)
	}
}

// compacted notes that a compaction has run.
func (l *live) compacted(r *kagewasm.Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.DryRun {
		l.tokens = r.TokensAfter
	}
}

// Request asks for a compaction for the agent, which runs when the turn is over.
func (s *loop) Request(ctx context.Context, key, instructions string) error {
	return s.with(ctx, key, func(_ *live, open *session.Session) error {
		open.Request(hooks.Wish{Instructions: instructions})
		return nil
	})
}
