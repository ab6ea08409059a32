package store

import (
	"context"
	"database/sql"
	"sync"
)

// writers make changes of a SQLite file together: one transaction, and one wait for the
// disk, for all that came while the one before it was written. Each change is whole or not
// there at all, as alone, and who comes first is served first.
type writers struct {
	mu   sync.Mutex
	line []*change // those that wait
	busy bool      // somebody writes
}

// change is one call of Update.
type change struct {
	ctx  context.Context
	do   func(*Tx) error
	turn chan struct{} // closed where it is its caller's turn to write for all in line
	done chan struct{} // closed when it is made, or not
	err  error
	// panicked is what do panicked with, for its own caller.
	panicked any
}

// maxTogether is how many changes are made in one transaction at most.
const maxTogether = 64

func (w *writers) update(ctx context.Context, s *Store, do func(*Tx) error) error {
	c := &change{ctx: ctx, do: do, turn: make(chan struct{}), done: make(chan struct{})}
	w.mu.Lock()
	w.line = append(w.line, c)
	if !w.busy {
		w.busy = true
		close(c.turn)
	}
	w.mu.Unlock()
	select {
	case <-c.turn:
		w.write(s)
	case <-c.done:
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.err
}

// write makes the changes in line, the caller's first, and lets the next one in line write
// for those that came meanwhile.
func (w *writers) write(s *Store) {
	w.mu.Lock()
	n := min(len(w.line), maxTogether)
	batch := w.line[:n:n]
	w.line = w.line[n:]
	w.mu.Unlock()
	if n == 1 {
		batch[0].alone(s)
	} else {
		together(s, batch)
	}
	_ = emptyLog(context.Background(), s) // which the next change tries again
	for _, c := range batch {
		close(c.done)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy = len(w.line) > 0; w.busy {
		close(w.line[0].turn)
	}
}

func (c *change) alone(s *Store) {
	c.guarded(func() error { return s.alone(c.ctx, c.do) })
}

// guarded keeps a panic for the caller of the change.
func (c *change) guarded(do func() error) {
	defer func() {
		if c.panicked = recover(); c.panicked != nil {
			c.err = errPanicked
		}
	}()
	c.err = do()
}

var errPanicked = usage("the change panicked")

// together makes changes in one transaction. A change that fails is taken back alone, to its savepoint.
// Where the transaction fails none is made.
func together(s *Store, batch []*change) {
	ctx := context.Background() // which is nobody's to end
	tx, err := s.db.BeginTx(ctx, nil)
	if err == nil {
		defer func() { _ = tx.Rollback() }() // which does nothing after a commit
		all := &Tx{tx: &prepared{tx, make(map[string]*sql.Stmt)}, store: s}
		for _, c := range batch {
			if err = c.within(ctx, tx, all); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = tx.Commit()
	}
	for _, c := range batch {
		if err != nil && c.panicked == nil {
			c.err = fault("update", err)
		}
	}
}

// within makes the change in a transaction with others. The error it returns is the transaction's; the
// change's own is c.err.
func (c *change) within(ctx context.Context, tx *sql.Tx, all *Tx) error {
	if c.err = fault("update", c.ctx.Err()); c.err != nil {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT change"); err != nil {
		return err
	}
	if c.guarded(func() error { return c.do(all) }); c.err != nil {
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO change"); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "RELEASE change")
	return err
}
