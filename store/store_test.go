package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

var kReport = kagewasm.Report{ReasonCode: abi.ReasonPending, TokensBefore: 100, Window: 1000}

func said(id string) abi.Message {
	return abi.Message{ID: id, Role: abi.RoleUser, Content: abi.Text("text of " + id)}
}

// TestConflict: an entry has the next number, or is refused with the code conflict and
// leaves nothing.
func TestConflict(t *testing.T) {
	features.Proves(t, "K11")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		for _, c := range []struct {
			name string
			seq  int
			code abi.Code
		}{{"no session and not the first", 2, abi.CodeConflict}, {"the first", 1, ""},
			{"the first again", 1, abi.CodeConflict}, {"one left out", 3, abi.CodeConflict}, {"the next", 2, ""}} {
			err := s.Append(t.Context(), "s", session.Entry{Seq: c.seq, Append: []abi.Message{said(c.name)}})
			if abi.CodeOf(err) != c.code {
				t.Errorf("%s: %v, want the code %q", c.name, err, c.code)
			}
		}
		if list, err := s.Load(t.Context(), "s"); err != nil || len(list) != 2 || list[1].Append[0].ID != "the next" {
			t.Errorf("%+v, %v", list, err)
		}
		if list, err := s.Load(t.Context(), "unknown"); err != nil || len(list) != 0 {
			t.Errorf("an unknown session has %d entries, %v", len(list), err)
		}
	})
}

// TestTwoProcesses: of two that compact one session at the same time one gets a
// conflict, and every message that was added is there.
func TestTwoProcesses(t *testing.T) {
	features.Proves(t, "K11")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		first := hosttest.Chat(20)
		h := history(t, open(store.Options{}))
		if err := h.Append(t.Context(), first...); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		won, added := make(chan string, 100), make(chan string, 100)
		// Both have read the same list before either writes.
		stores := []*store.Store{open(store.Options{}), open(store.Options{})}
		same := []*session.History{history(t, stores[0]), history(t, stores[1])}
		for p, s := range stores {
			h := same[p]
			wg.Go(func() {
				list := append([]abi.Message{said(fmt.Sprint("note", p))}, h.Messages()[10:]...)
				err := h.Rewrite(t.Context(), list, &abi.Record{ID: fmt.Sprint("cmp-", p)})
				if err == nil {
					won <- "yes"
				} else if abi.CodeOf(err) != abi.CodeConflict {
					t.Error(err)
				}
			})
			wg.Go(func() {
				for n := 0; n < 10; {
					h := history(t, s)
					id := fmt.Sprintf("p%d-%d", p, n)
					if err := h.Append(t.Context(), said(id)); err == nil {
						added <- id
						n++
					} else if abi.CodeOf(err) != abi.CodeConflict {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		close(added)
		all := make(map[string]bool)
		for _, m := range history(t, open(store.Options{})).All() {
			all[m.ID] = true
		}
		n := 0
		for id := range added {
			if n++; !all[id] {
				t.Errorf("%s was added, and is gone", id)
			}
		}
		if len(won) > 1 || n != 20 {
			t.Errorf("%d compactions of the same list, %d messages added", len(won), n)
		}
	})
}

func history(t testing.TB, j session.Journal) *session.History {
	h, err := session.OpenHistory(t.Context(), j, "s", nil)
	if err != nil {
		t.Error(err)
	}
	return h
}

// TestSessionOnAStore: a session goes on in another process where the first one left
// it, also with a compaction that waits for the operator.
func TestSessionOnAStore(t *testing.T) {
	features.Proves(t, "K29")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		options := session.Options{Session: abi.Session{ID: "s", ContextWindow: new(400)}, Journal: open(store.Options{})}
		c := hosttest.New(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint}})
		one, err := session.Open(t.Context(), c, options)
		if err != nil {
			t.Fatal(err)
		}
		if err := one.Append(t.Context(), hosttest.Chat(60)...); err != nil {
			t.Fatal(err)
		}
		call := func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, nil }
		if _, err := one.Dispatch(t.Context(), call); abi.CodeOf(err) != abi.CodeBusy {
			t.Fatalf("nothing waits: %v", err)
		}
		shown := one.Pending()
		options.Journal = open(store.Options{})
		two, err := session.Open(t.Context(), c, options)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := two.Dispatch(t.Context(), call); abi.CodeOf(err) != abi.CodeBusy || two.Pending() == nil {
			t.Fatalf("the other process does not know that a compaction waits: %v", err)
		}
		if _, err := two.Approve(t.Context(), shown.ID); err != nil || hosttest.IDs(two.Messages()) !=
			hosttest.IDs(shown.Messages) {
			t.Errorf("approved %s, shown was %s, %v", hosttest.IDs(two.Messages()), hosttest.IDs(shown.Messages), err)
		}
		if _, err := one.Approve(t.Context(), shown.ID); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("approved twice: %v", err)
		}
	})
}

// TestPages: sessions come newest first and messages in their order, and pages of them
// come to the whole list.
func TestPages(t *testing.T) {
	features.Proves(t, "K12")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		s := open(store.Options{Now: func() time.Time { clock = clock.Add(time.Second); return clock }})
		for i := range 5 {
			if err := s.Append(t.Context(), fmt.Sprint("s", i), session.Entry{Seq: 1,
				Append: []abi.Message{said("a"), said("b"), said("c")}}); err != nil {
				t.Fatal(err)
			}
		}
		var keys, ids []string
		for next, first := "", true; first || next != ""; first = false {
			list, n, err := s.Sessions(t.Context(), next, 2)
			if err != nil || len(list) > 2 {
				t.Fatal(len(list), err)
			}
			for _, one := range list {
				keys = append(keys, one.Key)
			}
			next = n
		}
		for after := ""; ; {
			list, err := s.Messages(t.Context(), "s1", store.MessageQuery{After: after, Limit: 2})
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				break
			}
			for _, m := range list {
				ids, after = append(ids, m.ID), m.ID
			}
		}
		if fmt.Sprint(keys) != "[s4 s3 s2 s1 s0]" || fmt.Sprint(ids) != "[a b c]" {
			t.Errorf("sessions %v, messages %v", keys, ids)
		}
		if _, _, err := s.Sessions(t.Context(), "nonsense", 2); abi.CodeOf(err) != abi.CodeUsage {
			t.Errorf("a page that is none: %v", err)
		}
	})
}

// TestTrim: the sessions that rested longest go, never one that waits for a decision,
// and nothing that was said in them stays.
func TestTrim(t *testing.T) {
	features.Proves(t, "K11")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		for i := range 4 {
			h, err := session.OpenHistory(t.Context(), s, fmt.Sprint("s", i), nil)
			if err == nil {
				err = h.Append(t.Context(), said("a"), said(strings.Repeat("long", 100)))
			}
			if err == nil && i == 0 {
				err = h.Propose(t.Context(), &kagewasm.Result{Messages: []abi.Message{said("note")},
					Record: &abi.Record{ID: "cmp-1"}, Report: kReport})
			}
			if err == nil {
				err = s.Update(t.Context(), func(tx *store.Tx) error {
					return tx.Log(t.Context(), kagewasm.Event{Type: kagewasm.EventNoop, Session: abi.Session{ID: fmt.Sprint("s", i)},
						Report: &kagewasm.Report{Summary: "what was said"}})
				})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var deleted []string
		err := s.Update(t.Context(), func(tx *store.Tx) (err error) {
			deleted, err = tx.Trim(t.Context(), 1, "s3")
			return err
		})
		list, _, lerr := s.Sessions(t.Context(), "", 10)
		if err != nil || lerr != nil || fmt.Sprint(deleted) != "[s1 s2]" || len(list) != 2 {
			t.Errorf("deleted %v of %v, %v, %v", deleted, list, err, lerr)
		}
		if all, err := s.Messages(t.Context(), "s1", store.MessageQuery{Superseded: true}); err != nil || len(all) > 0 {
			t.Errorf("messages of a deleted session: %v, %v", all, err)
		}
		for _, key := range []string{"s1", "s3"} {
			said := 0
			if err := s.Audit(t.Context(), key, 0, func(a store.Audited) error {
				said += strings.Count(string(a.Content), "what was said")
				return nil
			}); err != nil || said != map[string]int{"s1": 0, "s3": 1}[key] {
				t.Errorf("the audit log says what was said in %s %d times, %v", key, said, err)
			}
		}
		if err := s.Update(t.Context(), func(tx *store.Tx) error {
			return tx.Delete(t.Context(), "s1")
		}); abi.CodeOf(err) != abi.CodeUsage {
			t.Errorf("deleted twice: %v", err)
		}
	})
}

// TestCosts: what the compactor and the agent cost are lines of their own, for a session
// and in total.
func TestCosts(t *testing.T) {
	features.Proves(t, "K14")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		if err := s.Update(t.Context(), func(tx *store.Tx) error {
			for _, id := range []string{"s1", "s2"} {
				asked := hooks.Outcome{Plugin: "p"}
				asked.Model = &abi.ModelUsage{Calls: 2, OutputTokens: 4, Cost: 0.5, Model: "medium"}
				err := tx.Log(t.Context(), kagewasm.Event{Type: kagewasm.EventFailed, Session: abi.Session{ID: id},
					Report: &kagewasm.Report{Hooks: []hooks.Outcome{asked}, Cost: kagewasm.Cost{Model: "small",
						Usage: &abi.ModelUsage{Calls: 1, InputTokens: 10, Cost: 0.25}}}})
				if err == nil {
					err = tx.Spend(t.Context(), id, store.Cost{Spender: store.Primary, Model: "large",
						ModelUsage: abi.ModelUsage{Calls: 3, OutputTokens: 7, Cost: 1.5}})
				}
				if err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for key, times := range map[string]int{"s1": 1, "": 2} {
			list, err := s.Costs(t.Context(), key)
			if err != nil || len(list) != 3 || list[1].Spender != store.Compactor || list[1].Calls != times ||
				list[1].InputTokens != 10*times || list[1].Cost != 0.25*float64(times) || list[2].Spender != store.Primary ||
				list[2].OutputTokens != 7*times || list[2].Cost != 1.5*float64(times) ||
				list[0].Spender != store.Compactor || list[0].Model != "medium" || list[0].OutputTokens != 4*times ||
				list[0].Cost != 0.5*float64(times) {
				t.Errorf("%q: %+v, %v", key, list, err)
			}
		}
	})
}

// TestKnobs: the value for an agent goes before the one for all.
func TestKnobs(t *testing.T) {
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		if err := s.Update(t.Context(), func(tx *store.Tx) error {
			for _, k := range [][3]string{{"", "depth", "1"}, {"main", "depth", "2"}, {"", "mode", `"a"`}, {"", "mode", `"b"`}} {
				if err := tx.SetKnob(t.Context(), "p", k[0], k[1], json.RawMessage(k[2])); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if values, err := s.Knobs(t.Context(), "p", "main"); err != nil || fmt.Sprintf("%s", values) !=
			`map[depth:2 mode:"b"]` {
			t.Errorf("%s, %v", values, err)
		}
		if err := s.Update(t.Context(), func(tx *store.Tx) error {
			return tx.ResetKnob(t.Context(), "p", "main", "depth")
		}); err != nil {
			t.Fatal(err)
		}
		if values, err := s.Knobs(t.Context(), "p", "main"); err != nil || string(values["depth"]) != "1" {
			t.Errorf("after a reset: %s, %v", values, err)
		}
	})
}

// TestSources: a file comes back byte for byte.
func TestSources(t *testing.T) {
	features.Proves(t, "N5")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		file := []byte(strings.Repeat("{\"a\":  \"\x00\xff\"}\r\n", 1000))
		if err := s.Update(t.Context(), func(tx *store.Tx) error {
			if err := tx.Append(t.Context(), "s", session.Entry{Seq: 1, Append: []abi.Message{said("a")}}); err != nil {
				return err
			}
			return tx.AddSource(t.Context(), "s", store.Source{Seq: 1, Name: "a.jsonl", Format: "neutral", IDs: []string{"a"},
				Data: file})
		}); err != nil {
			t.Fatal(err)
		}
		list, err := s.Sources(t.Context(), "s")
		if err != nil || len(list) != 1 || string(list[0].Data) != string(file) || list[0].IDs[0] != "a" {
			t.Errorf("%d files, %v", len(list), err)
		}
		if one, err := s.Session(t.Context(), "s"); err != nil || one.Bytes == 0 || one.Bytes > int64(len(file)) {
			t.Errorf("%+v, %v", one, err)
		}
	})
}

// TestWholeOrNothing: a change that fails leaves nothing.
func TestWholeOrNothing(t *testing.T) {
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			if err := tx.Append(t.Context(), "s", session.Entry{Seq: 1, Append: []abi.Message{said("a")}}); err != nil {
				return err
			}
			return tx.Flag(t.Context(), "s", "cmp-none", "good", "")
		})
		if _, gone := s.Session(t.Context(), "s"); abi.CodeOf(err) != abi.CodeUsage || abi.CodeOf(gone) != abi.CodeUsage {
			t.Errorf("%v, and then %v", err, gone)
		}
	})
}

// TestFull: a full disk is an error that says so and leaves nothing; where there is room
// again all goes on.
func TestFull(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "kagewasm.db"), store.Options{})
	s.DB().SetMaxOpenConns(1) // the limit is one of the connection
	limit := func(pages int) {
		if _, err := s.DB().ExecContext(t.Context(), fmt.Sprint("PRAGMA max_page_count = ", pages)); err != nil {
			t.Fatal(err)
		}
	}
	h := history(t, s)
	if err := h.Append(t.Context(), said("a")); err != nil {
		t.Fatal(err)
	}
	limit(1) // which SQLite takes for as many as there are
	long := abi.Message{ID: "b", Role: abi.RoleUser, Content: abi.Text(strings.Repeat("long ", 1<<20))}
	err := h.Append(t.Context(), long)
	if all := history(t, s).All(); abi.CodeOf(err) != abi.CodeState || !strings.Contains(err.Error(), "full") ||
		len(all) != 1 {
		t.Errorf("%v, and %d messages", err, len(all))
	}
	limit(1 << 20)
	if err := h.Append(t.Context(), long); err != nil || len(history(t, s).All()) != 2 {
		t.Errorf("room again: %v", err)
	}
}

// TestDeletedIsGone: nothing of a deleted session can be read in the file any more.
func TestDeletedIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kagewasm.db")
	s := open(t, path, store.Options{})
	const secret = "the secret of the session"
	h := history(t, s)
	for i := range 50 {
		m := said(fmt.Sprint("m", i))
		m.Content = abi.Text(strings.Repeat(secret, 100))
		if err := h.Append(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	holds := func() bool {
		data, err := os.ReadFile(path)
		return err != nil || strings.Contains(string(data), secret)
	}
	if !holds() {
		t.Fatal("the file does not hold what was said: look for something else")
	}
	s = open(t, path, store.Options{})
	if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.Delete(t.Context(), "s") }); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if holds() {
		t.Error("the file still holds what was said")
	}
}

// TestPrivate: nobody else can read the file, whatever the process's mask says.
func TestPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd name?#%.db")
	s := open(t, path, store.Options{})
	if err := s.Append(t.Context(), "s", session.Entry{Seq: 1, Append: []abi.Message{said("a")}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", filepath.Base(name), info.Mode(), err)
		}
	}
}

// TestUpgrade: an older database is upgraded, of a SQLite file a copy stays; a newer
// one is refused with words and left alone.
func TestUpgrade(t *testing.T) {
	names, err := fs.Glob(store.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	newer := fstest.MapFS{"99999_more.sql": {Data: []byte("-- +goose Up\nCREATE TABLE more (a TEXT);\n")}}
	for _, name := range names {
		data, err := fs.ReadFile(store.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		newer[name] = &fstest.MapFile{Data: data}
	}
	copyOf := fmt.Sprint(".v", len(names)) // numbered from one
	for database, address := range databases {
		t.Run(database, func(t *testing.T) {
			db := address(t)
			old := open(t, db, store.Options{})
			if err := old.Append(t.Context(), "s", session.Entry{Seq: 1, Append: []abi.Message{said("a")}}); err != nil {
				t.Fatal(err)
			}
			old.Close()
			var wg sync.WaitGroup
			for range 3 { // at the same time
				wg.Go(func() {
					s, err := store.OpenMigrated(t.Context(), db, newer)
					if err != nil {
						t.Error(err)
						return
					}
					defer s.Close()
					if _, err := s.DB().ExecContext(t.Context(), "INSERT INTO more VALUES ('a')"); err != nil {
						t.Error(err)
					}
					if list, err := s.Load(t.Context(), "s"); err != nil || len(list) != 1 {
						t.Errorf("%d entries behind the upgrade, %v", len(list), err)
					}
				})
			}
			wg.Wait()
			_, err := store.Open(t.Context(), db, store.Options{})
			if abi.CodeOf(err) != abi.CodeState || !strings.Contains(err.Error(), "newer version") {
				t.Errorf("a newer database: %v", err)
			}
			if database != "SQLite" {
				return
			}
			if info, err := os.Stat(db + copyOf); err != nil || info.Mode().Perm() != 0o600 {
				t.Fatalf("the copy: %v", err)
			}
			kept := open(t, db+copyOf, store.Options{})
			if list, err := kept.Load(t.Context(), "s"); err != nil || len(list) != 1 {
				t.Errorf("%d entries in the copy, %v", len(list), err)
			}
		})
	}
}

// TestOutline: the outline of a session has a line for each message in the order in which
// they came, with what took it away; a page of messages can begin with any of them.
func TestOutline(t *testing.T) {
	features.Proves(t, "K12")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		h, err := session.OpenHistory(t.Context(), s, "s", nil)
		if err == nil {
			err = h.Append(t.Context(), said("a"), said("b"), said("c"))
		}
		if err == nil {
			err = h.Rewrite(t.Context(), []abi.Message{said("a"), said("note"), said("c")},
				&abi.Record{ID: "cmp", Superseded: []string{"b"}, Inserted: []string{"note"}})
		}
		if err != nil {
			t.Fatal(err)
		}
		lines, err := s.Outline(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, l := range lines {
			got += fmt.Sprintf("%s:%d:%s ", l.ID, l.Seq, l.By)
			if l.Bytes < 10 {
				t.Errorf("%s: %d bytes", l.ID, l.Bytes)
			}
		}
		if got != "a:1: b:1:cmp c:1: note:2: " {
			t.Error(got)
		}
		from, err := s.Messages(t.Context(), "s", store.MessageQuery{Superseded: true, From: "note", Limit: 2})
		if err != nil || len(from) != 2 || from[0].ID != "note" {
			t.Errorf("%+v, %v", from, err)
		}
		if records, err := s.Records(t.Context(), "s"); err != nil || len(records) != 1 || records[0].Seq != 2 {
			t.Errorf("%+v, %v", records, err)
		}
	})
}

// TestDamaged: a file that is damaged, or no database, is an error with the code state that says so, and stays as
// it is.
func TestDamaged(t *testing.T) {
	for want, damage := range map[string]func([]byte) []byte{
		"the database is damaged": func(file []byte) []byte {
			copy(file[4096:], bytes.Repeat([]byte{0xa5}, len(file)-4096)) // behind the list of its tables
			return file
		},
		"the file is no database": func([]byte) []byte { return bytes.Repeat([]byte("no database "), 1000) },
	} {
		path := filepath.Join(t.TempDir(), "s.db")
		s, err := store.Open(t.Context(), path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		log(t, s)
		s.Close()
		file, err := os.ReadFile(path)
		if err == nil {
			file = damage(file)
			err = os.WriteFile(path, file, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err = store.Open(t.Context(), path, store.Options{})
		if abi.CodeOf(err) != abi.CodeState || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
		if err == nil {
			s.Close()
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, file) {
			t.Errorf("%s: %v, or it was changed", want, err)
		}
	}
}

// TestFileAddress: a drive of Windows is part of a file's path, and what a path may hold is written for an address.
func TestFileAddress(t *testing.T) {
	for path, want := range map[string]string{
		"/home/me/sessions.db":           "file:///home/me/sessions.db?a=b",
		"C:/Users/a me/#1?/sessions.db":  "file:///C:/Users/a%20me/%231%3F/sessions.db?a=b",
		"//server/share/50%/sessions.db": "file:////server/share/50%25/sessions.db?a=b",
	} {
		if got := store.FileAddress(path, "a=b"); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
