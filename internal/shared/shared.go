// Package shared finds the data that tests measure with and that is not part
// of the project: real agent sessions, benchmarks, hostile guests.
package shared

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
)

// Dir returns the folder of shared data: $KAGEWASM_SHARED, or "shared" beside
// the project's root. Where there is none it says so in the test's log and
// returns the empty string; the test then goes on with what the project has of
// its own.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("KAGEWASM_SHARED")
	if dir == "" {
		dir = filepath.Join(Root(tb), "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); err != nil {
		tb.Logf("no shared data at %s: going on without it", dir)
		return ""
	}
	return dir
}

// Sessions returns the paths of the shared neutral sessions, none where there
// is no shared data.
func Sessions(tb testing.TB) []string {
	tb.Helper()
	return Glob(tb, "data", "sessions", "*.jsonl")
}

// Glob returns the shared files that match the pattern, none where there is no
// shared data.
func Glob(tb testing.TB, pattern ...string) []string {
	tb.Helper()
	dir := Dir(tb)
	if dir == "" {
		return nil
	}
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
