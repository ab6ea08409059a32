package store_test

import (
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/store"
)

// databases are all that the store can stand on: a function gives the address of a
// new empty one.
var databases = map[string]func(t testing.TB) string{
	"SQLite":     func(t testing.TB) string { return filepath.Join(t.TempDir(), "kagewasm.db") },
	"PostgreSQL": pgtest.Database,
}

// onAll runs a test on each database. It opens another connection to the database
// with each call of open.
func onAll(t *testing.T, test func(t *testing.T, open func(store.Options) *store.Store)) {
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			db := address(t)
			test(t, func(o store.Options) *store.Store { return open(t, db, o) })
		})
	}
}

func open(t testing.TB, database string, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), database, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestMain(m *testing.M) { pgtest.Main(m) }
