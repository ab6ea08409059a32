package config

import (
	"errors"
	"fmt"
	"strings"
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

// parse returns the one document, nil for an empty one.
func (r *reader) parse(text string) ast.Node {
	parsed, err := parser.ParseBytes([]byte(text), 0)
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

// value reads what is given for a field, nil where that is nothing or wrong.
func (r *reader) value(f *field, v ast.Node, depth int) *node {
	n := &node{field: f, at: start(v)}
	if depth > maxDepth {
		r.fail(n.at, "nested deeper than %d", maxDepth)
		return nil
	}
	if v.Type() == ast.NullType {
		return r.nothing(n, v)
	}
	if n.off(v) {
		return n
	}
	ok, wrong := false, len(r.problems)
	switch f.kind {
	case block:
		ok = r.block(n, v, depth)
	case table:
		ok = r.table(n, v, depth)
	case list:
		ok = r.list(n, v, depth)
	case free:
		n.value, ok = r.free(v, depth)
	default:
		ok = r.scalar(n, v)
	}
	if !ok {
		return nil
	}
	if len(r.problems) > wrong {
		return n // what else is wrong may follow from that
	}
	return r.checked(n)
}

// checked is a value that is right as a whole, too, or nil.
func (r *reader) checked(n *node) *node {
	if n.field.check != nil {
		if wrong := n.field.check(n); wrong != "" {
			r.fail(n.at, "%s", wrong)
			return nil
		}
	}
	return n
}

// nothing is a key with nothing behind it, as a block has of which all is
// commented out, or a "~", which asks for the default.
func (r *reader) nothing(n *node, v ast.Node) *node {
	if missing(v) {
		return nil
	}
	n.null = true
	return n
}

func missing(v ast.Node) bool {
	return v.Type() == ast.NullType && v.GetToken().Type == token.ImplicitNullType
}

func orValue(name string) string {
	if name == "" {
		return "it"
	}
	return name
}

// off reads "off" and "on" where they can stand for something longer.
func (n *node) off(v ast.Node) bool {
	if !n.field.off {
		return false
	}
	var off bool
	switch v := v.(type) {
	case *ast.StringNode:
		if off = v.Value == "off"; !off && v.Value != "on" {
			return false
		}
	case *ast.BoolNode:
		off = !v.Value
	default:
		return false
	}
	switch {
	case n.field.kind == block:
		n.short = true
		n.kids = []*node{{field: n.field.child("off"), name: "off", pos: n.at, at: n.at, value: off}}
	case off && n.field.kind == list:
		n.value = "off"
	case off:
		n.value = -1
	default:
		return false
	}
	return true
}

// pairs are the entries of a mapping.
func (r *reader) pairs(n *node, v ast.Node) ([]*ast.MappingValueNode, bool) {
	switch v := v.(type) {
	case *ast.MappingNode:
		return v.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}, true
	}
	r.mistyped(n, v)
	return nil, false
}

// key is the name of an entry, as it is written.
func (r *reader) key(v *ast.MappingValueNode) (string, bool) {
	switch k := v.Key.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, true
	case *ast.MergeKeyNode:
		r.fail(start(v.Key), "merge keys are not read: agents inherit from those above them, and from the top of the file")
	default:
		r.fail(start(v.Key), "a key has to be a plain text")
	}
	return "", false
}

func (r *reader) block(n *node, v ast.Node, depth int) bool {
	values, ok := r.pairs(n, v)
	if !ok {
		return false
	}
	wrong := len(r.problems)
	for _, v := range values {
		name, ok := r.key(v)
		if !ok {
			continue
		}
		f := n.field.child(name)
		switch {
		case f == nil:
			r.fail(start(v.Key), "unknown field %q%s%s", name, in(n.field), meant(n.field, name))
		case f.refuse != "":
			r.fail(start(v.Key), "%s%s: %s", name, in(n.field), f.refuse)
		case missing(v.Value) && f.like(n.field).single():
			r.fail(start(v.Key), "nothing behind %s: give %s, or ~ for the default", name, f.like(n.field).kind)
		default:
			if kid := r.value(f.like(n.field), v.Value, depth+1); kid != nil {
				kid.name, kid.pos = name, start(v.Key)
				n.kids = append(n.kids, kid)
			}
		}
	}
	r.unify(n)
	for _, f := range n.field.fields {
		if k := n.kid(f.name); f.required && (k == nil || k.null) && len(r.problems) == wrong {
			r.fail(n.at, "no %s%s: it is %s", f.name, in(n.field), f.need)
			return false
		}
	}
	return true
}

// like is how a value of the field is read: another spelling takes its kind
// and checks from what it spells, and keeps its own range and unit.
func (f *field) like(parent *field) *field {
	if f.same == "" {
		return f
	}
	read := *parent.at(f.same)
	read.name, read.doc, read.def = f.name, f.doc, nil
	read.min, read.max, read.over = f.min, f.max, f.over
	read.same, read.percent = f.same, f.percent
	return &read
}

// unify moves what is written in another spelling to where it belongs.
func (r *reader) unify(n *node) {
	for _, k := range n.kids {
		if k.field.same == "" {
			continue
		}
		*n = *n.without(k.name)
		names := strings.Split(k.field.same, ".")
		to := n
		for _, name := range names[:len(names)-1] {
			if to.kid(name) == nil {
				to.kids = append(to.kids, &node{field: to.field.child(name), name: name, pos: k.pos, at: k.at})
			}
			to = to.kid(name)
		}
		k.wrote, k.name = k.name, names[len(names)-1]
		k.field = to.field.child(k.name)
		if old := to.kid(k.name); old != nil || to.null {
			r.fail(k.pos, "%s says the same as %s: keep one of them", k.wrote, strings.Join(names, "."))
			continue
		}
		to.kids = append(to.kids, k)
	}
}

// in says where a field was expected.
func in(f *field) string {
	if f.name == "" {
		return ""
	}
	return " in " + f.name
}

// meant is the field a person may have wanted, here or elsewhere.
func meant(f *field, name string) string {
	for _, b := range blocks {
		if c := b.of.child(name); b.of != f && c != nil && c.refuse == "" {
			return fmt.Sprintf(": it belongs under %s", b.place)
		}
	}
	var names []string
	for _, c := range f.fields {
		if c.refuse == "" {
			names = append(names, c.name)
		}
	}
	return suggest(name, names)
}

func (r *reader) table(n *node, v ast.Node, depth int) bool {
	values, ok := r.pairs(n, v)
	if !ok {
		return false
	}
	for _, v := range values {
		name, ok := r.key(v)
		if !ok {
			continue
		}
		at := start(v.Key)
		if !n.field.keys.MatchString(name) {
			r.fail(at, "%q is no name for one of %s: use letters, digits, \".\", \"-\" and \"_\", at most 64", name, n.field.name)
			continue
		}
		kid := r.value(n.field.elem, v.Value, depth+1)
		switch {
		case missing(v.Value) && n.field.elem.single():
			r.fail(at, "nothing behind %s: give %s, or take it out", name, n.field.elem.kind)
			continue
		case missing(v.Value):
			kid = &node{field: n.field.elem, at: at} // an agent that inherits everything
		case kid == nil:
			continue
		case kid.null:
			r.fail(kid.at, "%s of %s cannot be ~: take it out", name, n.field.name)
			continue
		}
		kid.name, kid.pos = name, at
		n.kids = append(n.kids, kid)
	}
	return true
}

func (r *reader) list(n *node, v ast.Node, depth int) bool {
	seq, ok := v.(*ast.SequenceNode)
	if !ok {
		r.mistyped(n, v)
		return false
	}
	for _, v := range seq.Values {
		item := r.value(n.field.elem, v, depth+1)
		switch {
		case item == nil && v.Type() != ast.NullType:
		case item == nil || item.null:
			r.fail(start(v), "nothing stands for this item of %s", n.field.name)
		default:
			item.pos = item.at
			n.items = append(n.items, item)
		}
	}
	return true
}
