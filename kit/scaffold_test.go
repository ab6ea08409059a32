package kit_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/kit"
)

var update = flag.Bool("update", false, "write the fixtures again")

// TestFixtureInput: the hook input of every project is what a host makes of its
// session.
func TestFixtureInput(t *testing.T) {
	const path = "scaffold/common/fixtures/input.json"
	msgs := shared.Messages(t, "scaffold/common/fixtures/session.jsonl")
	want, err := json.MarshalIndent(abitest.NewInput(new(abi.Manifest), msgs, 1200), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not of session.jsonl (%v): run this test with -update", path, err)
	}
}

// TestNewNames: a project is called what its author called it, in every
// language and role.
func TestNewNames(t *testing.T) {
	features.Proves(t, "N6")
	for _, lang := range kit.Langs {
		for _, role := range kit.Roles {
			dir := filepath.Join(t.TempDir(), "below", "it")
			paths, err := kit.New(kit.Project{Name: "keeps-rules", Lang: lang, Role: role, Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			named := 0
			for _, path := range paths {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				named += bytes.Count(data, []byte("keeps-rules"))
				if bytes.Contains(data, []byte("my-plugin")) {
					t.Errorf("%s %s: %s has the name of the template", lang, role, path)
				}
			}
			if named < 4 {
				t.Errorf("%s %s: named %d times", lang, role, named)
			}
			for _, name := range []string{"plugin.yaml", "README.md", ".gitignore", "fixtures/session.jsonl",
				"fixtures/input.json", "fixtures/output.json"} {
				t.Run(name, func(t *testing.T) {
					if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
						t.Errorf("%s %s: %v", lang, role, err)
					}
				})
			}
		}
	}
}

func TestNewErrors(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "notes.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for _, c := range []struct {
		why        string
		o          kit.Project
		says, hint string
	}{
		{"a bad name", kit.Project{Name: "My Plugin"}, `name "My Plugin"`, ""},
		{"no name", kit.Project{}, "lower case", ""},
		{"a path", kit.Project{Name: "../x"}, "lower case", ""},
		{"another language", kit.Project{Name: "x", Lang: "rust", Dir: empty}, "go, ts, c", "kagewasm build X.wasm"},
		{"another role", kit.Project{Name: "x", Role: "owner", Dir: empty}, "observer and compactor", ""},
		{"a folder with something in it", kit.Project{Name: "x", Dir: full}, "something in it", "--dir"},
		{"a file", kit.Project{Name: "x", Dir: filepath.Join(full, "notes.txt")}, "notes.txt", "--dir"},
		{"no clone", kit.Project{Name: "x", Dir: empty, Source: full}, "no clone", "--source"},
	} {
		t.Run(c.why, func(t *testing.T) {
			paths, err := kit.New(c.o)
			if abi.CodeOf(err) != abi.CodeUsage || len(paths) > 0 {
				t.Fatalf("%v, %v", paths, err)
			}
			if e := abi.AsError(err); !strings.Contains(e.Message, c.says) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("says %q, and to do %q", e.Message, e.Hint)
			}
		})
	}
	if left, _ := os.ReadDir(empty); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestNewNamesOfTheStandardLibrary: a plugin in Go may have the name of a package of
// the standard library, and still builds.
func TestNewNamesOfTheStandardLibrary(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cmp")
	if _, err := kit.New(kit.Project{Name: "cmp", Dir: dir}); err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{.Standard}}", ".")
	list.Dir, list.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOOS=wasip1", "GOARCH=wasm")
	if out, err := list.CombinedOutput(); err != nil || string(out) != "example.com/cmp false\n" {
		t.Errorf("%s%v", out, err)
	}
}
