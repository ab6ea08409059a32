package archtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
)

const module = "github.com/kagewasm/kagewasm"

// pkg is what go list says about a package.
type pkg struct {
	ImportPath  string
	Imports     []string
	TestGoFiles []string
}

// list returns the packages of the project as they are on one platform. Those
// that do not build there are listed all the same.
func list(t *testing.T, goos, goarch string) []pkg {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports,TestGoFiles", "./...")
	cmd.Dir = shared.Root(t)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, stderr.Bytes())
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func TestLayout(t *testing.T) {
	for _, platform := range [][2]string{{"linux", "amd64"}, {"wasip1", "wasm"}} {
		t.Run(platform[0], func(t *testing.T) {
			pkgs := list(t, platform[0], platform[1])
			if !slices.ContainsFunc(pkgs, func(p pkg) bool { return p.ImportPath == module+"/abi" }) {
				t.Fatalf("%v: go list does not know package abi", platform)
			}
			for _, fault := range check(layout, pkgs) {
				t.Errorf("%s: %s", platform[0], fault)
			}
		})
	}
}

// check returns every breach of the table, in words.
func check(table []row, pkgs []pkg) (faults []string) {
	for _, p := range pkgs {
		dir, ok := inModule(p.ImportPath)
		if !ok {
			continue
		}
		from := find(table, dir)
		if from < 0 {
			faults = append(faults, fmt.Sprintf(
				"package %s is not in the layout: add a row to internal/archtest/table_test.go that says what it may import", dir))
			continue
		}
		if dir == "abi" && len(p.TestGoFiles) > 0 {
			faults = append(faults, fmt.Sprintf(
				"tests of abi are external, so that they see what a plugin author sees: write package abi_test in %s",
				strings.Join(p.TestGoFiles, ", ")))
		}
		for _, imp := range p.Imports {
			if fault := checkImport(table, from, dir, imp); fault != "" {
				faults = append(faults, fault)
			}
		}
	}
	return faults
}

func checkImport(table []row, from int, dir, imp string) string {
	r := table[from]
	target, ours := inModule(imp)
	switch {
	case r.helper:
		return ""
	case !ours:
		return checkForeign(r, dir, imp)
	}
	to := find(table, target)
	switch {
	case to < 0:
		return "" // said about the package itself
	case to == from && instance(r.pattern, dir) == instance(r.pattern, target):
		return ""
	case table[to].helper:
		return fmt.Sprintf("%s imports %s, which is there for tests: import it in test files alone", dir, target)
	case to < from && table[to].tool, slices.Contains(r.may, table[to].pattern),
		to < from && slices.Contains(r.may, allAbove):
		return ""
	}
	return fmt.Sprintf("%s imports %s, and its row names %s: have what it needs passed in (an interface it "+
		"declares, a function), or move the code to where both may reach it", dir, target, names(r.may))
}

// checkForeign looks at imports from outside the project.
func checkForeign(r row, dir, imp string) string {
	if imp == "text/template" || imp == "html/template" {
		return fmt.Sprintf("%s imports %s, which calls methods by any name: a program that links it keeps every method "+
			"it has; use github.com/DataDog/datadog-agent/pkg/template, which calls none", dir, imp)
	}
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") {
		return ""
	}
	if r.std {
		return fmt.Sprintf("%s imports %s, and depends on nothing but the standard library: it compiles into "+
			"every guest", dir, imp)
	}
	for _, engine := range engines {
		if strings.HasPrefix(imp, engine) && !r.engine {
			return fmt.Sprintf("%s imports %s: only runtime knows the engines; use what runtime offers", dir, imp)
		}
	}
	return ""
}

// inModule returns the folder of a package of the project.
func inModule(importPath string) (dir string, ok bool) {
	rest, ok := strings.CutPrefix(importPath, module)
	switch {
	case !ok || rest != "" && rest[0] != '/':
		return "", false
	case rest == "":
		return ".", true
	}
	return rest[1:], true
}

// find returns the row of a folder: the one with the longest pattern that
// matches, -1 if there is none.
func find(table []row, dir string) int {
	found := -1
	for i, r := range table {
		if matches(r.pattern, dir) && (found < 0 || len(r.pattern) > len(table[found].pattern)) {
			found = i
		}
	}
	return found
}

func matches(pattern, dir string) bool {
	base, below := strings.CutSuffix(pattern, "/...")
	if below {
		dir = instance(pattern, dir)
	}
	ok, err := path.Match(base, dir)
	return ok && err == nil
}

// instance is the part of dir that a pattern names, without what lies below:
// packages of different plugins share a row and are strangers all the same.
func instance(pattern, dir string) string {
	n := strings.Count(strings.TrimSuffix(pattern, "/..."), "/") + 1
	segments := strings.Split(dir, "/")
	return strings.Join(segments[:min(n, len(segments))], "/")
}

func names(may []string) string {
	if len(may) == 0 {
		return "nothing of this project"
	}
	return "only " + strings.ReplaceAll(strings.Join(may, ", "), "/...", "")
}

// TestTable: what a row names stands above it, so that there can be no cycle.
func TestTable(t *testing.T) {
	seen := map[string]bool{allAbove: true}
	for _, r := range layout {
		if seen[r.pattern] {
			t.Errorf("two rows for %s", r.pattern)
		}
		for _, name := range r.may {
			if !seen[name] {
				t.Errorf("%s may import %s, which does not stand above it", r.pattern, name)
			}
		}
		seen[r.pattern] = true
	}
}

// TestCheckFindsFaults: the check itself, on packages that do not exist.
func TestCheckFindsFaults(t *testing.T) {
	for _, c := range []struct {
		dir, imp string
		says     string // "" where all is well
	}{
		{"abi", "encoding/json", ""},
		{"abi", "github.com/goccy/go-json", "nothing but the standard library"},
		{"abi", module + "/tokens", "names nothing of this project"},
		{"abi/guest", module + "/abi", ""},
		{"abi/guest/internal/memhost", module + "/abi/guest", ""},
		{"abi/guest", "golang.org/x/sys/unix", "nothing but the standard library"},
		{"abi/newthing", "fmt", "add a row"},
		{"newthing", "fmt", "add a row"},
		{"plugins", module + "/abi", "names nothing of this project"},
		{"hooks", module + "/runtime", "names only abi"},
		{"runtime/internal/meter", module + "/runtime/internal/x", ""},
		{"runtime/internal/meter", "github.com/tetratelabs/wazero/api", ""},
		{"hooks", "github.com/tetratelabs/wazero", "only runtime knows the engines"},
		{"cmd/kagewasm", "github.com/extism/go-sdk", "only runtime knows the engines"},
		{"server", "html/template", "keeps every method"},
		{"cmd/kagewasm", module + "/runtime", ""},
		{"cmd/kagewasm", module + "/internal/shared", "there for tests"},
		{"strategies/note", module + "/internal/clip", ""},
		{"abi/guest", module + "/internal/clip", "names only abi"},
		{".", module + "/store", "names only abi, tokens, firewall, strategies, hooks"},
		{".", module + "/strategies/note", ""},
		{".", module + "/config", "imports config"},
		{"strategies/note", module + "/strategies", ""},
		{"strategies/note", module + "/tokens", "names only abi"},
		{"kit", module + "/abi/abitest", ""},
		{"kit", module + "/strategies", "names only abi, abi/abitest, internal/pluginyaml, internal/atomicfile, " +
			"runtime, store/kv"},
		{"plugins/a", module + "/plugins/a/logic", ""},
		{"plugins/a", module + "/plugins/b/logic", "imports plugins/b/logic"},
		{"plugins/a", module + "/strategies/note", ""},
		{"plugins/a", module + "/runtime", "imports runtime"},
		{"internal/shared", module + "/cmd/kagewasm", ""},
		{"hooks", module + "extra/x", ""},
	} {
		t.Run(c.dir+" imports "+c.imp, func(t *testing.T) {
			p := pkg{ImportPath: strings.TrimSuffix(module+"/"+c.dir, "/."), Imports: []string{c.imp}}
			faults := check(layout, []pkg{p})
			switch {
			case c.says == "" && len(faults) > 0:
				t.Errorf("%s importing %s: %v", c.dir, c.imp, faults)
			case c.says != "" && (len(faults) != 1 || !strings.Contains(faults[0], c.says)):
				t.Errorf("%s importing %s: %v, want it to say %q", c.dir, c.imp, faults, c.says)
			}
		})
	}
	if faults := check(layout, []pkg{{ImportPath: module + "/abi", TestGoFiles: []string{"x_test.go"}}}); len(
		faults) != 1 {
		t.Errorf("an internal test of abi: %v", faults)
	}
}
