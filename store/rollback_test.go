package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// TestTokensAfterUndo: an undo has the session cost what it cost before the compaction, a redo
// what it cost behind it, and who goes back to a message has the share of what is left. A
// redo is told as one, and what is taken back and made again counts once. What was
// taken back stays so in the statistics when the session is deleted.
func TestTokensAfterUndo(t *testing.T) {
	features.Proves(t, "K11")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		list := hosttest.Chat(20)
		record := func(n, before, after int) *abi.Record {
			return &abi.Record{ID: fmt.Sprint("cmp-", n), TokensBefore: before, TokensAfter: after}
		}
		tokens := func(tx *store.Tx, n int) error { return tx.Describe(t.Context(), "s", store.About{}, n) }
		step := func(what string, want int, do func(tx *store.Tx, h *session.History) error) {
			t.Helper()
			if err := s.Update(t.Context(), func(tx *store.Tx) error {
				h, err := session.OpenHistory(t.Context(), tx, "s", nil)
				if err != nil {
					return err
				}
				return do(tx, h)
			}); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if one, err := s.Session(t.Context(), "s"); err != nil || one.Tokens != want {
				t.Errorf("%s: %d tokens, want %d; %v", what, one.Tokens, want, err)
			}
		}
		shrink := func(n, before, after int) func(*store.Tx, *session.History) error {
			return func(tx *store.Tx, h *session.History) error {
				kept := h.Messages()
				err := h.Rewrite(t.Context(), append([]abi.Message{said(fmt.Sprint("note", n))}, kept[len(kept)-4:]...),
					record(n, before, after))
				if err == nil {
					err = tokens(tx, after)
				}
				if err != nil {
					return err
				}
				return tx.Log(t.Context(), kagewasm.Event{Type: kagewasm.EventCompleted, Session: abi.Session{ID: "s"},
					Compaction: fmt.Sprint("cmp-", n), Report: &kagewasm.Report{TokensBefore: before, TokensAfter: after}})
			}
		}
		undo := func(_ *store.Tx, h *session.History) error { _, err := h.Undo(t.Context()); return err }
		redo := func(_ *store.Tx, h *session.History) error { return h.Redo(t.Context()) }
		step("appended", 0, func(_ *store.Tx, h *session.History) error { return h.Append(t.Context(), list...) })
		step("compacted", 300, shrink(1, 1000, 300))
		step("undone", 1000, undo)
		step("redone", 300, redo)
		step("undone", 1000, undo)
		step("made again", 300, shrink(1, 1000, 300))
		step("something arrives", 300, func(_ *store.Tx, h *session.History) error {
			return h.Append(t.Context(), said("more"))
		})
		step("compacted on", 200, shrink(2, 400, 200))
		step("undone", 400, undo)
		step("undone twice", 1000, undo)
		step("redone", 400, redo)
		step("redone twice", 200, redo)
		stats, err := s.Stats(t.Context(), "s")
		if err != nil || stats.Completed != 2 || stats.RolledBack != 4 || stats.Redone != 3 || stats.TokensBefore != 1400 {
			t.Errorf("%+v, %v", stats, err)
		}
		var redone []bool
		err = s.Audit(t.Context(), "s", 0, func(a store.Audited) error {
			var e store.AuditEntry
			err := json.Unmarshal(a.Entry, &e)
			if e.Type == store.EventRolledBack {
				redone = append(redone, e.Redo)
			}
			return err
		})
		if want := []bool{false, true, false, false, false, true, true}; err != nil || !slices.Equal(redone, want) {
			t.Errorf("%v, %v", redone, err)
		}
		if report, err := s.VerifyAudit(t.Context()); err != nil || len(report.Problems) > 0 {
			t.Errorf("%+v, %v", report, err)
		}
		inForce := func(takenBack, before, after int) {
			t.Helper()
			for _, key := range []string{"s", ""} {
				st, err := s.Stats(t.Context(), key)
				if err != nil || st.Completed != 2 || st.TakenBack != takenBack || st.TokensBefore != before ||
					st.TokensAfter != after {
					t.Errorf("of %q: %+v, %v; want %d taken back, %d to %d", key, st, err, takenBack, before, after)
				}
			}
		}
		inForce(0, 1400, 500)
		step("undone", 400, undo)
		inForce(1, 1000, 300)
		step("all undone", 1000, undo)
		inForce(2, 0, 0)
		err = s.Update(t.Context(), func(tx *store.Tx) error {
			h, err := session.OpenHistory(t.Context(), tx, "s", nil)
			if err != nil {
				return err
			}
			return h.Rollback(t.Context(), list[9].ID)
		})
		if err != nil {
			t.Fatal(err)
		}
		share := 1000 * length(list[:10]) / length(list)
		if one, err := s.Session(t.Context(), "s"); err != nil || one.Tokens < share*9/10 || one.Tokens > share*11/10 {
			t.Errorf("with ten of its messages %d tokens, about %d wanted; %v", one.Tokens, share, err)
		}
		inForce(2, 0, 0)
		err = s.Update(t.Context(), func(tx *store.Tx) error { return tx.Delete(t.Context(), "s") })
		if err != nil {
			t.Fatal(err)
		}
		inForce(2, 0, 0)
		step("another one of that id", 0, func(_ *store.Tx, h *session.History) error {
			return h.Append(t.Context(), list...)
		})
		step("compacted as before", 300, shrink(1, 1000, 300))
		inForce(1, 1000, 300)
		step("undone", 1000, undo)
		inForce(2, 0, 0)
	})
}

// length is how long messages are as JSON.
func length(list []abi.Message) (n int) {
	for i := range list {
		doc, _ := json.Marshal(&list[i])
		n += len(doc)
	}
	return n
}
