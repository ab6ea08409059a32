//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/toolserver"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/process"
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
	for _, more := range [][]string{{"--window", "5000"}, {"--force"}, {"--target", "1000"},
		{"--reason", "manual", "--force"}, {"--plugin", "nowhere.wasm", "--force"}} {
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
	stored := func() string { _, said := runOn(t, home, "sessions", "show", "a", "--json"); return said }
	before := stored()
	if code, said := compact("--window", "1000000"); code != 0 || !strings.Contains(said, "below_threshold") {
		t.Errorf("below the threshold: %d %s", code, said)
	} else if stored() != before {
		t.Errorf("a look below the threshold changed what is stored:\n%s\n%s", before, stored())
	}
	for _, more := range [][]string{{"--no-record", "--force"}, {"--dry-run", "--force"}, {"--dry-run"},
		{"--session", "b"}, {"--reason", "agent", "--force"}} {
		if code, said := compact(more...); code != 0 {
			t.Errorf("%q: %d %s", more, code, said)
		}
	}
	s.do(t, "DELETE", "/sessions/a/turns/"+begun.Turn+"?wait=60", nil, nil)
	if code, said := compact("--force"); code != 0 {
		t.Errorf("behind the turn: %d %s", code, said)
	}
}

// TestCompactInACall: while a server has a call of the model in flight the command refuses what a person asks for, says
// which process has the call, since when and what to do, and exits with 1. What an agent asks for by its tool waits. A
// call of a server that was killed is over, and the command says so. While one is in flight nothing is undone.
func TestCompactInACall(t *testing.T) {
	features.Proves(t, "T3")
	home, file := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(file, []byte(longSession(60)), 0o600); err != nil {
		t.Fatal(err)
	}
	compact := func(more ...string) (int, string) {
		t.Helper()
		out := filepath.Join(filepath.Dir(file), "out.jsonl")
		_ = os.Remove(out)
		return runOn(t, home, append([]string{"compact", file, "--session", "a", "--window", "8000", "--no-config", "--force",
			"--out", out}, more...)...)
	}
	start := func() *served { return serve(t, home, t.TempDir(), "--listen", "none", "--no-config") }
	begin := func(s *served) string {
		t.Helper()
		var look struct{ Call string }
		s.do(t, "POST", "/sessions/a/calls", nil, &look)
		return look.Call
	}
	s := start()
	s.do(t, "POST", "/sessions", map[string]any{"id": "a"}, nil)
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(2)}, nil)
	id := begin(s)
	refused := abi.AsError(s.Do(t.Context(), "POST", "/sessions/a/compact", map[string]any{}, nil))
	code, said := compact()
	if code != 1 || refused.Code != abi.CodeBusy || !strings.Contains(said, refused.Message) {
		t.Errorf("%d %s, and the server says %v", code, said, refused)
	}
	for _, says := range []string{`session "a": a call of the model is in flight since 20`, id,
		fmt.Sprintf("made by process %d on ", s.Process.Pid), "--no-record compacts the file alone",
		"where that process is gone, the call counts as over at 20"} {
		if !strings.Contains(said, says) {
			t.Errorf("%s does not say %q", said, says)
		}
	}
	for _, more := range [][]string{nil, {"--redo"}, {"--to", "m1"}} {
		code, said := runOn(t, home, append([]string{"undo", "a"}, more...)...)
		if code != 1 || !strings.Contains(said, "a call of the model is in flight") ||
			!strings.Contains(said, "its answer would be lost: undo when it has ended") {
			t.Errorf("undo %q: %d %s", more, code, said)
		}
	}
	if _, said := runOn(t, home, "sessions", "show", "a"); !strings.Contains(said, "1 call of the model") {
		t.Errorf("sessions show: %s", said)
	}
	sessions, err := state.OpenSessions(t.Context(), home, "", func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	defer sessions.Close()
	asked, err := askInTurn(t.Context(), sessions, "a", toolserver.Request{Focus: "keep the ports"})
	if err != nil || asked == nil || !asked.Asked {
		t.Errorf("the agent's tool: %+v, %v", asked, err)
	}
	s.do(t, "DELETE", "/sessions/a/calls/"+id, nil, nil)
	if code, said := compact(); code != 0 {
		t.Errorf("behind the call: %d %s", code, said)
	}
	begin(s)
	kill := func() {
		_ = s.Process.Kill()
		_ = s.Wait()
	}
	kill()
	known := process.Self() != "" // else nobody knows that the server is gone
	if code, said := compact(); (code == 0) != known ||
		known && !strings.Contains(said, "that process is gone: it is not waited for") {
		t.Errorf("behind a server that was killed: %d %s", code, said)
	}
	s = start()
	if code, said := compact(); code != 0 {
		t.Errorf("when the next server has started: %d %s", code, said)
	}
	if !known {
		return
	}
	var turn struct{ Turn string }
	s.do(t, "POST", "/sessions/a/turns", nil, &turn)
	kill()
	if code, said := compact("--quiet"); code != 0 || strings.Contains(said, "is gone") {
		t.Errorf("nothing but failures: %d %s", code, said)
	}
	if code, said := compact(); code != 0 || !strings.Contains(said, "that process is gone: it is not waited for") {
		t.Errorf("behind the turn of a server that was killed: %d %s", code, said)
	}
	s = start()
	if code, said := compact(); code != 1 ||
		!strings.Contains(said, "that process is gone, and the turn counts as over at 20") {
		t.Errorf("while its agent may come back to the next server: %d %s", code, said)
	}
	s.do(t, "DELETE", "/sessions/a/turns/"+turn.Turn+"?wait=60", nil, nil)
	if code, said := compact(); code != 0 {
		t.Errorf("when it came back: %d %s", code, said)
	}
}
