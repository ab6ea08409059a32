package store

import (
	"context"
	"database/sql"
	"io/fs"
)

// OpenMigrated is Open with other migrations.
func OpenMigrated(ctx context.Context, database string, migrations fs.FS) (*Store, error) {
	return open(ctx, database, Options{}, migrations)
}

// Migrations are the project's own.
func Migrations() fs.FS { return must(fs.Sub(embedded, "migrations")) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// DB is the database below a store, for tests that tamper with it.
func (s *Store) DB() *sql.DB { return s.db }

// FileAddress is the address of a file for SQLite.
var FileAddress = fileAddress
