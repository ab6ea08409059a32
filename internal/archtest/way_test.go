package archtest_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
)

// TestOneWayBetweenFiles: no two files of the root call functions of each other, so that who reads one knows whether
// the other stands above it or below.
func TestOneWayBetweenFiles(t *testing.T) {
	root := shared.Root(t)
	names, err := filepath.Glob(filepath.Join(root, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(text)
	}
	used := calls(t, files)
	if used[[2]string{"engine.go", "look.go"}] == "" {
		t.Error("engine.go is known to call look, and does not")
	}
	for pair, name := range used {
		if back := used[[2]string{pair[1], pair[0]}]; back != "" && pair[0] < pair[1] {
			t.Errorf("%s uses %s of %s, which uses %s of it: move one of them to where it is used", pair[0], name, pair[1],
				back)
		}
	}
}

// TestCalls: the look itself, at two files that call each other.
func TestCalls(t *testing.T) {
	used := calls(t, map[string]string{
		"a.go": `package p; import "fmt"; type T struct{ fmt.Stringer }; func a(v *T) { v.b(); fmt.Println() }`,
		"b.go": `package p; func (v *T) b() { f := a; f(v); c() }`,
		"c.go": `package p; func c() {}`,
	})
	if len(used) != 3 || used[[2]string{"a.go", "b.go"}] != "b" || used[[2]string{"b.go", "a.go"}] != "a" ||
		used[[2]string{"b.go", "c.go"}] != "c" {
		t.Errorf("%v", used)
	}
}

// calls are the functions and methods of a package that a file uses of another one, one for each pair. What they
// import is not looked at.
func calls(t *testing.T, texts map[string]string) map[[2]string]string {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for name, text := range texts {
		f, err := parser.ParseFile(fset, name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	check := types.Config{Importer: nobody{}, Error: func(error) {}}
	pkg, _ := check.Check("p", fset, files, info) // as far as it goes without imports
	used := make(map[[2]string]string)
	for id, object := range info.Uses {
		f, ok := object.(*types.Func)
		from, to := fset.Position(id.Pos()).Filename, fset.Position(object.Pos()).Filename
		if ok && f.Pkg() == pkg && from != to {
			pair := [2]string{from, to}
			if known := used[pair]; known == "" || f.Name() < known {
				used[pair] = f.Name()
			}
		}
	}
	return used
}

// nobody imports nothing.
type nobody struct{}

func (nobody) Import(string) (*types.Package, error) { return nil, errors.New("not looked at") }
