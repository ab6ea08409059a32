// Package shared finds the data that tests measure with and that is not part
// of the project: real agent sessions, benchmarks, hostile guests. A test that
// needs it is skipped where it is missing, with the reason; one that has data of
// its own as well takes [With].
package shared

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
)

// sessions is where the shared neutral sessions are.
var sessions = []string{"data", "sessions", "*.jsonl"}

// Sessions returns the paths of the shared neutral sessions. It skips the test
// where there is no shared data.
func Sessions(tb testing.TB) []string {
	tb.Helper()
	return Glob(tb, sessions...)
}

// Glob returns the shared files that match the pattern. It skips the test where
// there is no shared data.
func Glob(tb testing.TB, pattern ...string) []string {
	tb.Helper()
	dir, ok := find(tb)
	if !ok {
		tb.Skipf("no shared data at %s: set KAGEWASM_SHARED to where it is", dir)
	}
	return glob(tb, dir, pattern)
}

// With returns a test's own files and, where there is shared data, the shared
// files that match the pattern; without a pattern, the sessions. It is for tests
// that hold with their own files alone.
func With(tb testing.TB, own []string, pattern ...string) []string {
	tb.Helper()
	dir, ok := find(tb)
	if !ok {
		tb.Logf("no shared data at %s: going on with the project's own", dir)
		return own
	}
	if len(pattern) == 0 {
		pattern = sessions
	}
	return append(own, glob(tb, dir, pattern)...)
}

// find returns the folder of shared data, and whether it is there:
// $KAGEWASM_SHARED, or "shared" beside the project's root.
func find(tb testing.TB) (dir string, ok bool) {
	tb.Helper()
	dir = cmp.Or(os.Getenv("KAGEWASM_SHARED"), filepath.Join(Root(tb), "..", "shared"))
	_, err := os.Stat(filepath.Join(dir, "data"))
	return dir, err == nil
}

func glob(tb testing.TB, dir string, pattern []string) []string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(append([]string{dir}, pattern...)...))
	if err != nil {
		tb.Fatal(err)
	}
	if len(paths) == 0 {
		tb.Fatalf("shared data is there, but nothing matches %v", pattern)
	}
	return paths
}

// Messages reads a neutral session, without its tool definitions.
func Messages(tb testing.TB, path string) []abi.Message {
	tb.Helper()
	doc, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var msgs []abi.Message
	for line := range bytes.Lines(doc) {
		var m abi.Message
		if len(bytes.TrimSpace(line)) == 0 || bytes.HasPrefix(line, []byte(`{"tools"`)) {
			continue
		}
		if err := json.Unmarshal(line, &m); err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		msgs = append(msgs, m)
	}
	return msgs
}

// Root returns the project's root folder: the nearest above the working
// directory that holds go.mod.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}
