package service

import (
	"context"
	"crypto/rand"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/session"
)

// Turn says what came of the end of a turn.
type Turn struct {
	*kagewasm.Turn
	// Background: the compaction that is due runs beside.
	Background bool `json:"background,omitempty"`
	// Report is about the compaction that ran; nil where none did.
	Report  *kagewasm.Report `json:"report"`
	Version int              `json:"version"`
}

// BeginTurn says that a turn of the agent begins: from the request of a person to the
// answer, with all tool calls between. A compaction that a person asks for fails until it
// has ended.
func (s *loop) BeginTurn(ctx context.Context, key string) (id string, err error) {
	err = s.with(ctx, key, func(l *live, open *session.Session) error {
		id = "turn-" + strings.ToLower(rand.Text()[:16])
		if err := s.keepTurn(ctx, key, id); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.turns[id] = open.BeginTurn()
		return nil
	})
	return id, err
}

// EndTurn says that a turn has ended. Where it has completed plugins hear of it, and the
// compaction runs that they or the agent asked for, or that is due.
func (s *loop) EndTurn(ctx context.Context, key, id string, completed bool) (t *Turn, err error) {
	err = s.with(ctx, key, func(l *live, open *session.Session) error {
		l.mu.Lock()
		end, begun := l.turns[id]
		delete(l.turns, id)
		l.mu.Unlock()
		if !begun && t == nil {
			return unknown("turn " + id + ": it has not begun, or has ended")
		}
		if begun {
			end()
			if err := s.dropTurns(ctx, key, id); err != nil {
				return err
			}
		}
		t = &Turn{}
		if !completed {
			return nil
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
		open.Request(instructions)
		return nil
	})
}
