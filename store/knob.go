package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// SetKnob keeps the value that an operator gave a plugin's knob, for one agent or,
// where agent is empty, for all.
func (tx *Tx) SetKnob(ctx context.Context, plugin, agent, name string, value json.RawMessage) error {
	if !json.Valid(value) {
		return usage("knob %q of %q: the value is no JSON", name, plugin)
	}
	_, err := exec(ctx, tx.tx, `INSERT INTO knobs (plugin, agent, name, value) VALUES ($1, $2, $3, $4)
		ON CONFLICT (plugin, agent, name) DO UPDATE SET value = $4`, plugin, agent, name, string(value))
	return fault("knobs", err)
}

// ResetKnob forgets it.
func (tx *Tx) ResetKnob(ctx context.Context, plugin, agent, name string) error {
	_, err := exec(ctx, tx.tx, "DELETE FROM knobs WHERE plugin = $1 AND agent = $2 AND name = $3", plugin, agent, name)
	return fault("knobs", err)
}

// Knobs returns the values that hold for an agent: its own, and those for all.
func (s *Store) Knobs(ctx context.Context, plugin, agent string) (map[string]json.RawMessage, error) {
	values := make(map[string]json.RawMessage)
	err := rows.Each(ctx, s.db, func(r *sql.Rows) error {
		var name, value string
		err := r.Scan(&name, &value)
		values[name] = json.RawMessage(value)
		return err
	}, "SELECT name, value FROM knobs WHERE plugin = $1 AND agent IN ('', $2) ORDER BY agent", plugin, agent)
	return values, fault("knobs", err)
}
