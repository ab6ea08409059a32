package archtest_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// maxCommand bounds the command, in bytes, unstripped.
const maxCommand = 60_000_000

// TestCommandSize: the command stays small enough to be copied about.
func TestCommandSize(t *testing.T) {
	soak.Only(t, "the command is linked")
	built(t, "./cmd/kagewasm", maxCommand)
}

// maxMinimalHost bounds the smallest program that embeds a compactor, a counter
// and a plugin, in bytes, unstripped.
const maxMinimalHost = 25_500_000

// TestMinimalHost: embedding is light, and the least program for it works.
func TestMinimalHost(t *testing.T) {
	program, plugin := built(t, "./internal/minimalhost", maxMinimalHost), filepath.Join(t.TempDir(), "plugin.wasm")
	if err := os.WriteFile(plugin, wasmtest.Answer("pre_compact", `{"retain":["a fact"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), program, plugin)
	var session bytes.Buffer
	for i := range 50 {
		fmt.Fprintf(&session, `{"id":"m%d","role":"user","content":"Make the tests pass."}`, i)
	}
	run.Stdin = &session
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if want := "pre_compact ok\n"; err != nil || !strings.HasSuffix(string(out), want) {
		t.Errorf("%v: %s%s; want %s", err, out, stderr.Bytes(), want)
	}
}

// built is a program as who embeds or installs it builds it. It may have at most so many bytes.
func built(t *testing.T, dir string, most int64) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, dir)
	build.Dir = shared.Root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB", float64(info.Size())/1e6)
	if info.Size() > most {
		t.Errorf("%d bytes, more than %d: go list -deps %s tells what it links, go tool nm -size -sort size how much of it",
			info.Size(), most, dir)
	}
	return program
}
