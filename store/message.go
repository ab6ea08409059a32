package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wire"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// apply does to the messages of a session what an entry does.
func (tx *Tx) apply(ctx context.Context, key string, seq int, f session.Effect) error {
	const mark = "UPDATE messages SET superseded_by = $3 WHERE session = $1 AND id = $2"
	for _, m := range f.Gone {
		if _, err := exec(ctx, tx.tx, mark, key, m.ID, m.By); err != nil {
			return err
		}
	}
	for _, id := range f.Back {
		if _, err := exec(ctx, tx.tx, mark, key, id, ""); err != nil {
			return err
		}
	}
	bytes, err := tx.add(ctx, key, seq, f.New)
	if err != nil {
		return err
	}
	_, err = exec(ctx, tx.tx, "UPDATE sessions SET messages = messages + $2, bytes = bytes + $3 WHERE session = $1", key,
		f.Shown, bytes)
	return err
}

// add adds messages, each at its place, and returns how long they are.
func (tx *Tx) add(ctx context.Context, key string, seq int, list []session.Placed) (bytes int, err error) {
	var last int64
	if err := tx.tx.QueryRowContext(ctx, "SELECT COALESCE(MAX(pos), 0) FROM messages WHERE session = $1", key).
		Scan(&last); err != nil {
		return 0, err
	}
	for n, m := range list {
		pos := last + 1
		if !m.Last {
			if pos, err = behind(ctx, tx, key, m.Behind); err != nil {
				return 0, err
			}
		}
		last++
		text, err := textOf(&m.Message)
		if err != nil {
			return 0, err
		}
		if _, err := exec(ctx, tx.tx, `INSERT INTO messages (session, id, seq, n, pos, message)
			VALUES ($1, $2, $3, $4, $5, $6)`, key, m.ID, seq, n, pos, text); err != nil {
			return 0, err
		}
		bytes += len(text)
	}
	return bytes, nil
}

// textOf is a message as it is stored.
func textOf(m *abi.Message) (string, error) {
	list, err := wire.AppendMessages(nil, []abi.Message{*m})
	if err == nil {
		return string(list[1 : len(list)-1]), nil
	}
	text, err := json.Marshal(m) // which takes more
	return string(text), err
}

// behind makes room after a message, or before all.
func behind(ctx context.Context, tx *Tx, key, id string) (pos int64, err error) {
	err = tx.tx.QueryRowContext(ctx, "SELECT pos FROM messages WHERE session = $1 AND id = $2", key, id).Scan(&pos)
	if err == sql.ErrNoRows && id == "" {
		err = nil
	}
	if err == nil {
		_, err = exec(ctx, tx.tx, "UPDATE messages SET pos = pos + 1 WHERE session = $1 AND pos > $2", key, pos)
	}
	return pos + 1, err
}

// MessageQuery says which messages of a session.
type MessageQuery struct {
	// Superseded are listed too. Default off: what the model sees.
	Superseded bool
	// After is the id of the last message of the page before. Default the beginning.
	After string
	// From is the id of the message to begin with. Default the beginning.
	From string
	// Limit is how many at most. Default all.
	Limit int
}

// Messages returns the messages of a session in their order, as they came, with what became of them.
func (s *Store) Messages(ctx context.Context, key string, q MessageQuery) (list []session.StoredMessage, err error) {
	limit := cmp.Or(q.Limit, 1<<31-1)
	err = rows.Each(ctx, s.db, stored(&list), `SELECT message, superseded_by FROM messages
		WHERE session = $1 AND ($2 = 1 OR superseded_by = '') AND
		pos > COALESCE((SELECT pos FROM messages WHERE session = $1 AND id = $3), 0) AND
		pos >= COALESCE((SELECT pos FROM messages WHERE session = $1 AND id = $5), 0) ORDER BY pos LIMIT $4`,
		key, number(q.Superseded), q.After, limit, q.From)
	return list, fault("messages", err)
}

// stored adds a row to a list of messages.
func stored(list *[]session.StoredMessage) func(*sql.Rows) error {
	return func(r *sql.Rows) error {
		var m session.StoredMessage
		var text string
		if err := r.Scan(&text, &m.By); err != nil {
			return err
		}
		one, err := messagesOf("[" + text + "]")
		if err == nil {
			m.Message, m.Superseded = one[0], m.By != ""
			*list = append(*list, m)
		}
		return err
	}
}

// maxIDs is how many messages are asked for by their ids at once.
const maxIDs = 200

// Named returns the messages of some ids, as far as the session has them, in no order.
func (s *Store) Named(ctx context.Context, key string, ids []string) (list []session.StoredMessage, err error) {
	for some := range slices.Chunk(ids, maxIDs) {
		args, places := []any{key}, make([]string, len(some))
		for i, id := range some {
			args, places[i] = append(args, id), "$"+strconv.Itoa(i+2)
		}
		query := "SELECT message, superseded_by FROM messages WHERE session = $1 AND id IN (" +
			strings.Join(places, ", ") + ")"
		if err := rows.Each(ctx, s.db, stored(&list), query, args...); err != nil {
			return nil, fault("messages", err)
		}
	}
	return list, nil
}

// Line is a message in the outline of a session.
type Line struct {
	ID string
	// Seq is the entry of the journal that brought it.
	Seq int
	// By is what took it from the model's view; empty where the model sees it.
	By string
	// Bytes is how long it is as it is stored.
	Bytes int
	// Pos orders the messages as the session has them: what a compaction inserted stands
	// where it was inserted.
	Pos int
}

// Outline has a line for each message of a session, in the order in which they came,
// without reading what they say.
func (s *Store) Outline(ctx context.Context, key string) (list []Line, err error) {
	err = rows.Each(ctx, s.db, func(r *sql.Rows) error {
		var l Line
		err := r.Scan(&l.ID, &l.Seq, &l.By, &l.Bytes, &l.Pos)
		list = append(list, l)
		return err
	}, "SELECT id, seq, superseded_by, LENGTH(message), pos FROM messages WHERE session = $1 ORDER BY seq, n", key)
	return list, fault("outline", err)
}

// number is how a truth is stored.
func number(is bool) int {
	if is {
		return 1
	}
	return 0
}
