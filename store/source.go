package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/klauspost/compress/zstd"

	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// Source is a file as it was read.
type Source struct {
	// Seq is the entry after which the session is what the file says.
	Seq    int
	Name   string
	Format string
	// IDs are what the history calls the messages of the file, in their order.
	IDs  []string
	Data []byte
}

// AddSource keeps the file of a session.
func (tx *Tx) AddSource(ctx context.Context, key string, src Source) error {
	ids, err := json.Marshal(src.IDs)
	if err != nil {
		return fault("add source", err)
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return fault("add source", err)
	}
	packed := w.EncodeAll(src.Data, nil)
	if _, err := exec(ctx, tx.tx, `INSERT INTO sources (session, seq, name, format, ids, data)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`, key, src.Seq, src.Name, src.Format, string(ids),
		packed); err != nil {
		return fault("add source", err)
	}
	_, err = exec(ctx, tx.tx, "UPDATE sessions SET bytes = bytes + $2 WHERE session = $1", key, len(packed))
	return fault("add source", err)
}

// Sources returns the files of a session, the latest first.
func (s *Store) Sources(ctx context.Context, key string) (list []Source, err error) {
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fault("sources", err)
	}
	defer unpack.Close()
	err = rows.Each(ctx, s.db, func(r *sql.Rows) error {
		var src Source
		var ids string
		var packed []byte
		err := r.Scan(&src.Seq, &src.Name, &src.Format, &ids, &packed)
		if err == nil {
			err = json.Unmarshal([]byte(ids), &src.IDs)
		}
		if err == nil {
			src.Data, err = unpack.DecodeAll(packed, nil)
		}
		list = append(list, src)
		return err
	}, "SELECT seq, name, format, ids, data FROM sources WHERE session = $1 ORDER BY seq DESC", key)
	return list, fault("sources", err)
}
