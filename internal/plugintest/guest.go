package plugintest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/testcache"
	"github.com/kagewasm/kagewasm/kit"
)

// GuestFile is the module of the plugin in a folder below the project's root, as kagewasm
// build makes it. It is built once for all tests, and again where a source of it changed.
func GuestFile(tb testing.TB, dir string) string {
	tb.Helper()
	return guestFile(tb, dir, func(dir, out string) error {
		_, err := kit.Build(context.Background(), kit.Options{Dir: dir, Out: out})
		return err
	})
}

// Guest is the module of [GuestFile].
func Guest(tb testing.TB, dir string) []byte {
	tb.Helper()
	return read(tb, GuestFile(tb, dir))
}

// GoGuest is the Go guest in a folder below the project's root, built for wasip1, without a
// manifest. It is built as seldom as that of [GuestFile].
func GoGuest(tb testing.TB, dir string) []byte {
	tb.Helper()
	return read(tb, guestFile(tb, dir, func(dir, out string) error {
		built := filepath.Join(tb.TempDir(), filepath.Base(out))
		cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-o", built, ".")
		cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm"), os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
		return atomicfile.WriteFile(out, read(tb, built), 0o600)
	}))
}

// CacheDir is a folder of compiled modules for runtime.Options.CacheDir, which all tests share.
func CacheDir(tb testing.TB) string {
	tb.Helper()
	dir := testcache.Dir(tb, "runtime")
	testcache.Sweep(dir) // modules that were built since have other names
	return dir
}

// guestSources are the folders that guests are compiled of, beside their own.
var guestSources = []string{"abi", "strategies", "internal", "plugins"}

func guestFile(tb testing.TB, dir string, build func(dir, out string) error) string {
	tb.Helper()
	source := filepath.Join(shared.Root(tb), filepath.FromSlash(dir))
	file := filepath.Join(testcache.Dir(tb, append(guestSources, dir)...), filepath.Base(dir)+".wasm")
	if _, err := os.Stat(file); err == nil {
		return file
	}
	// Tests of another package may be building the same one: whoever is last wins.
	if err := build(source, file); err != nil {
		tb.Fatalf("%s: %v", dir, err)
	}
	return file
}

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}
