//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// TestKilledImport: whenever memory import is killed, all of the folder is stored or
// nothing, what was imported before is there, and the next import goes on, also where
// the folder of the state was just being made.
func TestKilledImport(t *testing.T) {
	const files = 60
	home, notes := t.TempDir(), filepath.Join(t.TempDir(), "notes")
	for i := range files {
		path := filepath.Join(notes, fmt.Sprint("part", i%5), fmt.Sprintf("note-%02d.md", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat(fmt.Sprintln("note", i), 100)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	imports := func(dir, plugin string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "memory", "import", plugin, notes, "--state", dir)
		cmd.Env = append(os.Environ(), asProgram+"=1", "XDG_STATE_HOME="+home, "HOME="+home)
		return cmd
	}
	start := time.Now()
	if out, err := imports(filepath.Join(t.TempDir(), "state"), "first").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := time.Since(start)
	dir, before, killed, nothing := "", 0, 0, 0
	for round := 0; killed < soak.Count(4, 40, 300); round++ {
		if round%5 == 0 { // a new folder, that has to be sealed
			dir, before = filepath.Join(t.TempDir(), "state"), 0
		}
		plugin := fmt.Sprint("p", round)
		cmd := imports(dir, plugin)
		var said bytes.Buffer
		cmd.Stdout = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(whole * 5 / 4))
		_ = cmd.Process.Kill() // it may be over
		if err := cmd.Wait(); err != nil {
			killed++
			whole += whole / 50
		} else {
			whole -= whole / 10
		}
		stored := storedIn(t, dir, plugin)
		if stored != 0 && stored != files || stored == 0 && said.Len() > 0 {
			t.Fatalf("round %d: %d of %d files are stored, and it said %q", round, stored, files, said.String())
		}
		if stored == 0 {
			nothing++
		}
		if out, err := imports(dir, plugin).CombinedOutput(); err != nil {
			t.Fatalf("round %d: the next import: %v: %s", round, err, out)
		}
		before++
		for i := range before {
			if plugin := fmt.Sprint("p", round-i); storedIn(t, dir, plugin) != files {
				t.Fatalf("round %d: %s is not whole any more", round, plugin)
			}
		}
	}
	t.Logf("%d were killed, %d before it was stored", killed, nothing)
}

// storedIn is how many values a plugin has, each of which can be read.
func storedIn(t *testing.T, dir, plugin string) int {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, state.KVFile)); err != nil {
		return 0 // it was not made yet
	}
	kv, err := state.LookAtMemory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer kv.Close()
	keys, err := kv.List(t.Context(), plugin, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if v, ok, err := kv.Get(t.Context(), plugin, key); err != nil || !ok || strings.Count(v, "\n") != 100 {
			t.Fatalf("%s: %d bytes, %v", key, len(v), err)
		}
	}
	return len(keys)
}
