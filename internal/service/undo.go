package service

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/session"
)

// Restored is what came of an undo, a rollback or a redo.
type Restored struct {
	Session  string `json:"session"`
	Version  int    `json:"version"`
	Messages int    `json:"messages"` // that the model sees now
	// Compaction is the id of the one that was undone.
	Compaction string `json:"compaction,omitempty"`
	// Superseded is how many messages it had taken away.
	Superseded int `json:"superseded,omitempty"`
}

// Undo takes the last compaction back, and what came later with it.
func (s *history) Undo(ctx context.Context, key string, version *int) (*Restored, error) {
	var undone *abi.Record
	out, err := s.restore(ctx, key, version, func(ctx context.Context, open *session.Session) (err error) {
		undone, err = open.Undo(ctx)
		return err
	})
	if err == nil && undone != nil {
		out.Compaction, out.Superseded = undone.ID, len(undone.Superseded)
	}
	return out, err
}

// Redo takes the last undo or rollback back, where nothing came after it.
func (s *history) Redo(ctx context.Context, key string, version *int) (*Restored, error) {
	return s.restore(ctx, key, version, func(ctx context.Context, open *session.Session) error { return open.Redo(ctx) })
}

// Rollback takes a session back to where a message had just arrived, or to a version.
func (s *history) Rollback(ctx context.Context, key, message string, to, version *int) (*Restored, error) {
	if (message == "") == (to == nil) {
		return nil, usage("rollback", "give to_message or to_version")
	}
	return s.restore(ctx, key, version, func(ctx context.Context, open *session.Session) error {
		if to != nil {
			return open.RollbackTo(ctx, *to)
		}
		return open.Rollback(ctx, message)
	})
}

func (s *history) restore(
	ctx context.Context, key string, version *int, do func(context.Context, *session.Session) error,
) (out *Restored, err error) {
	on := newTerms(version)
	err = s.with(ctx, key, func(l *live, open *session.Session) error {
		if err := s.at(ctx, key, version); err != nil {
			return err
		}
		if err := do(withTerms(ctx, on), open); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.tokens = 0 // nobody has counted yet
		out = &Restored{Session: key, Version: on.seq, Messages: len(open.Messages())}
		return nil
	})
	return out, err
}

// Checkpoint is the compaction of a session that waits for a decision.
func (s *history) Checkpoint(ctx context.Context, key string) (cp *session.Checkpoint, err error) {
	err = s.with(ctx, key, func(_ *live, open *session.Session) error {
		if cp = open.Pending(); cp == nil {
			return unknown("session " + key + ": no compaction waits")
		}
		return nil
	})
	return cp, err
}

// Approve applies the compaction that waits, exactly as it was shown.
func (s *history) Approve(ctx context.Context, key, id string) (out *Compacted, err error) {
	err = s.with(ctx, key, func(l *live, open *session.Session) error {
		if cp := open.Pending(); cp == nil || cp.ID != id {
			return unknown("session " + key + ": compaction " + id + " does not wait")
		}
		result, err := open.Approve(ctx, id)
		if err != nil {
			return err
		}
		l.compacted(&result.Report)
		out = &Compacted{Session: key, Report: &result.Report, Record: result.Record}
		l.writing.Lock()
		defer l.writing.Unlock()
		out.Version = l.version
		return nil
	})
	return out, err
}

// Reject drops the compaction that waits.
func (s *history) Reject(ctx context.Context, key, id, why string) error {
	return s.with(ctx, key, func(_ *live, open *session.Session) error {
		if cp := open.Pending(); cp == nil || cp.ID != id {
			return unknown("session " + key + ": compaction " + id + " does not wait")
		}
		_, err := open.Reject(ctx, id, why)
		return err
	})
}
