package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// Record is a compaction of a session, with the operator's judgement in it.
type Record struct {
	abi.Record
	// InForce is false where a rollback undid it.
	InForce bool `json:"in_force"`
	// Seq is the entry of the journal that made it.
	Seq int `json:"-"`
}

// addRecord stores the record of an entry, if it has one. The same compaction may be
// made again after it was undone: it is one record, and keeps its judgement.
func addRecord(ctx context.Context, tx *Tx, key string, e *session.Entry) error {
	if e.Rewrite.Record == nil {
		return nil
	}
	text, err := json.Marshal(e.Rewrite.Record)
	if err != nil {
		return err
	}
	if _, err := exec(ctx, tx.tx, `INSERT INTO records (session, id, seq, in_force, record) VALUES ($1, $2, $3, 1, $4)
		ON CONFLICT (session, id) DO UPDATE SET seq = $3, in_force = 1, record = $4`,
		key, e.Rewrite.Record.ID, e.Seq, string(text)); err != nil {
		return err
	}
	return countRecords(ctx, tx, key)
}

// enforce marks which compactions are in force.
func enforce(ctx context.Context, tx *Tx, key string, in []abi.Record) error {
	if _, err := exec(ctx, tx.tx, "UPDATE records SET in_force = 0 WHERE session = $1", key); err != nil {
		return err
	}
	for i := range in {
		if _, err := exec(ctx, tx.tx, "UPDATE records SET in_force = 1 WHERE session = $1 AND id = $2", key,
			in[i].ID); err != nil {
			return err
		}
	}
	return countRecords(ctx, tx, key)
}

// notInForce are the ids of the compactions that are not in force, by session: those of a session, or of all where key
// is empty.
func notInForce(ctx context.Context, c conn, key string) (ids map[string][]string, err error) {
	ids = make(map[string][]string)
	return ids, rows.Each(ctx, c, func(r *sql.Rows) error {
		var of, id string
		err := r.Scan(&of, &id)
		ids[of] = append(ids[of], id)
		return err
	}, "SELECT session, id FROM records WHERE in_force = 0 AND ($1 = '' OR session = $1) ORDER BY session, seq", key)
}

func countRecords(ctx context.Context, tx *Tx, key string) error {
	_, err := exec(ctx, tx.tx, `UPDATE sessions SET compactions =
		(SELECT COUNT(*) FROM records WHERE session = $1 AND in_force = 1) WHERE session = $1`, key)
	return err
}

// Records returns the compactions of a session, oldest first, those that were undone too.
func (s *Store) Records(ctx context.Context, key string) (list []Record, err error) {
	list, err = recordsOf(ctx, s.db, key)
	return list, fault("records", err)
}

func recordsOf(ctx context.Context, c conn, key string) (list []Record, err error) {
	err = rows.Each(ctx, c, func(r *sql.Rows) error {
		var rec Record
		var text, flag, notes string
		var force int
		if err := r.Scan(&text, &rec.Seq, &force, &flag, &notes); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(text), &rec.Record)
		rec.InForce, rec.Flag, rec.Notes = force == 1, flag, notes
		list = append(list, rec)
		return err
	}, "SELECT record, seq, in_force, flag, notes FROM records WHERE session = $1 ORDER BY seq", key)
	return list, err
}

// MarshalJSON writes the record with what became of it: a record marshals itself, and
// would leave that out.
func (r Record) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.Record)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(text[:len(text)-1], `,"in_force":%t}`, r.InForce), nil
}

// SessionOf returns the key of the session that has a compaction, empty where none has.
func (s *Store) SessionOf(ctx context.Context, compaction string) (key string, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT session FROM records WHERE id = $1", compaction).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return key, fault("session of", err)
}

// Flags are the judgements that a compaction can have.
var Flags = []string{"good", "bad", "neutral", ""}

// Flag keeps the operator's judgement of a compaction, one of [Flags], and notes.
func (tx *Tx) Flag(ctx context.Context, key, compaction, flag, notes string) error {
	if !slices.Contains(Flags, flag) {
		return usage("flag %q: give good, bad or neutral", flag)
	}
	n, err := exec(ctx, tx.tx, "UPDATE records SET flag = $3, notes = $4 WHERE session = $1 AND id = $2",
		key, compaction, flag, notes)
	if err == nil && n == 0 {
		err = &abi.Error{Code: abi.CodeUsage, Err: ErrUnknown,
			Message: fmt.Sprintf("session %q: it has no compaction %q", key, compaction)}
	}
	if err == nil {
		err = tx.log(ctx, &AuditEntry{Type: kagewasm.EventFlagged, Session: key, Compaction: compaction, Flag: flag},
			map[string]string{"notes": notes})
	}
	return fault("flag", err)
}
