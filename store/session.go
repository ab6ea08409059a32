package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// Session is what a list of sessions says of one.
type Session struct {
	// Key names it in the store: its id, and the agent's path behind #.
	Key   string `json:"key"`
	ID    string `json:"id"`
	Agent string `json:"agent,omitempty"`
	About
	Created string `json:"created"`
	Updated string `json:"updated"`
	// Messages are those that the model sees, Tokens what they cost as counted last.
	Messages int `json:"messages"`
	Tokens   int `json:"tokens"`
	// Compactions are those in force.
	Compactions int `json:"compactions"`
	// Pending is the compaction that waits for a decision.
	Pending string `json:"pending,omitempty"`
	// Bytes is what its messages and files take.
	Bytes int64 `json:"bytes"`
	// Version counts the entries of its journal: it changes with the session.
	Version int `json:"version"`
}

// About is what no journal says of a session.
type About struct {
	// Source is where it comes from: a file, a program.
	Source string `json:"source"`
	Model  string `json:"model,omitempty"`
	// Window is the model's, in tokens; 0 where nobody knows.
	Window int `json:"context_window,omitempty"`
	// Sure makes [Tx.Describe] set Model and Window even where they are empty. By default what is stored then stays.
	Sure bool `json:"-"`
}

const sessionColumns = `session, id, agent, source, model, context_window, created, updated, messages, tokens,
	compactions, pending, bytes, seq`

func scanSession(row interface{ Scan(...any) error }) (s Session, err error) {
	err = row.Scan(&s.Key, &s.ID, &s.Agent, &s.Source, &s.Model, &s.Window, &s.Created, &s.Updated, &s.Messages, &s.Tokens,
		&s.Compactions, &s.Pending, &s.Bytes, &s.Version)
	return s, err
}

// Sessions returns the sessions, the one that changed last first, and at most limit of them. after is
// what the page before returned as next, which is empty after the last page.
func (s *Store) Sessions(ctx context.Context, after string, limit int) (list []Session, next string, err error) {
	updated, key, _ := strings.Cut(after, " ")
	if after != "" && key == "" {
		return nil, "", usage("page %q: give what the page before named as next", after)
	}
	err = rows.Each(ctx, s.db, func(r *sql.Rows) error {
		one, err := scanSession(r)
		list = append(list, one)
		return err
	}, "SELECT "+sessionColumns+` FROM sessions WHERE $1 = '' OR updated < $1 OR updated = $1 AND session < $2
		ORDER BY updated DESC, session DESC LIMIT $3`, updated, key, limit+1)
	if len(list) > limit {
		list = list[:limit]
		last := &list[limit-1]
		next = last.Updated + " " + last.Key
	}
	return list, next, fault("sessions", err)
}

// Session returns the session of that key. The error is a usage error where there is none.
func (s *Store) Session(ctx context.Context, key string) (*Session, error) {
	one, err := scanSession(s.db.QueryRowContext(ctx, "SELECT "+sessionColumns+" FROM sessions WHERE session = $1", key))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, missing(ctx, s.db, key)
	}
	return &one, fault("session", err)
}

// missing is the error of a session that is not there, which names those that have its id.
func missing(ctx context.Context, c conn, id string) error {
	var keys []string
	err := rows.Each(ctx, c, func(r *sql.Rows) error {
		var key string
		err := r.Scan(&key)
		keys = append(keys, key)
		return err
	}, "SELECT session FROM sessions WHERE id = $1 ORDER BY session LIMIT 8", id)
	if err != nil || len(keys) == 0 {
		return unknown(id)
	}
	return shared(id, keys)
}

// Pending returns the sessions in which a compaction waits for a decision.
func (s *Store) Pending(ctx context.Context) (list []Session, err error) {
	err = rows.Each(ctx, s.db, func(r *sql.Rows) error {
		one, err := scanSession(r)
		list = append(list, one)
		return err
	}, "SELECT "+sessionColumns+" FROM sessions WHERE pending <> '' ORDER BY updated DESC, session DESC")
	return list, fault("pending", err)
}

// Create begins a session that nothing has happened to yet. Where there is one of that
// key the error has the code conflict.
func (tx *Tx) Create(ctx context.Context, key string, about About) error {
	id, agent, _ := strings.Cut(key, "#")
	n, err := exec(ctx, tx.tx, `INSERT INTO sessions (session, id, agent, source, model, context_window, created, updated,
		seq) VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 0) ON CONFLICT DO NOTHING`, key, id, agent, about.Source, about.Model,
		about.Window, tx.store.stamp())
	if err == nil && n == 0 {
		err = conflict("create", "session %q: there is one already", key)
	}
	return fault("create", err)
}

// Describe stores about a session what no entry says, and what its messages cost now. What is empty
// stays as it was, see About.Sure.
func (tx *Tx) Describe(ctx context.Context, key string, about About, tokens int) error {
	sure := 0
	if about.Sure {
		sure = 1
	}
	n, err := exec(ctx, tx.tx, `UPDATE sessions SET tokens = $2, source = CASE WHEN $3 = '' THEN source ELSE $3 END,
		model = CASE WHEN $4 = '' AND $6 = 0 THEN model ELSE $4 END,
		context_window = CASE WHEN $5 = 0 AND $6 = 0 THEN context_window ELSE $5 END WHERE session = $1`,
		key, tokens, about.Source, about.Model, about.Window, sure)
	if err == nil && n == 0 {
		err = unknown(key)
	}
	return fault("describe", err)
}

// Delete deletes sessions with all that was said in them. What the audit log has of
// them keeps ids and figures alone.
func (tx *Tx) Delete(ctx context.Context, keys ...string) error {
	if len(keys) > 0 && tx.store.writers != nil {
		tx.store.deleted.Store(true)
	}
	for _, key := range keys {
		takenBack, err := notInForce(ctx, tx.tx, key)
		if err == nil {
			err = deleteRow(ctx, tx, key)
		}
		if err == nil {
			_, err = exec(ctx, tx.tx, "UPDATE audit SET content = '' WHERE session = $1", key)
		}
		if err == nil {
			_, err = exec(ctx, tx.tx, "DELETE FROM kept WHERE owner = $1 AND kind IN ($2, $3)", key, KeptRequest, KeptTurn)
		}
		if err == nil {
			err = tx.log(ctx, &AuditEntry{Type: EventDeleted, Session: key, TakenBack: takenBack[key]}, nil)
		}
		if err != nil {
			return fault("delete", err)
		}
	}
	return nil
}

func deleteRow(ctx context.Context, tx *Tx, key string) error {
	n, err := exec(ctx, tx.tx, "DELETE FROM sessions WHERE session = $1", key)
	if err == nil && n == 0 {
		err = unknown(key)
	}
	return err
}

// OlderThan returns the keys of sessions that did not change since a time, the oldest first, without
// those that wait for a decision.
func (tx *Tx) OlderThan(ctx context.Context, t time.Time) (keys []string, err error) {
	err = rows.Each(ctx, tx.tx, func(r *sql.Rows) error {
		var key string
		err := r.Scan(&key)
		keys = append(keys, key)
		return err
	}, "SELECT session FROM sessions WHERE updated < $1 AND pending = '' ORDER BY updated, session", stampOf(t))
	return keys, fault("older than", err)
}

// Trim deletes the sessions that did not change for the longest time until the others
// take at most so many bytes. Those that wait for a decision stay, and so does keep.
func (tx *Tx) Trim(ctx context.Context, most int64, keep string) (deleted []string, err error) {
	var total int64
	const all = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM sessions"
	if err := tx.tx.QueryRowContext(ctx, all).Scan(&total); err != nil {
		return nil, fault("trim", err)
	}
	if total <= most {
		return nil, nil
	}
	err = rows.Each(ctx, tx.tx, func(r *sql.Rows) error {
		var key string
		var bytes int64
		err := r.Scan(&key, &bytes)
		if err == nil && total > most {
			deleted, total = append(deleted, key), total-bytes
		}
		return err
	}, "SELECT session, bytes FROM sessions WHERE pending = '' AND session <> $1 ORDER BY updated, session", keep)
	if err != nil {
		return nil, fault("trim", err)
	}
	return deleted, tx.Delete(ctx, deleted...)
}
