//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/lineage"
	"github.com/kagewasm/kagewasm/internal/owner"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/store/kv"
)

// earlierState is a user's state folder as an earlier version made it, with what a plugin
// keeps in files.
func earlierState(t *testing.T, values int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kagewasm")
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		_, err = owner.Make(dir, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := kv.Open(filepath.Join(dir, state.KVFile), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if err := lineage.Offer(t.Context(), files, "notes"); err != nil {
		t.Fatal(err)
	}
	for i := range values {
		key := fmt.Sprintf("part%d/note-%d.md", i%7, i)
		if err := files.Set(t.Context(), "notes", key, fmt.Sprint("note ", i)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// forState is the command of the user whose state folder it is.
func forState(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "XDG_STATE_HOME="+filepath.Dir(dir), "HOME="+dir)
	return cmd
}

// TestKilledMove: whenever a command is killed that moves what plugins keep into the store, all
// of it is there, and the next one goes on.
func TestKilledMove(t *testing.T) {
	features.Proves(t, "K28")
	const values = 60
	notes := t.TempDir()
	if err := os.WriteFile(filepath.Join(notes, "new.md"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if out, err := forState(t, earlierState(t, values), "memory", "import", "notes", notes).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := time.Since(start)
	for round := range soak.Count(4, 40, 300) {
		dir := earlierState(t, values)
		cmd := forState(t, dir, "memory", "import", "notes", notes)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(whole))
		_ = cmd.Process.Kill() // it may be over
		_ = cmd.Wait()
		for _, killed := range []bool{true, false} {
			m, err := state.LookAtMemory(t.Context(), dir)
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			keys, err := m.List(t.Context(), "notes", "part")
			if err != nil || len(keys) != values {
				t.Fatalf("round %d, killed %v: %d of %d values, %v", round, killed, len(keys), values, err)
			}
			for _, key := range keys {
				if v, ok, err := m.Get(t.Context(), "notes", key); err != nil || !ok || len(v) < len("note 0") {
					t.Fatalf("round %d: %s: %q, %v", round, key, v, err)
				}
			}
			if _, ok, _ := m.Get(t.Context(), "notes", "new.md"); !ok && !killed {
				t.Fatalf("round %d: the next command stored nothing", round)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			if out, err := forState(t, dir, "memory", "import", "notes", notes).CombinedOutput(); killed && err != nil {
				t.Fatalf("round %d: the next one: %v: %s", round, err, out)
			}
		}
	}
}

// TestMoveTogether: of commands that find the files of an earlier version at the same time,
// and compact sessions with a plugin that keeps something, none loses what another keeps.
func TestMoveTogether(t *testing.T) {
	features.Proves(t, "K28")
	const values, each = 50, 3
	dir, work := earlierState(t, values), t.TempDir()
	var wg sync.WaitGroup
	for i := range each {
		module, session := filepath.Join(work, fmt.Sprintf("p%d.wasm", i)), filepath.Join(work, fmt.Sprintf("s%d.jsonl", i))
		manifest := fmt.Sprintf(`{"name":"p%d","version":"1","abi":1,"description":"Keeps a fact.","hooks":["pre_compact"]}`, i)
		for path, data := range map[string][]byte{session: []byte(longSession(120)), module: wasmtest.WithManifest(
			wasmtest.Answer("pre_compact", fmt.Sprintf(`{"retain":["Depot %d closes at six."]}`, i)), manifest)} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		notes := filepath.Join(work, fmt.Sprint("notes", i))
		if err := os.MkdirAll(notes, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(notes, fmt.Sprintf("new-%d.md", i)), []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, cmd := range []*exec.Cmd{forState(t, dir, "memory", "import", "notes", notes), forState(t, dir, "compact",
			session, "--no-config", "--window", "8000", "--plugin", module, "--strict", "--out", session+".out")} {
			wg.Go(func() {
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v: %v\n%s", cmd.Args[1:], err, out)
				}
			})
		}
	}
	wg.Wait()
	m, err := state.LookAtMemory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for ns, want := range map[string]int{"notes": values + each, "p0": 1, "p1": 1, "p2": 1} {
		if keys, err := m.List(t.Context(), ns, ""); err != nil || len(keys) != want {
			t.Errorf("%s keeps %d values of %d, %v", ns, len(keys), want, err)
		}
	}
}
