package plugins_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
)

// TestReadmePlugin: the plugin that README shows builds, is what its manifest
// says, and keeps the rules.
func TestReadmePlugin(t *testing.T) {
	root := shared.Root(t)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	// Below the project, where its packages resolve, and out of go's sight.
	if err := os.MkdirAll(filepath.Join(root, "plugins", "testdata"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(filepath.Join(root, "plugins", "testdata"), "readme-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, re := range map[string]string{"main.go": "(?s)```go\n(package main.*?)```", "plugin.yaml": "(?s)```yaml\n(\\{name: .*?)```"} {
		m := regexp.MustCompile(re).FindSubmatch(readme)
		if m == nil {
			t.Fatalf("README shows no %s", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), m[1], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	built, err := kit.Build(t.Context(), kit.Options{Dir: dir, Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := runtime.New(t.Context(), runtime.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close(t.Context())
	p, err := rt.LoadFile(t.Context(), built.Path, runtime.PluginOptions{})
	if err != nil {
		t.Fatal(err)
	}
	abitest.Run(t, p.Manifest(), p)

	in := abitest.NewInput(p.Manifest(), []abi.Message{
		{ID: "1", Role: abi.RoleUser, Content: abi.Text("mend the store")},
		{ID: "2", Role: abi.RoleAssistant, Content: abi.Text("on it")},
	}, 1000)
	out, _, err := p.Call(t.Context(), in)
	if err != nil || out == nil || len(out.Retain) != 1 || out.Retain[0] != "the last request was: mend the store" {
		t.Errorf("output %+v, error %v", out, err)
	}
}
