// Package rows reads the rows of queries.
package rows

import (
	"context"
	"database/sql"
)

// Querier runs queries: a database, a transaction, a connection.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Each calls do for each row of a query.
func Each(ctx context.Context, q Querier, do func(*sql.Rows) error, query string, args ...any) error {
	r, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer r.Close()
	for r.Next() {
		if err := do(r); err != nil {
			return err
		}
	}
	return r.Err()
}
