package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// Request is a request of a client that may come twice: the key that the client gave it,
// a digest of what it asks for, and the entry that came of it.
type Request struct {
	Key    string
	Digest string
	Seq    int
}

// Keep keeps what came of a request to a session, in the transaction that did it. Where
// there is one of that key already the error has the code conflict.
func (r Request) Keep(ctx context.Context, tx *Tx, session string) error {
	n, err := exec(ctx, tx.tx, `INSERT INTO requests (session, key, digest, seq) VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`, session, r.Key, r.Digest, r.Seq)
	if err == nil && n == 0 {
		err = conflict("answer", "session %q: request %q was answered already", session, r.Key)
	}
	return fault("answer", err)
}

// Answered returns the answer to a request, and the ids of the messages that it brought; nil where none
// of that key was answered.
func (s *Store) Answered(ctx context.Context, session, key string) (r *Request, ids []string, err error) {
	r = &Request{Key: key}
	err = s.db.QueryRowContext(ctx, "SELECT digest, seq FROM requests WHERE session = $1 AND key = $2", session, key).
		Scan(&r.Digest, &r.Seq)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, nil
	}
	if err == nil {
		err = rows.Each(ctx, s.db, func(row *sql.Rows) error {
			ids = append(ids, "")
			return row.Scan(&ids[len(ids)-1])
		}, "SELECT id FROM messages WHERE session = $1 AND seq = $2 ORDER BY n", session, r.Seq)
	}
	return r, ids, fault("answered", err)
}
