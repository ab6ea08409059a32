//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
