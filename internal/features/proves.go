package features

import (
	"slices"
	"testing"
)

// Proves says that a test proves rows of docs/features.md, by their ids: "K9",
// "complaint 5". A test calls it first, with literals: [Scan] reads them off the
// sources. An id that no row has fails the test.
func Proves(tb testing.TB, ids ...string) {
	tb.Helper()
	for _, id := range ids {
		if !isRow(id) {
			tb.Fatalf("no row %q in internal/features/rows.tsv: name one that is there, or add it", id)
		}
	}
}

func isRow(id string) bool {
	return slices.ContainsFunc(Rows(), func(r Row) bool { return r.ID == id })
}
