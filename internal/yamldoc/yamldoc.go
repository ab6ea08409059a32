// Package yamldoc reads YAML into values that know their line and column, for
// readers that have to say where something is wrong. [Parse] is all there is to
// call; what a value may be is for the reader to decide.
//
// It refuses what is longer than [MaxBytes], what is not UTF-8, and brackets that
// nest deeper than any document does. Anchors, aliases, tags and merge keys are
// never resolved: they are values of a kind of their own.
package yamldoc

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxBytes bounds the length of a text.
const MaxBytes = 256 << 10

// MaxDepth bounds how deep values nest. [Parse] reads deeper ones as well: readers
// hold values to it, and can say where.
const MaxDepth = 64

// Pos is a place in a text. Line and Column count from 1; the zero value is none.
type Pos struct{ Line, Column int }

// Error is a text that cannot be read, and where.
type Error struct {
	Pos
	Message string
}

func (e *Error) Error() string { return e.Message }

// Kind is what a value is. What has no constant here, such as an anchor, has the
// lower-case name that the parser has for it.
type Kind string

const (
	Null   Kind = "null"
	Bool   Kind = "bool"
	Int    Kind = "integer"
	Float  Kind = "float" // a finite one
	String Kind = "string"
	List   Kind = "sequence"
	Map    Kind = "mapping"
	Merge  Kind = "mergekey" // the key "<<"
)

// Value is one value of a document.
type Value struct {
	// Pos is where it begins: a mapping with its first key.
	Pos
	Kind Kind
	// Any is what a single value says: a bool, an int, a float64 or a string. A
	// whole number that is no int is a uint64, or nil beyond that.
	Any any
	// Text is a string, or a number or bool as it was written.
	Text string
	// Missing is a Null that nobody wrote: nothing stands in its place.
	Missing bool
	// List are the items of a List.
	List []*Value
	// Map are the entries of a Map, in the order of the text.
	Map []Entry
}

// Entry is a key of a mapping with what stands behind it.
type Entry struct{ Key, Value *Value }

// Parse reads the documents of a text, each nil where it holds nothing. Errors are
// [*Error].
func Parse(data []byte) (docs []*Value, err error) {
	defer func() {
		// What a text does to the parser must not end the program.
		if p := recover(); p != nil {
			docs, err = nil, &Error{Message: fmt.Sprintf("this cannot be read as YAML: %v", p)}
		}
	}()
	switch {
	case len(data) > MaxBytes:
		return nil, &Error{Message: fmt.Sprintf("%d bytes, %d allowed", len(data), MaxBytes)}
	case tooDeep(data):
		return nil, &Error{Message: fmt.Sprintf("nested deeper than %d", MaxDepth)}
	case !utf8.Valid(data):
		return nil, &Error{Message: "not UTF-8: save it as UTF-8"}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		if syntax, ok := errors.AsType[yaml.Error](err); ok && syntax.GetToken() != nil {
			return nil, &Error{Pos: position(syntax.GetToken()), Message: syntax.GetMessage()}
		}
		return nil, &Error{Message: err.Error()}
	}
	for _, d := range file.Docs {
		var v *Value
		if d.Body != nil {
			v = read(d.Body)
		}
		docs = append(docs, v)
	}
	return docs, nil
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
		if depth > 16*MaxDepth {
			return true
		}
	}
	return false
}

func position(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{}
	}
	return Pos{t.Position.Line, t.Position.Column}
}

func read(n ast.Node) *Value {
	t := n.GetToken()
	v := &Value{Kind: Kind(strings.ToLower(n.Type().String())), Pos: position(t)}
	switch n := n.(type) {
	case *ast.MappingNode:
		v.Map = entries(n.Values)
		if !n.IsFlowStyle && len(v.Map) > 0 {
			v.Pos = v.Map[0].Key.Pos // its own token is the first colon
		}
	case *ast.MappingValueNode:
		v.Kind, v.Map = Map, entries([]*ast.MappingValueNode{n})
		v.Pos = v.Map[0].Key.Pos
	case *ast.SequenceNode:
		for _, item := range n.Values {
			v.List = append(v.List, read(item))
		}
	case *ast.StringNode:
		v.Any, v.Text = n.Value, n.Value
	case *ast.LiteralNode:
		v.Kind, v.Any, v.Text = String, n.Value.Value, n.Value.Value
	case *ast.BoolNode:
		v.Any, v.Text = n.Value, t.Value
	case *ast.IntegerNode:
		v.Any, v.Text = n.Value, t.Value
		if i, err := strconv.Atoi(fmt.Sprint(n.Value)); err == nil {
			v.Any = i
		}
	case *ast.FloatNode:
		v.Any, v.Text = n.Value, t.Value
		if math.IsInf(n.Value, 0) || math.IsNaN(n.Value) {
			v.Kind = "infinity"
		}
	case *ast.NullNode:
		v.Text, v.Missing = t.Value, t.Type == token.ImplicitNullType
	}
	return v
}

func entries(values []*ast.MappingValueNode) []Entry {
	out := make([]Entry, len(values))
	for i, v := range values {
		out[i] = Entry{Key: read(v.Key), Value: read(v.Value)}
	}
	return out
}
