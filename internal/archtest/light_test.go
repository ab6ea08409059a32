package archtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
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

// linked returns the modules from outside that packages depend on, and for each
// one package of another module that imports it.
func linked(t *testing.T, pattern string) map[string]string {
	t.Helper()
	format := `{{$p := .ImportPath}}{{with .Module}}{{.Path}}{{else}}std{{end}} {{$p}} {{join .Imports " "}}`
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", format, pattern)
	cmd.Dir = shared.Root(t)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(fmt.Errorf("go list: %w: %s", err, out))
	}
	moduleOf, importers := map[string]string{}, map[string]string{}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines { // what is imported comes before its importer
		fields := strings.Fields(line)
		m, p := fields[0], fields[1]
		moduleOf[p] = m
		for _, imp := range fields[2:] {
			if to := moduleOf[imp]; to != m && to != "std" && to != module {
				importers[to] = p
			}
		}
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
