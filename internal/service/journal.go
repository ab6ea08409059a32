package service

import (
	"context"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// journal stores the entries of an open session, with what the request says that they
// came of, and tells who listens.
type journal struct {
	service *core
	live    *live
}

// terms are what a request says of the entry that it makes, carried by its context, and
// what came of it.
type terms struct {
	// version is the one that the session has to be at, -1 for any.
	version int
	// request is kept with the entry, nil for none.
	request *store.Request

	seq int      // of the entry that was made
	ids []string // of the messages that it added
}

type termsKey struct{}

func newTerms(version *int) *terms {
	t := &terms{version: -1}
	if version != nil {
		t.version = *version
	}
	return t
}

func withTerms(ctx context.Context, t *terms) context.Context {
	return context.WithValue(ctx, termsKey{}, t)
}

// Append implements [session.Journal].
func (j *journal) Append(ctx context.Context, key string, e session.Entry) error {
	j.live.writing.Lock()
	defer j.live.writing.Unlock()
	ctx = context.WithoutCancel(ctx) // what has begun is not torn down, with what others write beside it
	err := j.service.store.Update(ctx, func(tx *store.Tx) error { return put(ctx, tx, key, &e) })
	if err == nil {
		j.live.version = e.Seq
		j.service.stored(ctx, key, &e)
	}
	return err
}

// put stores an entry, on the terms of the request that it came of.
func put(ctx context.Context, tx *store.Tx, key string, e *session.Entry) error {
	t, _ := ctx.Value(termsKey{}).(*terms)
	if err := tx.Append(ctx, key, *e); err != nil {
		return err // also where others wrote meanwhile, which the session has to read before its version can be judged
	}
	if t != nil && t.version >= 0 && t.version != e.Seq-1 {
		return versionError(key, e.Seq-1, t.version)
	}
	if t != nil && t.request != nil {
		r := *t.request
		r.Seq = e.Seq
		if err := r.Keep(ctx, tx, key); err != nil {
			return err
		}
	}
	if r := e.Rewrite; r != nil && r.Record != nil {
		return tx.Describe(ctx, key, store.About{}, r.Record.TokensAfter)
	}
	return nil
}

// stored tells of an entry: the request that it came of, and who watches.
func (s *core) stored(ctx context.Context, key string, e *session.Entry) {
	if t, _ := ctx.Value(termsKey{}).(*terms); t != nil {
		t.seq, t.ids = e.Seq, lists.Map(e.Append, func(m abi.Message) string { return m.ID })
	}
	s.hub.publish(Event{Type: typeOf(e), Time: e.Time, Session: key, Version: e.Seq})
}

// appendClosed adds messages to a session that is not open. It is not done where it is.
func (s *core) appendClosed(ctx context.Context, l *live, msgs []abi.Message) (done bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != nil {
		return false, nil
	}
	if _, err := s.store.Session(ctx, l.key); err != nil {
		return true, err
	}
	var made session.Entry
	ctx = context.WithoutCancel(ctx)
	err = s.store.Update(ctx, func(tx *store.Tx) (err error) {
		if made, err = tx.Arriving(ctx, l.key, msgs); err == nil {
			err = put(ctx, tx, l.key, &made)
		}
		return err
	})
	if err == nil {
		s.stored(ctx, l.key, &made)
	}
	return true, err
}

// Load implements [session.Journal].
func (j *journal) Load(ctx context.Context, key string) ([]session.Entry, error) {
	return j.service.store.Load(ctx, key)
}

// at is the error of a session that is not at the version that is expected, nil for any. The store says which it is at:
// while a call is in flight the open session has not read what others wrote.
func (s *core) at(ctx context.Context, key string, version *int) error {
	if version == nil {
		return nil
	}
	row, err := s.store.Session(ctx, key)
	if err == nil && row.Version != *version {
		err = versionError(key, row.Version, *version)
	}
	return err
}

func versionError(key string, is, wanted int) error {
	// Not the code conflict, which the session tries again for.
	return &abi.Error{Code: abi.CodeUsage, Op: "sessions", Err: ErrVersion, Hint: "read it again",
		Message: fmt.Sprintf("session %q: it is at version %d, and %d is expected", key, is, wanted)}
}
