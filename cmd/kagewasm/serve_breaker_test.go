//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
)

// TestServeKnowsPlugins: what a server learned of a plugin that fails the command and the next
// server know, and a reset by the command reaches the server that runs.
func TestServeKnowsPlugins(t *testing.T) {
	home, traps := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "traps.wasm")
	if err := os.WriteFile(traps, misbehaving()["traps"], 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *served {
		return serve(t, home, t.TempDir(), "--listen", "none", "--no-config", "--plugin", traps)
	}
	breaker := func(s *served) string {
		var list struct{ Plugins []service.Plugin }
		s.do(t, "GET", "/plugins", nil, &list)
		return fmt.Sprint(list.Plugins[0].Breaker.State, " ", list.Plugins[0].Breaker.Failures)
	}
	s := start()
	s.do(t, "POST", "/sessions", map[string]any{"id": "a", "context_window": 600}, nil)
	for i := range 3 {
		s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)[20*i : 20*i+20]}, nil)
		s.do(t, "POST", "/sessions/a/compact", map[string]any{}, nil)
	}
	if got := breaker(s); got != "open 3" {
		t.Fatal(got)
	}
	s.interrupted(t)
	s = start()
	if got := breaker(s); got != "open 3" {
		t.Errorf("the next server: %s", got)
	}
	if code, said := runOn(t, home, "breaker", "list"); code != 0 ||
		!strings.Contains(said, "3 failures in a row, not called until") {
		t.Errorf("%d, %s", code, said)
	}
	if code, said := runOn(t, home, "breaker", "reset", "traps"); code != 0 {
		t.Errorf("%d, %s", code, said)
	}
	if got := breaker(s); got != "closed 0" {
		t.Errorf("behind a reset: %s", got)
	}
	s.interrupted(t)
	if got := breaker(start()); got != "closed 0" {
		t.Errorf("the server after that: %s", got)
	}
}

// TestServeKnowsCancels: after three cancels of plugins in a row the compaction of a session runs, whichever processes
// heard the cancels: servers, with one configuration or another, or the command.
func TestServeKnowsCancels(t *testing.T) {
	features.Proves(t, "O3")
	dir, home := t.TempDir(), filepath.Join(t.TempDir(), "state")
	cancels, file := filepath.Join(dir, "cancels.wasm"), filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(cancels, misbehaving()["cancels"], 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for _, m := range servetest.Chat(30) {
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if err := os.WriteFile(file, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--no-config", "--plugin", cancels, "--grant", "compaction.summary"}
	var s *served
	start := func() { s = serve(t, home, t.TempDir(), append(args, "--listen", "none")...) }
	look := func() abi.ReasonCode {
		t.Helper()
		var look service.Look
		s.do(t, "GET", "/sessions/a/context", nil, &look)
		return look.Report.ReasonCode
	}
	start()
	window := 0
	for _, key := range []string{"all", "a"} { // the first says how much it is
		s.do(t, "POST", "/sessions", map[string]any{"id": key, "context_window": cmp.Or(window, 100_000)}, nil)
		s.do(t, "POST", "/sessions/"+key+"/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
		if window == 0 {
			var all service.Look
			s.do(t, "GET", "/sessions/all/context", nil, &all)
			window = all.Report.TokensBefore * 100 / 92
		}
	}
	if got := look(); got != abi.ReasonCancelledByPlugin {
		t.Fatal(got)
	}
	s.do(t, "PUT", "/settings", map[string]any{"values": map[string]string{"compaction.prune": "off"}}, nil)
	if got := look(); got != abi.ReasonCancelledByPlugin {
		t.Fatal(got)
	}
	s.interrupted(t)
	code, said := runOn(t, home, append([]string{"compact", file, "--format", "neutral", "--session", "a", "--window",
		fmt.Sprint(window), "--force", "--no-record", "--json"}, args...)...)
	if !strings.Contains(said, string(abi.ReasonCancelledByPlugin)) {
		t.Fatalf("%d, %s", code, said)
	}
	start()
	if got := look(); got != abi.ReasonCompacted {
		t.Errorf("the fourth in a row: %s", got)
	}
}
