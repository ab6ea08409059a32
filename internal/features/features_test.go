package features_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
)

// TestTableIsUpToDate holds docs/features.md to the sources: each row, and each
// test that says it proves one.
func TestTableIsUpToDate(t *testing.T) {
	root := shared.Root(t)
	rows := features.Rows()
	proofs, err := features.Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range features.Unproved(rows, proofs) {
		t.Errorf("%s has no test: name it in one that proves it", id)
	}
	got, err := os.ReadFile(filepath.Join(root, features.File))
	if err != nil {
		t.Fatal(err)
	}
	if diff := differ(string(got), features.Table(rows, proofs)); diff != "" {
		t.Errorf("%s is older than the tests: run make features\n%s", features.File, diff)
	}
}

// differ is the lines that only one of the texts has.
func differ(was, is string) string {
	var b strings.Builder
	for _, side := range []struct{ mark, text, other string }{{"-", was, is}, {"+", is, was}} {
		there := make(map[string]bool)
		for line := range strings.Lines(side.other) {
			there[line] = true
		}
		for line := range strings.Lines(side.text) {
			if !there[line] {
				b.WriteString(side.mark + " " + line)
			}
		}
	}
	return b.String()
}

func TestRowsAreInOrder(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range features.Rows() {
		if seen[r.ID] || r.Text == "" || strings.ContainsAny(r.Text, "|\n") {
			t.Errorf("row %q: there twice, without a text, or one that breaks the table", r.ID)
		}
		seen[r.ID] = true
	}
	for prefix, n := range map[string]int{"K": 30, "I": 10, "T": 11, "O": 9, "A": 13, "N": 10, "complaint ": 18} {
		t.Run(prefix, func(t *testing.T) {
			for i := range n {
				if id := prefix + itoa(i+1); !seen[id] {
					t.Errorf("no row %s", id)
				}
			}
		})
	}
}
