package store

import "context"

// Scrub removes what was deleted from the write-ahead log of a SQLite file, where it would
// stand until it is written over: the log is written to the file and emptied. With other
// databases it does nothing. [Tx.Delete] scrubs by itself; call Scrub after deleting from
// [Store.Memory].
func (s *Store) Scrub(ctx context.Context) error {
	if s.writers == nil {
		return nil
	}
	s.deleted.Store(true)
	return fault("scrub", emptyLog(ctx, s))
}

// emptyLog empties the log where something was deleted. Where somebody reads from it, which is
// over soon, it is left to the next change.
func emptyLog(ctx context.Context, s *Store) error {
	if !s.deleted.Load() {
		return nil
	}
	c, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, "PRAGMA busy_timeout(250)"); err != nil { // changes wait for this
		return err
	}
	var busy, pages, moved int
	err = c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	if err == nil && busy == 0 {
		s.deleted.Store(false)
	}
	_, again := c.ExecContext(ctx, "PRAGMA busy_timeout(10000)")
	if err == nil {
		err = again
	}
	return err
}
