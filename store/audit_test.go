package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// event is a compaction with all that there is to say of one.
func event(n int) kagewasm.Event {
	return kagewasm.Event{Type: kagewasm.EventCompleted, Time: "2026-01-01T00:00:00Z", Compaction: fmt.Sprint("cmp-", n),
		Session: abi.Session{ID: "s", Model: "large"}, Trigger: abi.TriggerManual, Strategy: "drop",
		Report: &kagewasm.Report{Compacted: true, ReasonCode: abi.ReasonCompacted, Strategy: "summarize",
			Source: &abi.Source{Type: abi.SourceModel, Name: "small"}, TokensBefore: 100, TokensAfter: 40,
			Superseded: []string{"m1"}, Kept: []string{"m0", "m2"}, Inserted: []string{"kw-1"}, Summary: "the secret plan",
			Hooks: []hooks.Outcome{{Plugin: "memo", Hook: abi.HookPreCompact, Outcome: "ok",
				CallStats: abi.CallStats{MS: 1.5}}},
			Failures: []*abi.Error{{Code: abi.CodeTrap, Plugin: "memo", Message: "the secret trap"}}}}
}

// log writes a log of five entries: four compactions and a judgement.
func log(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		if err := tx.Append(t.Context(), "s", session.Entry{Seq: 1, Append: []abi.Message{said("m1")}}); err != nil {
			return err
		}
		if err := tx.Append(t.Context(), "s", session.Entry{Seq: 2, Rewrite: &session.Rewrite{Order: []string{"m1"},
			Record: &abi.Record{ID: "cmp-1"}}}); err != nil {
			return err
		}
		for n := range 4 {
			if err := tx.Log(t.Context(), event(n)); err != nil {
				return err
			}
		}
		return tx.Flag(t.Context(), "s", "cmp-1", "bad", "the secret note")
	}); err != nil {
		t.Fatal(err)
	}
}

// TestAudit: an entry has every field that is asked for, and the operator's judgement
// is one.
func TestAudit(t *testing.T) {
	features.Proves(t, "K15")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		log(t, s)
		var lines []string
		if err := s.Audit(t.Context(), "s", 0, func(a store.Audited) error {
			b, err := json.Marshal(a)
			lines = append(lines, string(b))
			return err
		}); err != nil || len(lines) != 5 {
			t.Fatal(len(lines), err)
		}
		for _, want := range []string{`"type":"compaction.completed"`, `"session":"s"`, `"compaction":"cmp-0"`,
			`"trigger":"manual"`, `"reason_code":"compacted"`, `"strategy":"summarize"`,
			`"source":{"type":"model","name":"small"}`,
			`"model":"large"`, `"kept":["m0","m2"]`, `"superseded":["m1"]`, `"inserted":["kw-1"]`,
			`"hooks":[{"plugin":"memo","hook":"pre_compact","outcome":"ok","ms":1.5}]`,
			`"failures":[{"code":"trap","plugin":"memo"}]`, `"tokens_before":100`, `"tokens_after":40`, "the secret plan"} {
			if !strings.Contains(lines[0], want) {
				t.Errorf("no %s in %s", want, lines[0])
			}
		}
		for _, want := range []string{`"type":"compaction.flagged"`, `"flag":"bad"`, `the secret note`} {
			if !strings.Contains(lines[4], want) {
				t.Errorf("no %s in %s", want, lines[4])
			}
		}
	})
}

// TestAuditOfWhatDidNothing: a compaction that superseded nothing has the strategy that tried.
func TestAuditOfWhatDidNothing(t *testing.T) {
	features.Proves(t, "K22")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			return tx.Log(t.Context(), kagewasm.Event{Type: kagewasm.EventNoop, Session: abi.Session{ID: "s"},
				Strategy: "drop", Report: &kagewasm.Report{ReasonCode: abi.ReasonNothingToSupersede}})
		})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Audit(t.Context(), "s", 0, func(a store.Audited) error {
			var e store.AuditEntry
			if err := json.Unmarshal(a.Entry, &e); err != nil || e.Strategy != "drop" {
				t.Errorf("strategy %q, %v", e.Strategy, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestAuditWithoutContent: ids, digests and figures alone.
func TestAuditWithoutContent(t *testing.T) {
	features.Proves(t, "K15")
	s := open(t, store.InMemory, store.Options{NoContent: true})
	log(t, s)
	if err := s.Audit(t.Context(), "", 0, func(a store.Audited) error {
		if text := string(a.Entry) + string(a.Content); strings.Contains(text, "secret") {
			t.Errorf("says what was said: %s", text)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.VerifyAudit(t.Context()); err != nil || r.Entries != 5 || len(r.Problems) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestTampering: what was changed, removed, moved or cut off is named.
func TestTampering(t *testing.T) {
	features.Proves(t, "N5")
	const rehash = "UPDATE audit SET hash = 'another' WHERE seq = "
	for _, c := range []struct {
		name string
		sql  []string
		want string
	}{
		{"as it was written", nil, "[]"},
		{"a figure changed", []string{"UPDATE audit SET entry = REPLACE(entry, '100', '101') WHERE seq = 2"},
			"[{2 changed}]"},
		{"the last one changed", []string{"UPDATE audit SET entry = REPLACE(entry, 'bad', 'good') WHERE seq = 5"},
			"[{5 changed}]"},
		{"what was said changed", []string{"UPDATE audit SET content = REPLACE(content, 'secret', 'open') WHERE seq = 3"},
			"[{3 what was said with it was changed}]"},
		{"what was said removed", []string{"UPDATE audit SET content = '' WHERE seq = 3"},
			`[{3 what was said with it was removed, and session "s" was not deleted}]`},
		{"one removed", []string{"DELETE FROM audit WHERE seq = 3"}, "[{3 removed}]"},
		{"the first removed", []string{"DELETE FROM audit WHERE seq = 1"}, "[{1 removed}]"},
		{"two moved", []string{"UPDATE audit SET seq = 99 WHERE seq = 2", "UPDATE audit SET seq = 2 WHERE seq = 3",
			"UPDATE audit SET seq = 3 WHERE seq = 99"},
			"[{2 moved: what stands there was entry 3} {3 moved: what stands there was entry 2}]"},
		{"cut off", []string{"DELETE FROM audit WHERE seq > 3"}, "[{4 cut off from the end} {5 cut off from the end}]"},
		{"the last hash changed", []string{rehash + "5"}, "[{5 changed} {5 changed, and its hash with it}]"},
		{"all gone", []string{"DELETE FROM audit"}, "[{1 cut off from the end} {2 cut off from the end} " +
			"{3 cut off from the end} {4 cut off from the end} {5 cut off from the end}]"},
		{"all gone, with the number of the last", []string{"DELETE FROM audit", "DELETE FROM audit_head"},
			"[{0 removed as a whole, with the number of its last entry}]"},
		{"the number of the last gone", []string{"DELETE FROM audit WHERE seq > 4", "DELETE FROM audit_head"},
			"[{4 the last that is left: the number of the last entry was removed, and with it there may be others}]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, store.InMemory, store.Options{})
			log(t, s)
			for _, q := range c.sql {
				if _, err := s.DB().ExecContext(t.Context(), q); err != nil {
					t.Fatal(err)
				}
			}
			r, err := s.VerifyAudit(t.Context())
			if err != nil || fmt.Sprint(r.Problems) != c.want {
				t.Errorf("%v, %v; want %s", r.Problems, err, c.want)
			}
		})
	}
}

// TestNoEnd: a log whose end is gone takes no entry, and says why.
func TestNoEnd(t *testing.T) {
	s := open(t, store.InMemory, store.Options{})
	log(t, s)
	if _, err := s.DB().ExecContext(t.Context(), "DELETE FROM audit_head"); err != nil {
		t.Fatal(err)
	}
	err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.Delete(t.Context(), "s") })
	if abi.CodeOf(err) != abi.CodeState || !strings.Contains(err.Error(), "the number of its last entry was removed") {
		t.Error(err)
	}
}

// TestDeletedSession: the log of a deleted session is whole, without what was said.
func TestDeletedSession(t *testing.T) {
	features.Proves(t, "N5")
	s := open(t, store.InMemory, store.Options{})
	log(t, s)
	if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.Delete(t.Context(), "s") }); err != nil {
		t.Fatal(err)
	}
	if r, err := s.VerifyAudit(t.Context()); err != nil || r.Entries != 6 || r.Withheld != 5 || len(r.Problems) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
