package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargeFile: what stays of a file so large that no copy of it is made is written with its bytes.
func TestLargeFile(t *testing.T) {
	var b bytes.Buffer
	lines := make(map[string]bool)
	for i := range 2000 {
		line := fmt.Sprintf(`{"id":"m%d", "role":%q, "content":"part %d of it:\n%s"}`, i, []string{"user", "assistant"}[i%2], i,
			strings.Repeat(fmt.Sprintf("%08d", i), 5<<20/2000/8))
		if i >= 1998 {
			line = fmt.Sprintf(`{"id":"m%d",  "role":"assistant","content":"the end\u002e"}`, i)
		}
		lines[line] = true
		b.WriteString(line + "\n")
	}
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	args := []string{"compact", path, "--window", "32000", "--no-record", "--no-config", "-q"}
	if code := doMain(context.Background(), args, env{stdout: &out, stderr: &said, stateHome: t.TempDir()}); code != 0 {
		t.Fatalf("code %d: %s", code, said.String())
	}
	kept := 0
	for line := range strings.Lines(out.String()) {
		if lines[strings.TrimSuffix(line, "\n")] {
			kept++
		}
	}
	if n := strings.Count(out.String(), "\n"); kept < 3 || kept != n-1 {
		t.Errorf("%d lines of the file stay of %d, want all but the note", kept, n)
	}
}
