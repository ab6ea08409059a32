//go:build unix

package runtime_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// TestOpenPipe: a pipe that nobody writes to is no module and no manifest, and nobody
// waits for it.
func TestOpenPipe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b.wasm"), wasmtest.Nothing(pre), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.wasm", "b" + abi.SidecarSuffix} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sidecar := func(string, []byte) (*abi.Manifest, error) { return nil, nil }
	for name, code := range map[string]abi.Code{"a.wasm": abi.CodeUsage, "b.wasm": abi.CodeBadInput} {
		t.Run(name, func(t *testing.T) {
			if _, err := runtime.OpenFile(filepath.Join(dir, name), sidecar); abi.CodeOf(err) != code {
				t.Errorf("%v", err)
			}
		})
	}
}
