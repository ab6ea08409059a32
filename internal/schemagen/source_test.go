package schemagen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// pkgPath is the import path of package abi.
var pkgPath = reflect.TypeFor[abi.Message]().PkgPath()

// source is what schemas take from Go source: comments, and the constants of
// each named string type.
type source struct {
	comments map[string]string // PACKAGE.Type and PACKAGE.Type.Field
	consts   map[string][]constant
	values   map[string]string // of every string constant, by name
}

type constant struct{ name, value, comment string }

// readSource reads the package in dir, tests left out.
func readSource(dir string) (*source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var decls []*ast.GenDecl
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok {
				decls = append(decls, gen)
			}
		}
	}
	src := &source{comments: make(map[string]string), consts: make(map[string][]constant), values: make(map[string]string)}
	// Comments name constants, so these come first.
	for _, gen := range decls {
		src.addValues(gen)
	}
	for _, gen := range decls {
		src.add(gen)
	}
	if len(src.comments) == 0 {
		return nil, fmt.Errorf("no Go types in %s", dir)
	}
	return src, nil
}

func (s *source) addValues(gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		spec, ok := spec.(*ast.ValueSpec)
		if !ok || gen.Tok != token.CONST || len(spec.Values) != 1 {
			continue
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if value, err := strconv.Unquote(lit.Value); err == nil {
				s.values[spec.Names[0].Name] = value
			}
		}
	}
}

func (s *source) add(gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.addType(spec, s.comment(spec.Doc, gen.Doc))
		case *ast.ValueSpec:
			name := spec.Names[0].Name
			value, ok := s.values[name]
			if typ, typed := spec.Type.(*ast.Ident); ok && typed {
				s.consts[typ.Name] = append(s.consts[typ.Name], constant{name, value, s.comment(spec.Doc, spec.Comment)})
			}
		}
	}
}

func (s *source) addType(spec *ast.TypeSpec, doc string) {
	key := pkgPath + "." + spec.Name.Name
	s.comments[key] = doc
	if st, ok := spec.Type.(*ast.StructType); ok {
		for _, f := range st.Fields.List {
			for _, name := range f.Names {
				s.comments[key+"."+name.Name] = s.comment(f.Doc, f.Comment)
			}
		}
	}
}

// describeEnum is the comment of a named type, and of each of its constants.
func (s *source) describeEnum(name string) string {
	text := s.comments[pkgPath+"."+name]
	for _, c := range s.consts[name] {
		if c.comment == "" {
			continue
		}
		says, named := strings.CutPrefix(c.comment, c.name)
		if !named {
			says = ": " + c.comment
		}
		text += "\n- " + strconv.Quote(c.value) + says
	}
	return text
}

var (
	seeAlso = regexp.MustCompile(`[;:] see \[\w+\](?: for the rules)?`)
	docLink = regexp.MustCompile(`\[\*?([A-Z][\w.]*)\]`)
	// rowRef is a reference to the ledger of features, which a reader of a
	// schema does not have.
	rowRef = regexp.MustCompile(`\s*\((?:FEATURES )?[A-Z]\d+(?:, [A-Z]\d+)*(?:: [^)]*)?\)`)
)

// comment is the text of the first group there is, for a reader who does not
// see the Go source: no doc links, no references to the ledger, lines joined
// but for lists.
func (s *source) comment(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := strings.TrimSpace(g.Text()); text != "" {
			text = rowRef.ReplaceAllString(seeAlso.ReplaceAllString(text, ""), "")
			return joinLines(docLink.ReplaceAllStringFunc(text, s.unlink))
		}
	}
	return ""
}

// unlink replaces a doc link by the name it links to, and a link to a string
// constant by its value.
func (s *source) unlink(link string) string {
	name := docLink.FindStringSubmatch(link)[1]
	if value, ok := s.values[name]; ok {
		return strconv.Quote(value)
	}
	return name
}

// joinLines turns the lines of each paragraph, and of each list item, into one.
func joinLines(text string) string {
	var out strings.Builder
	last := ""
	for i, line := range strings.Split(text, "\n") {
		item := strings.HasPrefix(line, "  - ")
		line = strings.TrimSpace(line)
		switch {
		case i == 0 || line == "" && last == "":
		case line == "" || item || last == "":
			out.WriteByte('\n')
		default:
			out.WriteByte(' ')
		}
		out.WriteString(line)
		last = line
	}
	return out.String()
}
