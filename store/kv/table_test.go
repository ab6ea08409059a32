package kv_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/store/kv"
)

// TestTableShared: of values that two connections swap at once none is lost, and what both
// store stays within the quota of both together.
func TestTableShared(t *testing.T) {
	features.Proves(t, "K28")
	for name, database := range map[string]func(testing.TB) string{
		"SQLite":     func(t testing.TB) string { return filepath.Join(t.TempDir(), "kagewasm.db") },
		"PostgreSQL": pgtest.Database,
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			a, b := openTable(t, db, kv.Options{MaxKeys: 5}), openTable(t, db, kv.Options{MaxKeys: 5})
			hammer(t, a, b)
			for _, key := range []string{"shared/0/k", "shared/1/k", "shared/2/k"} {
				if err := a.Delete(t.Context(), "p", key); err != nil {
					t.Fatal(err)
				}
			}
			appendAll(t, a, b)
			stored := 1 // the log
			for i := range 8 {
				if []*kv.Table{a, b}[i%2].Set(t.Context(), "p", fmt.Sprint(i), "x") == nil {
					stored++
				}
			}
			spaces, err := b.Spaces(t.Context())
			if err != nil || stored != 5 || len(spaces) != 1 || spaces[0].Keys != 5 || spaces[0].Name != "p" {
				t.Errorf("%d stored, %+v, %v", stored, spaces, err)
			}
		})
	}
}

// TestMoveTo: all of a folder is in the table afterwards, as it was, with what an
// unfinished batch holds and the records of whose data it is; what is no text is named. A
// second move brings what the folder has now, and nothing is moved that somebody else moved.
func TestMoveTo(t *testing.T) {
	features.Proves(t, "K28")
	dir := t.TempDir()
	from := openKV(t, dir, kv.Options{})
	for _, ns := range []string{"p", "p@agent-0123456789ab", "_lineage"} {
		for _, key := range oddKeys {
			if err := from.Set(t.Context(), ns, key, ns+key); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, data := range map[string]string{"bad.md": "\xff", "long.md": strings.Repeat("x", 1<<20+1)} {
		if err := os.WriteFile(filepath.Join(dir, "p", name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "kagewasm.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	to := s.Memory(kv.Options{})
	if m, err := from.MoveTo(t.Context(), to, func() bool { return false }); err != nil || m.Values != 0 {
		t.Fatalf("what was moved already: %+v, %v", m, err)
	}
	if keys, err := to.List(t.Context(), "p", ""); err != nil || len(keys) > 0 {
		t.Fatalf("%q, %v", keys, err)
	}
	for round := range 2 {
		m, err := from.MoveTo(t.Context(), to, func() bool { return true })
		if want := 3*len(oddKeys) - round; err != nil || m.Values != want || len(m.Left) != 2 ||
			!strings.Contains(strings.Join(m.Left, "\n"), "p bad.md: ") {
			t.Fatalf("round %d: %d values, %q, %v", round, m.Values, m.Left, err)
		}
		for _, ns := range []string{"p", "p@agent-0123456789ab", "_lineage"} {
			keys, err := to.List(t.Context(), ns, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range keys {
				if v, ok, err := to.Get(t.Context(), ns, key); v != ns+key || !ok || err != nil {
					t.Errorf("%s %.40q: %.40q, %v", ns, key, v, err)
				}
			}
			if want := slices.Sorted(slices.Values(oddKeys)); len(keys) != len(want) && round == 0 {
				t.Errorf("%s: %q", ns, keys)
			}
		}
		if err := from.Delete(t.Context(), "p", oddKeys[0]); err != nil {
			t.Fatal(err)
		}
	}
	spaces, err := to.Spaces(t.Context())
	if err != nil || len(spaces) != 2 || spaces[0].Keys != len(oddKeys)-1 {
		t.Errorf("%+v, %v", spaces, err)
	}
}
