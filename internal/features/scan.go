package features

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
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

// Scan reads which test below root proves which row. A test that names a row
// there is not is an error. Benchmarks prove nothing: they do not fail.
func Scan(root string, rows []Row) (Proofs, error) {
	s := scanner{known: make(map[string]bool), proofs: make(Proofs)}
	for _, r := range rows {
		s.known[r.ID] = true
	}
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
		dir, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		return s.file(filepath.ToSlash(dir), name)
	})
	for _, tests := range s.proofs {
		slices.SortFunc(tests, func(a, b Test) int { return strings.Compare(a.String(), b.String()) })
	}
	return s.proofs, err
}

// skipped are folders the go command does not look into, and this one, whose
// tests name rows as examples.
func skipped(dir string) bool {
	return dir == "testdata" || dir == "features" || dir == "build" || strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}

type scanner struct {
	known  map[string]bool
	proofs Proofs
}

func (s *scanner) file(dir, name string) error {
	if ok, err := build.Default.MatchFile(filepath.Split(name)); err != nil || !ok {
		return err
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return s.source(dir, path.Base(filepath.ToSlash(name)), src)
}

func (s *scanner) source(dir, file string, src []byte) error {
	tree, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Body == nil || !proves.MatchString(f.Name.Name) {
			continue
		}
		t := Test{Dir: dir, Name: f.Name.Name}
		for _, id := range inName(f.Name.Name) {
			if !s.known[id] {
				return fmt.Errorf("%s/%s: %s: there is no row %s", dir, file, f.Name.Name, id)
			}
			s.add(id, t)
		}
		for _, id := range claimed(tree, f) {
			s.add(id, t)
		}
	}
	return nil
}

func (s *scanner) add(id string, t Test) {
	if s.known[id] && !slices.Contains(s.proofs[id], t) {
		s.proofs[id] = append(s.proofs[id], t)
	}
}

var (
	proves   = regexp.MustCompile(`^(Test|Fuzz|Example)($|[^a-z])`)
	nameRows = regexp.MustCompile(`^(?:Test|Fuzz|Example)_?((?:[KITOAN]\d+|Complaint\d+)+)`)
	oneRow   = regexp.MustCompile(`[KITOAN]\d+|Complaint\d+`)
)

// inName are the rows with which a test's name begins.
func inName(name string) (rows []string) {
	m := nameRows.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	for _, id := range oneRow.FindAllString(m[1], -1) {
		rows = append(rows, strings.Replace(id, "Complaint", complaint, 1))
	}
	return rows
}

// claimed are the rows that a test's comments, and the row column of its table
// of cases, name.
func claimed(tree *ast.File, f *ast.FuncDecl) (rows []string) {
	if f.Doc != nil {
		rows = inText(f.Doc.Text())
	}
	for _, g := range tree.Comments {
		if g.Pos() > f.Body.Pos() && g.End() < f.Body.End() {
			rows = append(rows, inText(g.Text())...)
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			rows = append(rows, inColumn(lit)...)
		}
		return true
	})
	return rows
}

// inColumn are the rows in a table of cases that has a field called row.
func inColumn(table *ast.CompositeLit) (rows []string) {
	column := rowColumn(table.Type)
	if column < 0 {
		return nil
	}
	for _, elt := range table.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			elt = kv.Value // a map of cases
		}
		if c, ok := elt.(*ast.CompositeLit); ok {
			rows = append(rows, whole(cell(c, column))...)
		}
	}
	return rows
}

// rowColumn is which field of a table's cases names their row, -1 for none.
func rowColumn(table ast.Expr) int {
	switch t := table.(type) {
	case *ast.ArrayType:
		table = t.Elt
	case *ast.MapType:
		table = t.Value
	}
	s, ok := table.(*ast.StructType)
	if !ok {
		return -1
	}
	at := 0
	for _, f := range s.Fields.List {
		for _, id := range f.Names {
			if id.Name == "row" {
				return at
			}
			at++
		}
	}
	return -1
}

// cell is the text in a column of a case, "" for none.
func cell(c *ast.CompositeLit, column int) string {
	for i, elt := range c.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); !ok || id.Name != "row" {
				continue
			}
			elt = kv.Value
		} else if i != column {
			continue
		}
		if lit, ok := elt.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value) // it was parsed already
			return text
		}
	}
	return ""
}

const (
	aRow   = `(?:[KITOAN]\d{1,2}|complaints?\s\d{1,2}(?:(?:,\s|\sand\s)\d{1,2})*)`
	someOf = aRow + `(?:(?:,\s|\sand\s)` + aRow + `)*`
)

var (
	only      = regexp.MustCompile(`^` + someOf + `$`)
	leading   = regexp.MustCompile(`(?m)^(` + someOf + `):(?: |$)`)
	announced = regexp.MustCompile(`FEATURES\s(` + someOf + `)`)
	bracketed = regexp.MustCompile(`\((` + someOf + `)\)`)
	rowOrNo   = regexp.MustCompile(`[KITOAN]?\d{1,2}`)
)

// inText are the rows a comment claims: those at the beginning of
// a line before a colon, behind the word FEATURES, or alone in brackets. A row
// that is merely mentioned is not claimed.
func inText(text string) (rows []string) {
	for _, form := range []*regexp.Regexp{leading, announced, bracketed} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			rows = append(rows, split(m[1])...)
		}
	}
	return rows
}

// whole are the rows of a text that is nothing else.
func whole(text string) []string {
	if only.MatchString(text) {
		return split(text)
	}
	return nil
}

func split(list string) (rows []string) {
	for _, id := range rowOrNo.FindAllString(list, -1) {
		if id[0] <= '9' {
			id = complaint + id
		}
		rows = append(rows, id)
	}
	return rows
}
