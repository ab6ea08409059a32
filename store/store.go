package store

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store/kv"
)

// Options of a store. The zero value of each field is the default written beside
// it.
type Options struct {
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// NoContent keeps out of the audit log whatever was said: summaries, notes and
	// the words of errors. Ids, digests and figures stay. Default off.
	NoContent bool
}

// Store keeps sessions. It is safe for concurrent use, also by several processes.
// Close it.
type Store struct {
	db    *sql.DB
	opts  Options
	tally totals
	// writers change a SQLite file together; nil elsewhere.
	writers *writers
	// deleted: something was deleted whose words may stand in the log of a SQLite file.
	deleted atomic.Bool
}

var _ session.Journal = (*Store)(nil)

// Close ends the use of the database.
func (s *Store) Close() error { return fault("close", s.db.Close()) }

// conn is what a query runs in: the database, or a transaction.
type conn = kv.Conn

// Tx is a change of the store that happens as a whole, or not at all.
type Tx struct {
	tx    conn
	store *Store
}

var _ session.Journal = (*Tx)(nil)

// Update makes a change. Nothing of it is kept where do returns an error, which
// Update returns.
func (s *Store) Update(ctx context.Context, do func(*Tx) error) error {
	if s.writers != nil {
		return s.writers.update(ctx, s, do)
	}
	return s.alone(ctx, do)
}

// alone makes one change in a transaction of its own.
func (s *Store) alone(ctx context.Context, do func(*Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fault("update", err)
	}
	defer func() { _ = tx.Rollback() }() // which does nothing after a commit
	if err := do(&Tx{tx: &prepared{tx, make(map[string]*sql.Stmt)}, store: s}); err != nil {
		return err
	}
	return fault("update", tx.Commit())
}

// prepared is a transaction that prepares each statement once: a compaction writes
// hundreds of rows.
type prepared struct {
	*sql.Tx
	statements map[string]*sql.Stmt
}

// ExecContext implements conn. The statement is closed with the transaction.
func (p *prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// QueryRowContext implements conn.
func (p *prepared) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := p.statement(ctx, query)
	if err != nil {
		return p.Tx.QueryRowContext(ctx, query, args...) // which says what is wrong
	}
	return s.QueryRowContext(ctx, args...)
}

func (p *prepared) statement(ctx context.Context, query string) (s *sql.Stmt, err error) {
	if s = p.statements[query]; s == nil {
		if s, err = p.PrepareContext(ctx, query); err == nil {
			p.statements[query] = s
		}
	}
	return s, err
}

// stamp is the time, as it is stored.
func (s *Store) stamp() string { return stampOf(s.opts.Now()) }

func stampOf(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// exec runs a statement and returns how many rows it changed.
func exec(ctx context.Context, c conn, query string, args ...any) (int64, error) {
	r, err := c.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}
