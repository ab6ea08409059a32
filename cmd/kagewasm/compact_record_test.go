package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestFilesOfAStoreThatCannotBeRead: a session with a summary that does not list its files is compacted all the same,
// and the person is told that the store did not say which they are.
func TestFilesOfAStoreThatCannotBeRead(t *testing.T) {
	features.Proves(t, "T7")
	const says = "of the files that earlier compactions list only those that the summary names are known: "
	home, out := t.TempDir(), filepath.Join(t.TempDir(), "out.json")
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	compact := func(args ...string) string {
		code, said := runOn(t, home, append([]string{"compact", "--no-config", "--force", "--window", "32000"}, args...)...)
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, said)
		}
		return said
	}
	first := compact("../../testdata/demo.jsonl", "--target", "3000", "--to", "openai", "--out", out)
	again := []string{out, "--target", "2000", "--dry-run"}
	if said := first + compact(again...); strings.Contains(said, says) {
		t.Errorf("the store can be read: %s", said)
	}
	broken := []byte(strings.Repeat("no store ", 999))
	if err := os.WriteFile(filepath.Join(home, state.SessionsFile), broken, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := compact(again...); !strings.Contains(said, says) {
		t.Errorf("nothing says that the store cannot be read: %s", said)
	}
}
