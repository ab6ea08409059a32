package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// Kept is a value that a program keeps for the next one.
type Kept struct {
	// Kind is what it is, one of those below.
	Kind string
	// Owner of a request or a turn is the key of its session, and the value goes with the
	// session; of a setting it is the agent's path. Name tells the values of an owner
	// apart.
	Owner, Name string
	// Value is JSON.
	Value json.RawMessage
}

// Kinds of what is kept: what a breaker knows of a plugin, by its digest; compactions that
// an agent asked for; turns that were begun and not ended; settings that an operator gave.
const (
	KeptCircuit = "circuit"
	KeptRequest = "request"
	KeptTurn    = "turn"
	KeptSetting = "setting"
)

// Keep keeps the value, in the place of the one that was there.
func (k Kept) Keep(ctx context.Context, tx *Tx) error {
	if !json.Valid(k.Value) {
		return usage("%s %q: the value is no JSON", k.Kind, k.Name)
	}
	_, err := exec(ctx, tx.tx, `INSERT INTO kept (kind, owner, name, value) VALUES ($1, $2, $3, $4)
		ON CONFLICT (kind, owner, name) DO UPDATE SET value = $4`, k.Kind, k.Owner, k.Name, string(k.Value))
	return fault("keep", err)
}

// Drop forgets it, and reports whether it was there; with an empty name all of its kind and owner.
func (k Kept) Drop(ctx context.Context, tx *Tx) (dropped bool, err error) {
	n, err := exec(ctx, tx.tx, "DELETE FROM kept WHERE kind = $1 AND owner = $2 AND ($3 = '' OR name = $3)", k.Kind,
		k.Owner, k.Name)
	return n > 0, fault("keep", err)
}

// Kept returns the values of a kind and of some owners, by owner and name; without an owner all of the
// kind.
func (s *Store) Kept(ctx context.Context, kind string, owners ...string) (list []Kept, err error) {
	return keptIn(ctx, s.db, kind, owners...)
}

// Kept returns what [Store.Kept] does, as the change sees it.
func (tx *Tx) Kept(ctx context.Context, kind string, owners ...string) (list []Kept, err error) {
	return keptIn(ctx, tx.tx, kind, owners...)
}

func keptIn(ctx context.Context, db conn, kind string, owners ...string) (list []Kept, err error) {
	read := func(where string, args ...any) error {
		return rows.Each(ctx, db, func(r *sql.Rows) error {
			k := Kept{Kind: kind}
			var value string
			err := r.Scan(&k.Owner, &k.Name, &value)
			k.Value = json.RawMessage(value)
			list = append(list, k)
			return err
		}, "SELECT owner, name, value FROM kept WHERE "+where+" ORDER BY owner, name", args...)
	}
	if len(owners) == 0 {
		return list, fault("kept", read("kind = $1", kind))
	}
	for _, owner := range owners {
		if err := read("kind = $1 AND owner = $2", kind, owner); err != nil {
			return nil, fault("kept", err)
		}
	}
	return list, nil
}
