package archtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const goccy = "github.com/goccy/go-json"

// tokenizer is what counting tokens takes: the library, and what it imports.
var tokenizer = []string{
	"github.com/pkoukk/tiktoken-go", "github.com/dlclark/regexp2", "github.com/google/uuid",
}

// light is what a host links with a package: all modules from outside that may
// come with it, however far down they are imported.
var light = []struct {
	pattern string
	modules []string
}{
	{pattern: "./abi/guest/..."},
	{pattern: "./strategies/..."},
	{pattern: "./firewall/..."},
	{pattern: "./hooks"},
	{pattern: "./models"},
	{pattern: "./transcript", modules: []string{goccy}},
	{pattern: "./tokens", modules: append(tokenizer, goccy)},
	{pattern: ".", modules: append(tokenizer, goccy)},
	{pattern: "./session", modules: append(tokenizer, goccy)},
	{pattern: "./store/kv", modules: []string{"github.com/gofrs/flock", "golang.org/x/sys"}},
	{pattern: "./runtime", modules: []string{goccy, "github.com/tetratelabs/wazero", "golang.org/x/sys"}},
}

// TestLightImports: who embeds a package does not pay for what it does not use.
func TestLightImports(t *testing.T) {
	for _, row := range light {
		t.Run(row.pattern, func(t *testing.T) {
			for module, importer := range linked(t, row.pattern) {
				if !slices.Contains(row.modules, module) {
					t.Errorf("%s links the module %s, through %s: have what it is for passed in (a function, an interface), "+
						"or move it to a package that hosts choose to import", row.pattern, module, importer)
				}
			}
		})
	}
}

// dep is a package that the project depends on, or one of its own.
type dep struct {
	module  string // "std" for the standard library
	imports []string
}

// deps are all of them by path. go list takes a second, so it is asked once.
var deps = sync.OnceValues(func() (map[string]dep, error) {
	const format = `{{$p := .ImportPath}}{{with .Module}}{{.Path}}{{else}}std{{end}} {{$p}} {{join .Imports " "}}`
	cmd := exec.Command("go", "list", "-deps", "-f", format, module+"/...")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, out)
	}
	all := make(map[string]dep)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		all[fields[1]] = dep{fields[0], fields[2:]}
	}
	return all, nil
})

// linked returns the modules from outside that packages depend on, and for each
// one package of another module that imports it.
func linked(t *testing.T, pattern string) map[string]string {
	t.Helper()
	all, err := deps()
	if err != nil {
		t.Fatal(err)
	}
	importers, seen := map[string]string{}, map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		for _, imp := range all[path].imports {
			if to := all[imp].module; to != "" && to != all[path].module && to != "std" && to != module {
				importers[to] = path
			}
			visit(imp)
		}
	}
	root := strings.TrimSuffix(module+strings.TrimPrefix(pattern, "."), "/...")
	below := strings.HasSuffix(pattern, "/...")
	for path := range all {
		if path == root || below && strings.HasPrefix(path, root+"/") {
			visit(path)
		}
	}
	if !seen[root] && !below {
		t.Fatalf("go list does not know %s", pattern)
	}
	return importers
}

// TestLinked: the look itself, at a package that links a lot.
func TestLinked(t *testing.T) {
	through := linked(t, "./cmd/kagewasm")
	if got := through["github.com/spf13/cobra"]; !strings.HasPrefix(got, module+"/cmd/kagewasm") {
		t.Errorf("cobra is linked through %q", got)
	}
	if _, itself := through[module]; itself || through["std"] != "" {
		t.Errorf("its own module or the standard library counts as foreign: %v", through)
	}
}
