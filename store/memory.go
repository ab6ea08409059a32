package store

import (
	"context"

	"github.com/kagewasm/kagewasm/store/kv"
)

// Memory returns the storage of plugins, for runtime.Options.KV and Options.Memory. It is in the
// database, apart from sessions: deleting one deletes nothing of the other. It is of use until the
// Store is closed.
func (s *Store) Memory(quotas kv.Options) *kv.Table {
	return kv.NewTable(s.db, func(ctx context.Context, do func(kv.Conn) error) error {
		return s.Update(ctx, func(tx *Tx) error { return do(tx.tx) })
	}, quotas)
}
