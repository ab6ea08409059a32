package store_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/store/kv"
)

// TestDeletedWords: what was said in a session that is deleted, or kept by a plugin, stands
// nowhere in the database's files any more, while a server has them open; also where somebody
// else reads at that moment, as soon as something is changed behind that.
func TestDeletedWords(t *testing.T) {
	features.Proves(t, "K11")
	const word = "zanzibar-quagga"
	for _, reading := range []bool{false, true} {
		t.Run(map[bool]string{false: "alone", true: "beside a reader"}[reading], func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kagewasm.db")
			s, other := open(t, path, store.Options{}), open(t, path, store.Options{})
			for _, key := range []string{"a", "b"} {
				m := abi.Message{ID: "m", Role: abi.RoleUser, Content: abi.Text("of " + key)}
				if key == "a" {
					m.Content = abi.Text("say " + word)
				}
				if err := s.Append(t.Context(), key, session.Entry{Seq: 1, Append: []abi.Message{m}}); err != nil {
					t.Fatal(err)
				}
			}
			memory := s.Memory(kv.Options{})
			if err := memory.Set(t.Context(), "p", "k", "keep "+word); err != nil {
				t.Fatal(err)
			}
			if n := standing(t, path, word); n == 0 {
				t.Fatal("it was never written")
			}
			end := func() {}
			if reading {
				rows, err := other.DB().QueryContext(t.Context(), "SELECT id FROM messages")
				if err != nil || !rows.Next() {
					t.Fatal(err)
				}
				end = func() { rows.Close() }
			}
			if err := memory.Delete(t.Context(), "p", "k"); err != nil {
				t.Fatal(err)
			}
			err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.Delete(t.Context(), "a") })
			if err != nil {
				t.Fatal(err)
			}
			if end(); reading {
				if err := s.Update(context.Background(), func(tx *store.Tx) error {
					return tx.Describe(t.Context(), "b", store.About{}, 3)
				}); err != nil {
					t.Fatal(err)
				}
			}
			if n := standing(t, path, word); n > 0 {
				t.Errorf("it stands in %d places", n)
			}
		})
	}
}

// standing is how often a word stands in the files of a database.
func standing(t *testing.T, path, word string) (n int) {
	t.Helper()
	for _, name := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		n += bytes.Count(data, []byte(word))
	}
	return n
}
