package runtime_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
)

// pre is the hook most tests use.
const pre = "pre_compact"

func newRuntime(tb testing.TB, o runtime.Options) *runtime.Runtime {
	tb.Helper()
	r, err := runtime.New(context.Background(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func load(tb testing.TB, r *runtime.Runtime, wasm []byte, o runtime.PluginOptions) *runtime.Plugin {
	tb.Helper()
	p, err := plugintest.Load(context.Background(), r, wasm, o)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// sdkDir is the folder of Extism's SDK, which brings plugins of many
// languages.
func sdkDir(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-sdk").Output()
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// guest builds one of the plugins of this project.
func guest(tb testing.TB, name string) []byte {
	tb.Helper()
	out := filepath.Join(tb.TempDir(), name+".wasm")
	if _, err := kit.Build(context.Background(), kit.Options{Dir: filepath.Join(shared.Root(tb), "plugins", name), Out: out}); err != nil {
		tb.Fatal(err)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	return wasm
}

// limitsFor are the limits of a call that is to end with the code: short where
// time is meant to run out.
func limitsFor(code abi.Code) abi.Limits {
	if code == abi.CodeDeadline {
		return abi.Limits{TimeoutMS: 100}
	}
	return abi.Limits{}
}

// wantError checks the code and that the error says who and where.
func wantError(tb testing.TB, err error, code abi.Code) *abi.Error {
	tb.Helper()
	if abi.CodeOf(err) != code || err == nil {
		tb.Fatalf("code %q, want %q: %v", abi.CodeOf(err), code, err)
	}
	e := abi.AsError(err)
	if e.Message == "" || e.Op == "" {
		tb.Errorf("an error that does not say what or where: %+v", e)
	}
	return e
}
