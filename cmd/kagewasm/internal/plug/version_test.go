package plug_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestVersion: a program that stands there is found by the version that it says, of two numbers too.
func TestVersion(t *testing.T) {
	features.Proves(t, "N11")
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts of a shell")
	}
	dir := t.TempDir()
	for says, want := range map[string]string{
		"hermes 1.0":                          "1.0",
		"codex-cli 0.169.0":                   "0.169.0",
		"on Python 3.12, hermes-agent 0.19.0": "0.19.0",
		"OpenClaw 2026.9.6 (abc1.2)":          "2026.9.6",
		"no number":                           "",
	} {
		program := filepath.Join(dir, "program")
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := plug.Version(t.Context(), program); got != want {
			t.Errorf("%q of %q, want %q", got, says, want)
		}
	}
	if got := plug.Version(t.Context(), filepath.Join(dir, "none")); got != "" {
		t.Errorf("%q of a program that is not there", got)
	}
}
