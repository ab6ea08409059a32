package kit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/compilers"
	"github.com/kagewasm/kagewasm/kit"
)

// project is a new plugin in a language.
func project(t *testing.T, lang string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a [plugin]") // Glob's own characters
	if _, err := kit.New(kit.Project{Name: "tried", Lang: lang, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBuildWithoutCompiler: what is missing is said, and how to get it.
func TestBuildWithoutCompiler(t *testing.T) {
	for lang, want := range map[string][2]string{
		"go": {"the go command: not found", "go.dev"},
		"c":  {"the clang command: not found", "apt-get install clang lld wasi-libc"},
		"ts": {"the node command: not found", "npm ci"},
	} {
		t.Run(lang, func(t *testing.T) {
			dir := project(t, lang)
			t.Setenv("PATH", t.TempDir())
			_, err := kit.Build(t.Context(), kit.Options{Dir: dir, Out: t.TempDir()})
			if e := abi.AsError(err); err == nil || e.Code != abi.CodeUsage || e.Message != want[0] ||
				!strings.Contains(e.Hint, want[1]) {
				t.Errorf("%v, and to do %q", err, e.Hint)
			}
		})
	}
	t.Run("node without the packages", func(t *testing.T) {
		dir := project(t, "ts")
		_, err := kit.Build(t.Context(), kit.Options{Dir: dir, Out: t.TempDir(), Compiler: "go"}) // any program
		if e := abi.AsError(err); err == nil || e.Code != abi.CodeUsage || !strings.Contains(e.Message, "not installed") ||
			!strings.Contains(e.Hint, "npm ci") {
			t.Errorf("%v, and to do %q", err, e.Hint)
		}
	})
}

// TestBuildSaysWhatTheCompilerSays: errors in the source name file and line; what
// the compiler cannot explain has a hint.
func TestBuildSaysWhatTheCompilerSays(t *testing.T) {
	for _, c := range []struct {
		why, lang, file, source string
		says, hint              string
	}{
		{"a type error", "ts", "assembly/plugin.ts",
			"export function pre_compact(): i32 { const x: i32 = \"a\"; return x; }\n", "assembly/plugin.ts(1,", ""},
		{"a package that is not there", "ts", "assembly/plugin.ts",
			"import { x } from \"json-as\";\nexport function pre_compact(): i32 { return x; }\n", "json-as", "npm ci"},
		{"a syntax error", "c", "plugin.c", "#include \"kagewasm.h\"\nKW_HOOK(pre_compact) { return 0 }\n", "plugin.c:2:",
			""},
		{"an unknown function", "c", "plugin.c", "#include \"kagewasm.h\"\nKW_HOOK(pre_compact) { return missing(); }\n",
			"missing", ""},
	} {
		t.Run(c.why+" in "+c.lang, func(t *testing.T) {
			dir := project(t, c.lang)
			compilers.Prepare(t, c.lang, dir)
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.source), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := kit.Build(t.Context(), kit.Options{Dir: dir, Out: t.TempDir()})
			e := abi.AsError(err)
			if err == nil || e.Code != abi.CodeBadInput || !strings.Contains(e.Message, c.says) ||
				!strings.Contains(e.Hint, c.hint) || (c.hint == "") != (e.Hint == "") {
				t.Errorf("%v, and to do %q", err, e.Hint)
			}
		})
	}
}

// TestBuildRefuses: an export that is missing is said before a host would say it.
func TestBuildRefuses(t *testing.T) {
	dir := project(t, "c")
	compilers.Prepare(t, "c", dir)
	if err := os.WriteFile(filepath.Join(dir, "plugin.c"), []byte("int pre_compact(void) { return 0; }\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := kit.Build(t.Context(), kit.Options{Dir: dir, Out: t.TempDir()}); abi.CodeOf(err) != abi.CodeRefused ||
		!strings.Contains(err.Error(), "does not export") {
		t.Errorf("a hook that is not exported: %v", err)
	}
}
