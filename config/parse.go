package config

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/kagewasm/kagewasm/abi"
)

// maxDepth is how deep it may nest.
const maxDepth = abi.MaxJSONDepth

// maxBytes is how long a configuration may be.
const maxBytes = 256 << 10

// reader turns YAML into nodes and collects what is wrong.
type reader struct {
	source
	problems Problems
}

// read reads a whole file; the problems are nil where all is well.
func read(name string, data []byte) (*node, *reader) {
	r := &reader{source: newSource(name, data)}
	if len(data) > maxBytes {
		r.fail(pos{}, "%d bytes, %d allowed", len(data), maxBytes)
		return nil, r
	}
	if tooDeep(data) {
		r.fail(pos{}, "nested deeper than %d", maxDepth)
		return nil, r
	}
	if !utf8.Valid(data) {
		r.fail(pos{}, "not UTF-8: save it as UTF-8")
		return nil, r
	}
	n := &node{field: file}
	if body := r.parse(string(data)); body != nil {
		n = r.value(file, body, 0)
	}
	return n, r
}

// tooDeep looks for brackets within brackets, far more than any document has:
// the time the parser takes for them grows with the square of their number.
func tooDeep(data []byte) bool {
	depth := 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > 16*maxDepth {
			return true
		}
	}
	return false
}

func (r *reader) fail(at pos, format string, args ...any) {
	r.problems = append(r.problems, r.problem(at, format, args...))
}

// parseYAML keeps what a file does to the parser from ending the program, which
// may be in the middle of something else when the file changes.
func parseYAML(text string) (parsed *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this cannot be read as YAML: %v", p)
		}
	}()
	return parser.ParseBytes([]byte(text), 0)
}

// parse returns the one document, nil for an empty one.
func (r *reader) parse(text string) ast.Node {
	parsed, err := parseYAML(text)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			r.fail(position(syntax.GetToken()), "%s", syntax.GetMessage())
		} else {
			r.fail(pos{}, "%v", err)
		}
		return nil
	}
	var body ast.Node
	for _, d := range parsed.Docs {
		switch {
		case d.Body == nil:
		case body != nil:
			r.fail(start(d.Body), "a second document: a configuration is one")
		default:
			body = d.Body
		}
	}
	return body
}

func position(t *token.Token) pos {
	if t == nil || t.Position == nil {
		return pos{}
	}
	return pos{t.Position.Line, t.Position.Column}
}

// start is where a value begins; a mapping's own token is its first colon.
func start(n ast.Node) pos {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return start(n.Values[0])
		}
	case *ast.MappingValueNode:
		return start(n.Key)
	}
	return position(n.GetToken())
}

// missing reports whether nothing was written in a value's place.
func missing(v ast.Node) bool {
	return v.Type() == ast.NullType && v.GetToken().Type == token.ImplicitNullType
}
