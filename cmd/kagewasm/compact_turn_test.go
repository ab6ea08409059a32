//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
)

// TestCompactInATurn: while a server has a turn of a session open the command refuses what a person asks for, in the
// server's words and with the exit code 1, before a plugin or a model is looked for. What an agent asks for runs, and
// so does what leaves the stored session alone.
func TestCompactInATurn(t *testing.T) {
	features.Proves(t, "T3")
	home, file := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(file, []byte(longSession(60)), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(filepath.Dir(file), "out.jsonl")
	compact := func(more ...string) (int, string) {
		t.Helper()
		_ = os.Remove(out)
		return runOn(t, home, append([]string{"compact", file, "--session", "a", "--window", "8000", "--no-config",
			"--out", out}, more...)...)
	}
	s := serve(t, home, t.TempDir(), "--listen", "none", "--no-config")
	s.do(t, "POST", "/sessions", map[string]any{"id": "a"}, nil)
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(2)}, nil)
	if code, said := compact("--force"); code != 0 {
		t.Fatalf("before the turn: %d %s", code, said)
	}
	var begun struct{ Turn string }
	s.do(t, "POST", "/sessions/a/turns", nil, &begun)
	refused := abi.AsError(s.Do(t.Context(), "POST", "/sessions/a/compact", map[string]any{}, nil))
	for _, more := range [][]string{nil, {"--force"}, {"--target", "1000"}, {"--reason", "manual", "--force"},
		{"--plugin", "nowhere.wasm"}} {
		code, said := compact(more...)
		_, err := os.Stat(out)
		if code != 1 || err == nil || !strings.Contains(said, `compact: session "a": a turn is running`) ||
			!strings.Contains(said, "compact when it has ended, or have the agent ask for it; --no-record") {
			t.Errorf("%q: %d %s, written: %v; the server says %v", more, code, said, err == nil, refused)
		}
		if refused.Code != abi.CodeBusy || !strings.Contains(said, refused.Message) {
			t.Errorf("%s is not what the server says: %v", said, refused)
		}
	}
	for _, more := range [][]string{{"--no-record", "--force"}, {"--dry-run", "--force"}, {"--session", "b"},
		{"--reason", "agent", "--force"}} {
		if code, said := compact(more...); code != 0 {
			t.Errorf("%q: %d %s", more, code, said)
		}
	}
	s.do(t, "DELETE", "/sessions/a/turns/"+begun.Turn, nil, nil)
	if code, said := compact("--force"); code != 0 {
		t.Errorf("behind the turn: %d %s", code, said)
	}
}
