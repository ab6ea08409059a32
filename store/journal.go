package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/session"
)

// Append implements [session.Journal].
func (s *Store) Append(ctx context.Context, key string, e session.Entry) error {
	return s.Update(ctx, func(tx *Tx) error { return tx.Append(ctx, key, e) })
}

// Load implements [session.Journal].
func (s *Store) Load(ctx context.Context, key string) ([]session.Entry, error) {
	return load(ctx, s.db, key, bodies)
}

// Load implements [session.Journal].
func (tx *Tx) Load(ctx context.Context, key string) ([]session.Entry, error) {
	return load(ctx, tx.tx, key, bodies)
}

// bodies are whole messages, names their ids alone.
const (
	bodies = "SELECT seq, message FROM messages WHERE session = $1 ORDER BY seq, n"
	names  = "SELECT seq, id FROM messages WHERE session = $1 ORDER BY seq, n"
)

// ByID is a journal whose messages have nothing but an id: all that appending needs, and a
// tenth of the work.
type ByID struct{ *Tx }

// Load implements [session.Journal].
func (j ByID) Load(ctx context.Context, key string) ([]session.Entry, error) {
	return load(ctx, j.tx, key, names)
}

func load(ctx context.Context, c conn, key, messages string) (list []session.Entry, err error) {
	err = rows(ctx, c, func(r *sql.Rows) error {
		var text string
		if err := r.Scan(&text); err != nil {
			return err
		}
		list = append(list, session.Entry{})
		return json.Unmarshal([]byte(text), &list[len(list)-1])
	}, "SELECT entry FROM entries WHERE session = $1 ORDER BY seq", key)
	if err != nil || list == nil {
		return nil, fault("load", err)
	}
	err = rows(ctx, c, func(r *sql.Rows) error {
		var seq int
		var text string
		if err := r.Scan(&seq, &text); err != nil {
			return err
		}
		if seq > len(list) || list[seq-1].Rewrite != nil {
			return nil // it came since, or stands in the entry
		}
		m := abi.Message{ID: text}
		if messages == bodies {
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				return err
			}
		}
		list[seq-1].Append = append(list[seq-1].Append, m)
		return nil
	}, messages, key)
	if err != nil {
		return nil, fault("load", err)
	}
	return list, nil
}

// Append implements [session.Journal]: it stores the entry, and what follows from it.
func (tx *Tx) Append(ctx context.Context, key string, e session.Entry) error {
	if err := tx.take(ctx, key, e.Seq); err != nil {
		return fault("append", err)
	}
	bare := e
	bare.Append = nil
	text, err := json.Marshal(bare)
	if err != nil {
		return fault("append", err)
	}
	const insert = "INSERT INTO entries (session, seq, entry) VALUES ($1, $2, $3)"
	if _, err := exec(ctx, tx.tx, insert, key, e.Seq, string(text)); err != nil {
		return fault("append", err)
	}
	if err := tx.follow(ctx, key, &e); err != nil || e.Rollback == nil {
		return fault("append", err)
	}
	return fault("append", tx.log(ctx, &AuditEntry{Type: EventRolledBack, Session: key, To: e.Rollback}, nil))
}

// take takes the number of the next entry of a session.
func (tx *Tx) take(ctx context.Context, key string, seq int) error {
	n, err := int64(0), error(nil)
	if now := tx.store.stamp(); seq == 1 {
		id, agent, _ := strings.Cut(key, "#")
		n, err = exec(ctx, tx.tx, `INSERT INTO sessions (session, id, agent, created, updated, seq)
			VALUES ($1, $2, $3, $4, $4, 1) ON CONFLICT (session) DO UPDATE SET seq = 1, updated = $4 WHERE sessions.seq = 0`, key, id, agent, now)
	} else {
		n, err = exec(ctx, tx.tx, "UPDATE sessions SET seq = $2, updated = $3 WHERE session = $1 AND seq = $4",
			key, seq, now, seq-1)
	}
	if err == nil && n == 0 {
		err = conflict("append", "session %q: %d is not the next entry", key, seq)
	}
	return err
}

// follow writes what follows from an entry.
func (tx *Tx) follow(ctx context.Context, key string, e *session.Entry) error {
	switch {
	case e.Proposed != nil:
		_, err := exec(ctx, tx.tx, "UPDATE sessions SET pending = $2 WHERE session = $1", key, e.Proposed.Rewrite.Record.ID)
		return err
	case e.Rejected != nil:
		return tx.nothingWaits(ctx, key)
	case e.Rewrite == nil && e.Rollback == nil:
		return tx.apply(ctx, key, e.Seq, session.EffectOf(e, nil, nil, nil))
	}
	all, err := tx.marks(ctx, key)
	if err != nil {
		return err
	}
	after, inForce, err := tx.listAfter(ctx, key, e)
	if err == nil {
		err = tx.apply(ctx, key, e.Seq, session.EffectOf(e, all, after, inForce))
	}
	if err != nil {
		return err
	}
	return tx.nothingWaits(ctx, key)
}

func (tx *Tx) nothingWaits(ctx context.Context, key string) error {
	_, err := exec(ctx, tx.tx, "UPDATE sessions SET pending = '' WHERE session = $1", key)
	return err
}

// listAfter is what the model sees after an entry that is stored, and changes which
// compactions are in force. Only a rollback has to look at those before it.
func (tx *Tx) listAfter(ctx context.Context, key string, e *session.Entry) ([]abi.Message, []abi.Record, error) {
	if e.Rewrite != nil {
		brought := make(map[string]abi.Message, len(e.Rewrite.New))
		for _, m := range e.Rewrite.New {
			brought[m.ID] = m
		}
		after := make([]abi.Message, len(e.Rewrite.Order))
		for i, id := range e.Rewrite.Order {
			after[i] = brought[id]
			after[i].ID = id
		}
		return after, nil, tx.addRecord(ctx, key, e)
	}
	h, err := session.OpenHistory(ctx, ByID{tx}, key, nil)
	if err != nil {
		return nil, nil, err
	}
	return h.Messages(), h.Compactions(), tx.enforce(ctx, key, h.Compactions())
}

// marks are all messages, in their order, with what took them away.
func (tx *Tx) marks(ctx context.Context, key string) (all []session.Mark, err error) {
	err = rows(ctx, tx.tx, func(r *sql.Rows) error {
		var m session.Mark
		err := r.Scan(&m.ID, &m.By)
		all = append(all, m)
		return err
	}, "SELECT id, superseded_by FROM messages WHERE session = $1 ORDER BY pos", key)
	return all, err
}
