package store

import (
	"context"

	"github.com/kagewasm/kagewasm/session"
)

// goBack writes what follows from a rollback. It alone has to look at the entries before.
func (tx *Tx) goBack(ctx context.Context, key string, e *session.Entry) error {
	h, err := session.OpenHistory(ctx, byID{tx}, key, nil)
	if err != nil {
		return err
	}
	length, err := tx.visible(ctx, key)
	if err != nil {
		return err
	}
	if err := enforce(ctx, tx, key, h.Compactions()); err != nil {
		return err
	}
	if err := tx.replace(ctx, key, e, h.Messages(), h.Compactions()); err != nil {
		return err
	}
	if err := tx.recount(ctx, key, e, length); err != nil {
		return err
	}
	return tx.log(ctx, &AuditEntry{Type: EventRolledBack, Session: key, To: e.Rollback, Redo: h.Redone()}, nil)
}

// visible is how long the messages are that the model sees, in characters as they are stored.
func (tx *Tx) visible(ctx context.Context, key string) (length int64, err error) {
	err = tx.tx.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(length(message)), 0) AS BIGINT) FROM messages
		WHERE session = $1 AND superseded_by = ''`, key).Scan(&length)
	return length, err
}

// recount says what the messages cost after a rollback. Where it leads to what was there
// before or behind a compaction, that was counted; else they cost what their share of the
// length says, until they are counted again.
func (tx *Tx) recount(ctx context.Context, key string, e *session.Entry, length int64) error {
	counted, err := tx.countedAt(ctx, key, e)
	if err != nil {
		return err
	}
	if counted > 0 {
		_, err = exec(ctx, tx.tx, "UPDATE sessions SET tokens = $2 WHERE session = $1", key, counted)
		return err
	}
	now, err := tx.visible(ctx, key)
	if err == nil && length > 0 {
		_, err = exec(ctx, tx.tx, "UPDATE sessions SET tokens = tokens * $2 / $3 WHERE session = $1", key, now, length)
	}
	return err
}

// countedAt is what the session cost that a rollback leads to; 0 where nobody counted it.
func (tx *Tx) countedAt(ctx context.Context, key string, e *session.Entry) (tokens int, err error) {
	if e.Through != "" {
		return 0, nil
	}
	list, err := recordsOf(ctx, tx.tx, key)
	for i := range list {
		switch *e.Rollback {
		case list[i].Seq:
			return list[i].TokensAfter, err
		case list[i].Seq - 1:
			tokens = list[i].TokensBefore
		}
	}
	return tokens, err
}
