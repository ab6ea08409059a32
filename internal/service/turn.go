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
	// Background: the compaction that is due runs beside, or plugins are still being told.
	Background bool `json:"background,omitempty"`
	// Report is about the compaction that ran; nil where none did.
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

// EndTurn says that a turn has ended. Where it has completed plugins hear of it, and the
// compaction runs that they or the agent asked for, or that is due. Where plugins hear of it that may
// take longer than anybody should wait: what is not over by then goes on beside, and Background says so.
func (s *loop) EndTurn(ctx context.Context, key, id string, completed bool) (*Turn, error) {
	telling, done := make(chan int, tries), make(chan struct{})
	var t *Turn
	var err error
	s.runs.Go(func() { // who leaves when the turn is over takes it from nobody
		defer close(done)
		t, err = s.closeTurn(context.WithoutCancel(ctx), key, id, completed, telling)
	})
	var late <-chan time.Time
	version := 0
	for {
		select {
		case <-done:
			return t, err
		case <-ctx.Done():
			return nil, ctx.Err()
		case version = <-telling:
			late = time.After(s.opts.TurnTime)
		case <-late:
			return &Turn{Background: true, Version: version}, nil
		}
	}
}

// closeTurn does what the end of a turn asks for. telling hears the version of the session before plugins are told.
func (s *loop) closeTurn(
	ctx context.Context, key, id string, completed bool, telling chan<- int,
) (t *Turn, err error) {
	err = s.with(ctx, key, func(l *live, open *session.Session) error {
		if t == nil { // else it was ended, and the session has changed meanwhile
			if err := s.endTurn(ctx, l, id); err != nil {
				return err
			}
		}
		t = &Turn{}
		if !completed {
			return nil
		}
		if version, heard := l.hearsOfTurns(); heard {
			telling <- version
		}
		turn, result, err := open.EndOfTurn(ctx)
		t.Turn = turn
		if turn != nil {
			t.Background = turn.Background
		}
		if result != nil {
			t.Report = &result.Report
			l.compacted(&result.Report)
		}
		l.writing.Lock()
		defer l.writing.Unlock()
		t.Version = l.version
		return err
	})
	return t, err
}

// hearsOfTurns reports whether a plugin of the session hears of ends of turns, and at which version the session is.
func (l *live) hearsOfTurns() (version int, heard bool) {
	l.mu.Lock()
	heard = turnend.Heard(l.agent.Compactor.Options().Plugins)
	l.mu.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.version, heard
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
		if l.call == nil || l.call.id != o.ID { // of which the session knows itself
			l.beginLocked(o.ID)
		}
	}
	return nil
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
