//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// TestKilledRecording: whenever compact or undo is killed, also beside others that work
// on the same store, every session is whole, what a command that ended has stored is
// there, and the chain of the audit log has no gap.
func TestKilledRecording(t *testing.T) {
	features.Proves(t, "N5")
	home, other, dir := filepath.Join(t.TempDir(), "state"), t.TempDir(), t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], append(args, "--state", home)...)
		cmd.Env = append(os.Environ(), asProgram+"=1", "XDG_STATE_HOME="+other, "HOME="+other)
		cmd.Dir = dir
		return cmd
	}
	inputs := make(map[string][]byte) // by path
	compact := func(name string) *exec.Cmd {
		path := filepath.Join(dir, name+".jsonl")
		inputs[path] = []byte(strings.Replace(longSession(120), "of parcel", "of "+name, 1))
		if err := os.WriteFile(path, inputs[path], 0o600); err != nil {
			t.Fatal(err)
		}
		return command("compact", path, "--window", "8000", "--no-config", "-q", "--out", path+".out")
	}
	start := time.Now()
	if said, err := compact("first").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	whole := time.Since(start)
	done := map[string]bool{filepath.Join(dir, "first.jsonl"): true} // compacted by a command that ended
	for round, killed := 0, 0; killed < soak.Count(6, 40, 250); round++ {
		name := fmt.Sprint("session", round%5)
		path := filepath.Join(dir, name+".jsonl")
		cmd, beside := compact(name), compact("beside")
		if key := keyOf(t, home, path); round%3 == 2 && key != "" {
			cmd = command("undo", key)
		}
		if err := errors.Join(beside.Start(), cmd.Start()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(whole * 5 / 4))
		_ = cmd.Process.Kill() // it may be over
		if err := cmd.Wait(); err != nil {
			killed++
			whole += whole / 50
		} else {
			done[path] = true
			whole -= whole / 10
		}
		if err := beside.Wait(); err != nil {
			t.Fatalf("round %d: the one beside it: %v", round, err)
		}
		allWhole(t, home, done, inputs)
	}
}

// keyOf is the key of the session that came from a file, empty where there is none.
func keyOf(t *testing.T, home, path string) string {
	t.Helper()
	s := opened(t, home)
	defer s.Close()
	list, _, err := s.Sessions(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		if one.Source == path {
			return one.Key
		}
	}
	return ""
}

func opened(t *testing.T, home string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(home, state.SessionsFile), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wholeRows checks that the rows of a session say what its entries do.
func wholeRows(t *testing.T, s *store.Store, one *store.Session) *session.History {
	t.Helper()
	h, err := session.OpenHistory(t.Context(), s, one.Key, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.Messages(t.Context(), one.Key, store.MessageQuery{Superseded: true})
	if err != nil || len(rows) != len(h.All()) || one.Messages != len(h.Messages()) ||
		one.Compactions != len(h.Compactions()) {
		t.Fatalf("%s: %d rows of %d messages, %+v, %v", one.Key, len(rows), len(h.All()), one, err)
	}
	for i, m := range h.All() {
		if rows[i].ID != m.ID || rows[i].By != m.By {
			t.Fatalf("%s: message %d is %s by %q, want %s by %q", one.Key, i, rows[i].ID, rows[i].By, m.ID, m.By)
		}
	}
	return h
}

// allWhole checks a store: the rows of each session say what its entries do, the file
// comes back byte for byte, and the audit log is as it was written.
func allWhole(t *testing.T, home string, done map[string]bool, inputs map[string][]byte) {
	t.Helper()
	s := opened(t, home)
	defer s.Close()
	list, _, err := s.Sessions(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	there := make(map[string]bool)
	for _, one := range list {
		there[one.Source] = true
		h := wholeRows(t, s, &one)
		var err error
		if len(h.Compactions()) > 0 { // in memory: nothing is stored of it
			if h, err = session.OpenHistory(t.Context(), copied(t, s, one.Key), one.Key, nil); err == nil {
				_, err = h.Undo(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		data, err := record.Write(t.Context(), s, one.Key, h.Messages())
		if err != nil || !bytes.Equal(data, inputs[one.Source]) {
			t.Fatalf("%s: the file is another one, %v", one.Key, err)
		}
	}
	for path := range done {
		if !there[path] {
			t.Fatalf("%s was compacted, and is not stored", path)
		}
	}
	if r, err := s.VerifyAudit(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Fatalf("the audit log: %+v, %v", r, err)
	}
}

// copied is the journal of a session in memory.
func copied(t *testing.T, s *store.Store, key string) *session.MemoryJournal {
	t.Helper()
	entries, err := s.Load(t.Context(), key)
	j := new(session.MemoryJournal)
	for _, e := range entries {
		if err == nil {
			err = j.Append(t.Context(), key, e)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}
