package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
)

// What the project allows itself. A limit is raised with a reason in
// RATIONALE.md, or not at all.
const (
	maxPublicPackages = 26
	maxExportedNames  = 450 // lines of go doc -short: a group of constants is one
	maxRootFiles      = 15
	maxMethods        = 25
	maxFunctionLines  = 80
	maxFileLines      = 600
	maxColumns        = 120 // characters: a tab is one
)

// source is a file of the project.
type source struct {
	dir, name string
	tree      *ast.File
	fset      *token.FileSet
}

// sources reads all that are tests or all that are not, those of other platforms
// too. Modules of their own and what guests are built of in tests are left out.
func sources(t *testing.T, tests bool) (list []source) {
	t.Helper()
	root := shared.Root(t)
	for _, name := range goFiles(t, "testdata", "oracle") {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, source{filepath.ToSlash(filepath.Dir(name)), filepath.Base(name), tree, fset})
	}
	return list
}

// goFiles lists the files of the project below its root, but for those in folders
// of the names without.
func goFiles(t *testing.T, without ...string) (list []string) {
	t.Helper()
	without = append(without, "build", "node_modules")
	err := fs.WalkDir(os.DirFS(shared.Root(t)), ".", func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (slices.Contains(without, base) || strings.ContainsAny(base[:1], "._")):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(base, ".go"):
			list = append(list, filepath.FromSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// public reports whether hosts and authors may import the package.
func (s source) public() bool {
	return s.tree.Name.Name != "main" && !strings.Contains("/"+s.dir+"/", "/internal/") &&
		!strings.HasPrefix(s.dir, "plugins") && !strings.HasPrefix(s.dir, "cmd")
}

// TestSurface holds how much there is to learn: packages, names, files of the
// root.
func TestSurface(t *testing.T) {
	packages, names, root := make(map[string]int), 0, 0
	for _, s := range sources(t, false) {
		if s.dir == "." {
			root++
		}
		if s.public() {
			n := exported(s.tree)
			packages[s.dir] += n
			names += n
		}
	}
	t.Logf("%d packages, %d names, %d files in the root: %v", len(packages), names, root, packages)
	if len(packages) > maxPublicPackages {
		t.Errorf("%d public packages, %d allowed: move what hosts do not need below internal", len(packages),
			maxPublicPackages)
	}
	if names > maxExportedNames {
		t.Errorf("%d exported names, %d allowed: unexport what only tests or the command use", names, maxExportedNames)
	}
	if root > maxRootFiles {
		t.Errorf("%d files in the root, %d allowed", root, maxRootFiles)
	}
}

// exported counts the package-level declarations that go doc -short shows in a
// line of their own.
func exported(f *ast.File) (n int) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				n++
			}
		case *ast.GenDecl:
			values := false
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					values = values || spec.Names[0].IsExported()
				}
			}
			if values {
				n++
			}
		}
	}
	return n
}

// TestSizes: no type that everything hangs on, no function that has to be
// scrolled, no file of several concepts.
func TestSizes(t *testing.T) {
	methods := make(map[string]int)
	for _, s := range sources(t, false) {
		if n := s.fset.Position(s.tree.End()).Line; n > maxFileLines {
			t.Errorf("%s/%s has %d lines, %d allowed", s.dir, s.name, n, maxFileLines)
		}
		for _, d := range s.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; lines > maxFunctionLines {
				t.Errorf("%s/%s: %s has %d lines, %d allowed", s.dir, s.name, f.Name.Name, lines, maxFunctionLines)
			}
			if f.Recv != nil {
				methods[s.dir+"."+receiver(f)]++
			}
		}
	}
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods, %d allowed", name, n, maxMethods)
		}
	}
}

func receiver(f *ast.FuncDecl) string {
	typ := f.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?"
		}
	}
}
