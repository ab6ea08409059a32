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
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// maxMinimalHost bounds the smallest program that embeds a compactor, a counter
// and a plugin, in bytes, unstripped.
const maxMinimalHost = 25_000_000

// TestMinimalHost: embedding is light, and the least program for it works.
func TestMinimalHost(t *testing.T) {
	dir := t.TempDir()
	program, plugin := filepath.Join(dir, "minimal"), filepath.Join(dir, "plugin.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./internal/minimalhost")
	build.Dir = shared.Root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB", float64(info.Size())/1e6)
	if info.Size() > maxMinimalHost {
		t.Errorf("%d bytes, more than %d: see what it links with go list -deps ./internal/minimalhost",
			info.Size(), maxMinimalHost)
	}

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
