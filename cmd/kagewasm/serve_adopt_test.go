//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
)

// TestServeFlagsOfOneAgent: a flag that names a plugin which one agent loads is no error for the
// sessions of the others.
func TestServeFlagsOfOneAgent(t *testing.T) {
	features.Proves(t, "K5")
	dir := t.TempDir()
	for _, name := range []string{"traps", "drops"} {
		if err := os.WriteFile(filepath.Join(dir, name+".wasm"), misbehaving()[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	yaml := `
plugins: {traps: {path: traps.wasm}, drops: {path: drops.wasm}}
agents:
  main: {compaction: {compactor: traps}}
  reviewer: {compaction: {compactor: drops}}
`
	if err := os.WriteFile(filepath.Join(dir, "kagewasm.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, filepath.Join(t.TempDir(), "state"), dir, "--listen", "none",
		"--config", filepath.Join(dir, "kagewasm.yaml"), "--adopt", "drops")
	for _, agent := range []string{"main", "reviewer"} {
		opens := map[string]any{"id": agent, "agent": agent}
		if err := s.Do(t.Context(), http.MethodPost, "/sessions", opens, nil); err != nil {
			t.Errorf("a session of %s: %v", agent, err)
		}
	}
}
