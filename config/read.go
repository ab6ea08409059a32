package config

import (
	"github.com/goccy/go-yaml/ast"
)

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
		case n.kid(name) != nil:
			r.fail(start(v.Key), "%s%s is there already, in line %d", name, in(n.field), n.kid(name).pos.line)
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
	return len(r.problems) > wrong || r.complete(n)
}

// complete checks that a block has what it cannot do without.
func (r *reader) complete(n *node) bool {
	for _, f := range n.field.fields {
		if k := n.kid(f.name); f.required && (k == nil || k.null) {
			r.fail(n.at, "no %s%s: it is %s", f.name, in(n.field), f.need)
			return false
		}
	}
	return true
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
		switch {
		case !n.field.keys.MatchString(name):
			r.fail(at, "%q is no name for one of %s: use letters, digits, \".\", \"-\" and \"_\", at most 64", name, n.field.name)
		case n.kid(name) != nil:
			r.fail(at, "%s of %s is there already, in line %d", name, n.field.name, n.kid(name).pos.line)
		default:
			if kid := r.entry(n.field, name, v, depth); kid != nil {
				kid.name, kid.pos = name, at
				n.kids = append(n.kids, kid)
			}
		}
	}
	return true
}

// entry is what stands under a name of a table. A block with nothing in it is
// one that says nothing, such as an agent that inherits everything.
func (r *reader) entry(f *field, name string, v *ast.MappingValueNode, depth int) *node {
	if missing(v.Value) && !f.elem.single() {
		n := &node{field: f.elem, at: start(v.Key)}
		if !r.complete(n) {
			return nil
		}
		return n
	}
	n := r.value(f.elem, v.Value, depth+1)
	if missing(v.Value) || n != nil && n.null {
		r.fail(start(v.Key), "nothing behind %s in %s: give %s, or take it out", name, f.name, f.elem.kind)
		return nil
	}
	return n
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
