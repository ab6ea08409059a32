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

// TestRejectTellsPlugins: "after_compaction fires regardless of which path was taken", also of a compaction that a
// person rejected, in another process. Where a plugin cannot be loaded, or the configuration cannot be used, it is
// dropped too.
func TestRejectTellsPlugins(t *testing.T) {
	features.Proves(t, "O7", "K29")
	dir := t.TempDir()
	module, broken := filepath.Join(dir, "hears.wasm"), filepath.Join(dir, "broken.wasm")
	answer := wasmtest.WithManifest(wasmtest.Answer("post_compact", `{"retain":["The depot was left."]}`), hears)
	for path, data := range map[string][]byte{module: answer, broken: []byte("junk"),
		filepath.Join(dir, "kagewasm.yaml"): []byte("compaction: {upper_threshold: high}\n")} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct{ args, says []string }{
		"a plugin": {[]string{"--no-config", "--plugin", module}, []string{"post_compact ok", "The depot was left."}},
		"none":     {[]string{"--no-config"}, nil},
		"one that cannot be loaded": {[]string{"--no-config", "--plugin", broken, "--plugin", module},
			[]string{"does not hear of it", "not a WebAssembly module", "The depot was left."}},
		"a configuration that cannot be used": {[]string{"--config", filepath.Join(dir, "kagewasm.yaml")},
			[]string{"plugins do not hear of it", "upper_threshold is a text"}},
	} {
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "state")
			if code, said := runOn(t, home, "compact", writeSession(t, 120), "--window", "8000", "--no-config", "--strategy",
				"checkpoint", "--out", filepath.Join(t.TempDir(), "out.jsonl")); code != 0 {
				t.Fatal(said)
			}
			code, said := runOn(t, home, append([]string{"reject", "s-", "--notes", "the port is gone"}, tc.args...)...)
			for _, want := range append(tc.says, "was dropped") {
				if code != 0 || !strings.Contains(said, want) {
					t.Errorf("exit %d, it does not say %q: %s", code, want, said)
				}
			}
			if code, said := runOn(t, home, "sessions", "show", "s-"); code != 0 || strings.Contains(said, "cmp-") {
				t.Errorf("exit %d, one waits or is done: %s", code, said)
			}
			log := auditLog(t, home)
			if strings.Count(log, `"type":"compaction.failed","session":`) != 1 || !strings.Contains(log, "the port is gone") {
				t.Errorf("the audit log: %s", log)
			}
		})
	}
}
