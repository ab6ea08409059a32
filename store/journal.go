package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wire"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store/internal/rows"
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

// byID is a journal whose messages have nothing but an id: all that a rollback needs, and a
// tenth of the work.
type byID struct{ *Tx }

// Load implements [session.Journal].
func (j byID) Load(ctx context.Context, key string) ([]session.Entry, error) {
	return load(ctx, j.tx, key, names)
}

// load reads the entries of a session. each calls its function for the messages of it, in
// the order in which they came.
func load(ctx context.Context, c conn, key string,
	each func(context.Context, conn, string, func(seq int, m abi.Message)) error) (list []session.Entry, err error) {
	err = rows.Each(ctx, c, func(r *sql.Rows) error {
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
	err = each(ctx, c, key, func(seq int, m abi.Message) {
		if seq > len(list) || list[seq-1].Rewrite != nil {
			return // it came since, or stands in the entry
		}
		list[seq-1].Append = append(list[seq-1].Append, m)
	})
	if err != nil {
		return nil, fault("load", err)
	}
	return list, nil
}

// names are messages with nothing but their ids.
func names(ctx context.Context, c conn, key string, do func(int, abi.Message)) error {
	return rows.Each(ctx, c, func(r *sql.Rows) error {
		var seq int
		var m abi.Message
		err := r.Scan(&seq, &m.ID)
		do(seq, m)
		return err
	}, "SELECT seq, id FROM messages WHERE session = $1 ORDER BY seq, n", key)
}

// maxTogetherRead is how many messages are read as one value: a database takes as long for
// a row as for some kilobytes of it.
const maxTogetherRead = 1000

// bodies are whole messages.
func bodies(ctx context.Context, c conn, key string, do func(int, abi.Message)) error {
	for seq, n, more := 0, 0, true; more; {
		var places, texts string
		if err := c.QueryRowContext(ctx, `SELECT COALESCE(string_agg(CAST(seq AS TEXT) || ',' || CAST(n AS TEXT), ','), ''),
			COALESCE(string_agg(message, ','), '') FROM (SELECT seq, n, message FROM messages
			WHERE session = $1 AND (seq, n) > ($2, $3) ORDER BY seq, n LIMIT $4) AS page`, key, seq, n-1, maxTogetherRead).
			Scan(&places, &texts); err != nil {
			return err
		}
		var at []int
		if err := json.Unmarshal([]byte("["+places+"]"), &at); err != nil {
			return err
		}
		list, err := messagesOf("[" + texts + "]")
		if err != nil {
			return err
		}
		if len(at) != 2*len(list) {
			return fmt.Errorf("%d places of %d messages", len(at)/2, len(list))
		}
		for i := range list {
			seq, n = at[2*i], at[2*i+1]+1
			do(seq, list[i])
		}
		more = len(list) == maxTogetherRead
	}
	return nil
}

// messagesOf reads a list of messages.
func messagesOf(doc string) (list []abi.Message, err error) {
	if list, err = wire.Messages(doc); err != nil { // which takes less than was written
		list = nil
		err = json.Unmarshal([]byte(doc), &list)
	}
	return list, err
}

// Arriving returns the next entry of a session that is stored, with messages that arrive. Making it
// looks only at their ids, however long the session is. It is not stored yet.
func (tx *Tx) Arriving(ctx context.Context, key string, msgs []abi.Message) (e session.Entry, err error) {
	e.Time = tx.store.opts.Now().UTC().Format(time.RFC3339)
	if err := tx.tx.QueryRowContext(ctx, "SELECT seq + 1 FROM sessions WHERE session = $1", key).Scan(&e.Seq); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = unknown(key)
		}
		return e, fault("append", err)
	}
	const find = "SELECT EXISTS (SELECT 1 FROM messages WHERE session = $1 AND id = $2)"
	var failed error
	taken := func(id string) (is bool) {
		if failed == nil {
			failed = tx.tx.QueryRowContext(ctx, find, key, id).Scan(&is)
		}
		return is
	}
	if err = e.Arrive(msgs, taken); failed != nil {
		err = failed
	}
	return e, fault("append", err)
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
	if e.Rollback != nil {
		return fault("append", tx.goBack(ctx, key, &e))
	}
	return fault("append", tx.follow(ctx, key, &e))
}

// take takes the number of the next entry of a session.
func (tx *Tx) take(ctx context.Context, key string, seq int) error {
	n, err := int64(0), error(nil)
	if now := tx.store.stamp(); seq == 1 {
		id, agent, _ := strings.Cut(key, "#")
		n, err = exec(ctx, tx.tx, `INSERT INTO sessions (session, id, agent, created, updated, seq)
			VALUES ($1, $2, $3, $4, $4, 1)
			ON CONFLICT (session) DO UPDATE SET seq = 1, updated = $4 WHERE sessions.seq = 0`,
			key, id, agent, now)
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
		return nothingWaits(ctx, tx, key)
	case e.Rewrite == nil:
		return tx.apply(ctx, key, e.Seq, session.EffectOf(e, nil, nil, nil))
	}
	brought := make(map[string]abi.Message, len(e.Rewrite.New))
	for _, m := range e.Rewrite.New {
		brought[m.ID] = m
	}
	after := make([]abi.Message, len(e.Rewrite.Order))
	for i, id := range e.Rewrite.Order {
		after[i] = brought[id]
		after[i].ID = id
	}
	if err := addRecord(ctx, tx, key, e); err != nil {
		return err
	}
	return tx.replace(ctx, key, e, after, nil)
}

// replace writes that the model sees another list, once an entry that is stored.
func (tx *Tx) replace(
	ctx context.Context, key string, e *session.Entry, after []abi.Message, inForce []abi.Record,
) error {
	all, err := marks(ctx, tx, key)
	if err == nil {
		err = tx.apply(ctx, key, e.Seq, session.EffectOf(e, all, after, inForce))
	}
	if err == nil {
		err = nothingWaits(ctx, tx, key)
	}
	return err
}

func nothingWaits(ctx context.Context, tx *Tx, key string) error {
	_, err := exec(ctx, tx.tx, "UPDATE sessions SET pending = '' WHERE session = $1", key)
	return err
}

// marks are all messages, in their order, with what took them away.
func marks(ctx context.Context, tx *Tx, key string) (all []session.Mark, err error) {
	err = rows.Each(ctx, tx.tx, func(r *sql.Rows) error {
		var m session.Mark
		err := r.Scan(&m.ID, &m.By)
		all = append(all, m)
		return err
	}, "SELECT id, superseded_by FROM messages WHERE session = $1 ORDER BY pos", key)
	return all, err
}
