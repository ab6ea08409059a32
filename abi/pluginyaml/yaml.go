package pluginyaml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/kagewasm/kagewasm/abi"
)

// yamlDoc turns YAML into JSON and remembers where everything stands.
type yamlDoc struct {
	file string
	json bytes.Buffer
	at   map[string]*token.Position // by path: "limits.timeout_ms"
}

func newDoc(file string) *yamlDoc {
	return &yamlDoc{file: file, at: make(map[string]*token.Position)}
}

func (y *yamlDoc) fail(pos *token.Position, message string) *abi.Error {
	where := y.file
	if pos != nil {
		where = fmt.Sprintf("%s:%d:%d", y.file, pos.Line, pos.Column)
	}
	return &abi.Error{Code: abi.CodeBadInput, Op: "manifest", Phase: abi.PhaseLoad, Message: where + ": " + message}
}

func (y *yamlDoc) failAt(n ast.Node, format string, args ...any) *abi.Error {
	var pos *token.Position
	if tok := n.GetToken(); tok != nil {
		pos = tok.Position
	}
	return y.fail(pos, fmt.Sprintf(format, args...))
}

// value writes one node. t is the type it is decoded into, where that is
// known.
func (y *yamlDoc) value(n ast.Node, t reflect.Type, path string, depth int) error {
	if depth > abi.MaxJSONDepth {
		return y.failAt(n, "nested deeper than %d", abi.MaxJSONDepth)
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return y.mapping(n, n.Values, t, path, depth)
	case *ast.MappingValueNode:
		return y.mapping(n, []*ast.MappingValueNode{n}, t, path, depth)
	case *ast.SequenceNode:
		return y.sequence(n, t, path, depth)
	case *ast.StringNode:
		return y.scalar(n, n.Value)
	case *ast.LiteralNode:
		return y.scalar(n, n.Value.Value)
	case *ast.NullNode:
		return y.scalar(n, nil)
	case *ast.IntegerNode:
		return y.number(n, n.Value, t)
	case *ast.FloatNode:
		return y.number(n, n.Value, t)
	case *ast.BoolNode:
		return y.number(n, n.Value, t)
	}
	return y.failAt(n, "%s: a manifest is plain mappings, lists and values", strings.ToLower(n.Type().String()))
}

func (y *yamlDoc) mapping(n ast.Node, values []*ast.MappingValueNode, t reflect.Type, path string, depth int) error {
	fields, elem := shape(t)
	y.json.WriteByte('{')
	for i, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return y.failAt(v.Key, "a key has to be a text")
		}
		typ := elem
		if fields != nil {
			if typ, ok = fields[key.Value]; !ok && !(path == "" && slices.Contains(wildFields, key.Value)) {
				return y.failAt(key, "unknown field %q: known are %s", key.Value, fieldNames(fields))
			}
		}
		if i > 0 {
			y.json.WriteByte(',')
		}
		if err := y.scalar(key, key.Value); err != nil {
			return err
		}
		y.json.WriteByte(':')
		sub := strings.TrimPrefix(path+"."+key.Value, ".")
		y.at[sub] = key.Token.Position
		if err := y.value(v.Value, typ, sub, depth+1); err != nil {
			return err
		}
	}
	y.json.WriteByte('}')
	return nil
}

func (y *yamlDoc) sequence(n *ast.SequenceNode, t reflect.Type, path string, depth int) error {
	var elem reflect.Type
	if t != nil && t.Kind() == reflect.Slice {
		elem = t.Elem()
	}
	y.json.WriteByte('[')
	for i, v := range n.Values {
		if i > 0 {
			y.json.WriteByte(',')
		}
		if err := y.value(v, elem, path, depth+1); err != nil {
			return err
		}
	}
	y.json.WriteByte(']')
	return nil
}

// number writes a number or a boolean; where a text belongs, as the text it
// was written as.
func (y *yamlDoc) number(n ast.Node, value any, t reflect.Type) error {
	if t != nil && t.Kind() == reflect.String {
		return y.scalar(n, n.GetToken().Value)
	}
	return y.scalar(n, value)
}

func (y *yamlDoc) scalar(n ast.Node, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return y.failAt(n, "%v", err)
	}
	y.json.Write(b)
	return nil
}

// wildFields are what manifests in the wild say at the top, and the ABI
// translates.
var wildFields = []string{"role", "hook_timeout_sec"}

// shape is what a mapping decoded into t may hold: the fields of a struct, or
// the type of all values of a map.
func shape(t reflect.Type) (fields map[string]reflect.Type, elem reflect.Type) {
	switch {
	case t == nil:
		return nil, nil
	case t.Kind() == reflect.Map:
		return nil, t.Elem()
	case t.Kind() != reflect.Struct:
		return nil, nil
	}
	fields = make(map[string]reflect.Type)
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = t.Field(i).Type
	}
	return fields, nil
}

func fieldNames(fields map[string]reflect.Type) string {
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// decodeError says where a value of a wrong type stands.
func (y *yamlDoc) decodeError(err error) *abi.Error {
	var typ *json.UnmarshalTypeError
	if !errors.As(err, &typ) {
		return y.fail(nil, err.Error())
	}
	field := strings.TrimPrefix(typ.Field, "plain.")
	message := fmt.Sprintf("%s: a %s, where a %s belongs", orThis(field), typ.Value, typ.Type.Kind())
	return y.fail(y.nearest(field), message)
}

func orThis(field string) string {
	if field == "" {
		return "the manifest"
	}
	return field
}

// nearest is the position of a path, or of what it stands in.
func (y *yamlDoc) nearest(path string) *token.Position {
	for path != "" {
		if pos, ok := y.at[path]; ok {
			return pos
		}
		i := strings.LastIndexByte(path, '.')
		path = path[:max(i, 0)]
	}
	return nil
}

// invalid adds to an error of the manifest's own check where the field stands
// that it begins with.
func (y *yamlDoc) invalid(e *abi.Error) *abi.Error {
	kind, rest, _ := strings.Cut(e.Message, " ")
	name := strings.Trim(strings.TrimRight(strings.SplitN(rest, " ", 2)[0], ":"), `"`)
	path := kind
	switch kind {
	case "knob":
		path = "knobs." + name
	case "capability":
		path = "capabilities." + name
	case "hook":
		path = "hooks"
	case "role":
		if path = "roles"; y.at[path] == nil {
			path = "role"
		}
	}
	out := y.fail(y.nearest(path), e.Message)
	out.Plugin, out.Hint = e.Plugin, e.Hint
	return out
}
