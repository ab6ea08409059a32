// Package compilers finds what tests of plugins in other languages compile with,
// and says so where it is not there. Nothing is installed: .ci/run does that.
package compilers

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// Require is the environment variable with what has to be there: languages, whose
// compilers tests need, and chromium; separated by commas: a test that needs one fails without it, where
// it would be left out otherwise.
const Require = "KAGEWASM_REQUIRE"

// Prepare makes a folder of kagewasm new ready to be built: lang is one of
// scaffold.Langs. It leaves the test out where the compiler is missing, and in
// `make test` where that is no compiler of Go: it takes seconds a plugin, and a machine
// with Go alone runs the same tests as one that has all of them.
func Prepare(tb testing.TB, lang, dir string) {
	tb.Helper()
	if lang != "go" {
		soak.Only(tb, "a plugin in "+lang+" is compiled")
	}
	switch lang {
	case "c":
		if out, err := clang(); err != nil {
			Missing(tb, lang, "plugins in "+lang+": no clang for WebAssembly: apt-get install clang lld wasi-libc ("+
				err.Error()+out+")")
		}
	case "ts":
		if _, err := exec.LookPath("node"); err != nil {
			Missing(tb, lang, "plugins in "+lang+": no Node.js")
		}
		modules := filepath.Join(shared.Root(tb), "build", "npm", "node_modules")
		if _, err := os.Stat(modules); err != nil {
			Missing(tb, lang, "plugins in "+lang+": no AssemblyScript: make npm")
		}
		if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
			tb.Fatal(err)
		}
	}
}

// clang compiles nothing, once: there are clangs without WebAssembly, without a
// linker for it and without its C library.
var clang = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("clang", "--target=wasm32-wasi", "-mexec-model=reactor", "-nodefaultlibs", "-o", os.DevNull,
		"-x", "c", "-", "-lc")
	cmd.Stdin = strings.NewReader("#include <stdlib.h>\n")
	out, err := cmd.CombinedOutput()
	return string(out), err
})

// Missing leaves a test out that needs what is not there, or fails it where that is
// required.
func Missing(tb testing.TB, what, why string) {
	tb.Helper()
	if slices.Contains(strings.Split(os.Getenv(Require), ","), what) {
		tb.Fatalf("%s names %s: %s", Require, what, why)
	}
	tb.Skipf("left out: %s", why)
}
