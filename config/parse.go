package config

import (
	"errors"

	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// reader turns YAML into nodes and collects what is wrong.
type reader struct {
	source
	problems Problems
}

// read reads a whole file; the problems are nil where all is well.
func read(name string, data []byte) (*node, *reader) {
	r := &reader{source: newSource(name, data)}
	n := &node{field: file}
	if body := r.parse(data); body != nil {
		n = r.value(file, body, 0)
	}
	return n, r
}

func (r *reader) fail(at yamldoc.Pos, format string, args ...any) {
	r.problems = append(r.problems, r.problem(at, format, args...))
}

// parse returns the one document, nil for an empty one.
func (r *reader) parse(text []byte) *yamldoc.Value {
	docs, err := yamldoc.Parse(text)
	if e, ok := errors.AsType[*yamldoc.Error](err); ok {
		r.fail(e.Pos, "%s", e.Message)
	}
	var body *yamldoc.Value
	for _, d := range docs {
		switch {
		case d == nil:
		case body != nil:
			r.fail(d.Pos, "a second document: a configuration is one")
		default:
			body = d
		}
	}
	return body
}
