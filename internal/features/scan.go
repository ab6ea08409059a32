package features

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Test is a test function: the folder of its package below the project's root,
// "." for the root, and its name.
type Test struct{ Dir, Name string }

// String is the test as the table shows it.
func (t Test) String() string {
	if t.Dir == "." {
		return t.Name
	}
	return t.Dir + "." + t.Name
}

// Proofs are the tests that prove each row, by the row's id, sorted.
type Proofs map[string][]Test

// Scan reads which test below root proves which row: the literals of its call
// of [Proves]. A literal that is no row is an error, and so is a call whose
// rows are not literals.
func Scan(root string) (Proofs, error) {
	proofs := make(Proofs)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && skipped(d.Name()) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		// The table is the same on every platform: what this one does not build is left out.
		if ok, err := build.Default.MatchFile(filepath.Split(name)); err != nil || !ok {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		return proofs.read(name, filepath.ToSlash(dir))
	})
	for _, tests := range proofs {
		slices.SortFunc(tests, func(a, b Test) int { return cmp.Compare(a.String(), b.String()) })
	}
	return proofs, err
}

// skipped are folders that the go command does not look into.
func skipped(dir string) bool {
	return dir == "testdata" || dir == "build" || strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}

// read adds what the tests of one file prove.
func (p Proofs) read(name, dir string) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		t := Test{Dir: dir, Name: f.Name.Name}
		for _, arg := range declared(f) {
			id, ok := literal(arg)
			if !ok || !isRow(id) {
				return fmt.Errorf("%s: %s: Proves takes the ids of rows, as literals", fset.Position(arg.Pos()), t)
			}
			if !slices.Contains(p[id], t) {
				p[id] = append(p[id], t)
			}
		}
	}
	return nil
}

// declared are the rows in a test's calls of Proves, as they are written.
func declared(f *ast.FuncDecl) (rows []ast.Expr) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		if fun, ok := call.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "Proves" {
			if pkg, ok := fun.X.(*ast.Ident); ok && pkg.Name == "features" {
				rows = append(rows, call.Args[1:]...)
			}
		}
		return true
	})
	return rows
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}
