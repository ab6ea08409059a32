package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// TestApproveTellsPlugins: "after_compaction fires regardless of which path was taken", also of
// a compaction that a person approved later, in another process.
func TestApproveTellsPlugins(t *testing.T) {
	features.Proves(t, "O7", "K29")
	home, module := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "hears.wasm")
	answer := wasmtest.WithManifest(wasmtest.Answer("post_compact", `{"retain":["The depot was compacted."]}`), hears)
	if err := os.WriteFile(module, answer, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.jsonl")
	if code, said := runOn(t, home, "compact", writeSession(t, 120), "--window", "8000", "--no-config", "--strategy",
		"checkpoint", "--out", out); code != 0 {
		t.Fatal(said)
	}
	code, said := runOn(t, home, "approve", "s-", "--no-config", "--plugin", module, "--out", out)
	if code != 0 || !strings.Contains(said, "post_compact ok") || !strings.Contains(said, "The depot was compacted.") {
		t.Errorf("exit %d: %s", code, said)
	}
	if code, said = runOn(t, home, "memory", "list"); code != 0 || !strings.Contains(said, "hears") {
		t.Errorf("exit %d, what it retained is not kept: %s", code, said)
	}
}
