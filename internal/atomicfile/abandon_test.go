package atomicfile_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// abandoning is the folder in which the test's own process writes until it ends.
const abandoning = "ATOMICFILE_ABANDONING"

// TestAbandon: a process that ends in the middle of writing leaves whole files alone.
func TestAbandon(t *testing.T) {
	if dir := os.Getenv(abandoning); dir != "" {
		writeUntilTheEnd(dir)
	}
	whole := bytes.Repeat([]byte("x"), 1<<20)
	for range 5 {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAbandon$")
		cmd.Env = append(os.Environ(), abandoning+"="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) == 0 {
			t.Fatalf("nothing was written: %v", err)
		}
		for _, e := range entries {
			if data, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || !bytes.Equal(data, whole) {
				t.Errorf("%s: %d bytes, %v", e.Name(), len(data), err)
			}
		}
	}
}

// writeUntilTheEnd writes files from several sides at once, and ends the process
// meanwhile.
func writeUntilTheEnd(dir string) {
	whole := bytes.Repeat([]byte("x"), 1<<20)
	first := make(chan error)
	for side := range 4 {
		go func() {
			for i := 0; ; i++ {
				err := atomicfile.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-%d", side, i%3)), whole, 0o600)
				if side == 0 && i == 0 {
					first <- err
				}
			}
		}()
	}
	<-first
	time.Sleep(3 * time.Millisecond)
	atomicfile.Abandon()
	os.Exit(0)
}
