package config

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// reader turns YAML into nodes and collects what is wrong.
type reader struct {
	source
	problems Problems
	patterns int // their size so far
}

// read reads a whole file; the problems are nil where all is well.
func read(name string, data []byte) (*node, *reader) {
	r := &reader{source: source{name, strings.Split(string(data), "\n")}}
	n := &node{field: file()}
	if body := r.parse(data); body != nil {
		n = r.value(file(), body, 0)
	}
	return n, r
}

// fail notes a problem. Those that are not listed are counted alone: there may be
// thousands.
func (r *reader) fail(at yamldoc.Pos, format string, args ...any) {
	var p Problem
	if len(r.problems) < maxProblems {
		p = r.problem(at, format, args...)
	}
	r.problems = append(r.problems, p)
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

// takes are the kinds of values that may stand for each kind of settings. What only
// looks like a number or a truth is fine where a text belongs.
var takes = map[kind][]yamldoc.Kind{
	boolean: {yamldoc.Bool}, integer: {yamldoc.Int}, number: {yamldoc.Int, yamldoc.Float}, duration: {yamldoc.String},
	text: {yamldoc.String, yamldoc.Int, yamldoc.Float, yamldoc.Bool},
	list: {yamldoc.List}, block: {yamldoc.Map}, table: {yamldoc.Map},
}

// value reads what is given for a field, nil where that is nothing or wrong.
func (r *reader) value(f *field, v *yamldoc.Value, depth int) *node {
	n := &node{field: f, at: v.Pos}
	switch {
	case depth > yamldoc.MaxDepth:
		r.fail(n.at, "nested deeper than %d", yamldoc.MaxDepth)
		return nil
	case v.Missing:
		return nil // as a block has of which all is commented out
	case v.Kind == yamldoc.Null:
		n.null = true
		return n
	case n.off(v):
		return n
	case f.Kind != free && !slices.Contains(takes[f.Kind], v.Kind):
		r.mistyped(n, v)
		return nil
	}
	wrong := len(r.problems)
	if !r.read(n, v, depth) || !r.affords(n) {
		return nil
	}
	if check := checks[f.Check]; check != nil && len(r.problems) == wrong {
		if says := check(n); says != "" {
			r.fail(n.at, "%s", says)
			return nil
		}
	}
	return n
}

// read reports whether there is a value to go on with; in a block or a list some
// of it may be wrong.
func (r *reader) read(n *node, v *yamldoc.Value, depth int) bool {
	switch n.field.Kind {
	case boolean:
		n.value = v.Any
	case integer, number:
		return r.number(n, v)
	case duration:
		return r.duration(n, v)
	case text:
		return r.text(n, v)
	case free:
		x, ok := r.free(v, depth)
		b, _ := json.Marshal(x) // it holds finite numbers alone
		n.value = json.RawMessage(b)
		return ok
	case list:
		r.list(n, v, depth)
	case table:
		r.table(n, v, depth)
	case block:
		return r.block(n, v, depth)
	}
	return true
}

// off reads "off" and "on" where they can stand for something longer.
func (n *node) off(v *yamldoc.Value) bool {
	off := v.Any == "off" || v.Any == false
	switch {
	case !n.field.Off || !off && v.Any != "on" && v.Any != true:
		return false
	case n.field.Kind == block:
		n.short = true
		n.kids = []*node{{field: n.field.child("off"), name: "off", pos: n.at, at: n.at, value: off}}
	case off && n.field.Kind == list:
		n.value = "off"
	case off:
		n.value = -1
	default:
		return false
	}
	return true
}

// key is the name of an entry, as it is written.
func (r *reader) key(v *yamldoc.Value) (string, bool) {
	switch v.Kind {
	case yamldoc.String, yamldoc.Int, yamldoc.Float, yamldoc.Bool, yamldoc.Null:
		return v.Text, true
	case yamldoc.Merge:
		r.fail(v.Pos, "merge keys are not read: agents inherit from those above them, and from the top of the file")
	default:
		r.fail(v.Pos, "a key has to be a plain text")
	}
	return "", false
}

// add gives a node what stands under one of its keys.
func (n *node) add(key *yamldoc.Value, name string, kid *node) {
	if kid != nil {
		kid.name, kid.pos = name, key.Pos
		n.kids = append(n.kids, kid)
	}
}

func (r *reader) block(n *node, v *yamldoc.Value, depth int) bool {
	wrong := len(r.problems)
	for _, e := range v.Map {
		name, ok := r.key(e.Key)
		if !ok {
			continue
		}
		f := n.field.child(name)
		switch {
		case n.kid(name) != nil:
			r.fail(e.Key.Pos, "%s%s is there already, in line %d", name, in(n.field), n.kid(name).pos.Line)
		case f == nil:
			r.fail(e.Key.Pos, "unknown field %q%s%s", name, in(n.field), late(func() string { return meant(n.field, name) }))
		case f.Refuse:
			r.fail(e.Key.Pos, "%s%s: %s", name, in(n.field), noKey)
		case e.Value.Missing && f.like(n.field).single():
			r.fail(e.Key.Pos, "nothing behind %s: give %s, or ~ for the default", name, f.like(n.field).Kind)
		default:
			n.add(e.Key, name, r.value(f.like(n.field), e.Value, depth+1))
		}
	}
	r.unify(n)
	return len(r.problems) > wrong || r.complete(n)
}

// unify moves what is written in another spelling to where it belongs.
func (r *reader) unify(n *node) {
	for _, k := range n.kids {
		if k.field.Same == "" {
			continue
		}
		*n = *n.without(func(other *node) bool { return other == k })
		to, names := n, strings.Split(k.field.Same, ".")
		for _, name := range names[:len(names)-1] {
			if to.kid(name) == nil {
				to.kids = append(to.kids, &node{field: to.field.child(name), name: name, pos: k.pos, at: k.at})
			}
			to = to.kid(name)
		}
		k.wrote, k.name = k.name, names[len(names)-1]
		k.field = to.field.child(k.name)
		if to.kid(k.name) != nil || to.null {
			r.fail(k.pos, "%s says the same as %s: keep one of them", k.wrote, strings.Join(names, "."))
			continue
		}
		to.kids = append(to.kids, k)
	}
}

// in says where a field was expected.
func in(f *field) string {
	if f.Name == "" {
		return ""
	}
	return " in " + f.Name
}

// complete checks that a block has what it cannot do without.
func (r *reader) complete(n *node) bool {
	for _, f := range n.field.fields {
		if k := n.kid(f.Name); f.Required != "" && (k == nil || k.null) {
			r.fail(n.at, "no %s%s: it is %s", f.Name, in(n.field), f.Required)
			return false
		}
	}
	return true
}

func (r *reader) table(n *node, v *yamldoc.Value, depth int) {
	for _, e := range v.Map {
		name, ok := r.key(e.Key)
		switch {
		case !ok:
		case !n.field.Keys.MatchString(name):
			r.fail(e.Key.Pos, "%q is no name for one of %s: use letters, digits, \".\", \"-\" and \"_\", at most 64",
				name, n.field.Name)
		case n.kid(name) != nil:
			r.fail(e.Key.Pos, "%s of %s is there already, in line %d", name, n.field.Name, n.kid(name).pos.Line)
		default:
			n.add(e.Key, name, r.entry(n.field, name, e, depth))
		}
	}
}

// entry is what stands under a name of a table. A block with nothing in it is
// one that says nothing, such as an agent that inherits everything.
func (r *reader) entry(f *field, name string, e yamldoc.Entry, depth int) *node {
	if e.Value.Missing && f.Elem.Kind == block {
		e.Value = &yamldoc.Value{Kind: yamldoc.Map, Pos: e.Key.Pos}
	}
	n := r.value(f.Elem, e.Value, depth+1)
	if e.Value.Missing || n != nil && n.null {
		r.fail(e.Key.Pos, "nothing behind %s in %s: give %s, or take it out", name, f.Name, f.Elem.Kind)
		return nil
	}
	return n
}

func (r *reader) list(n *node, v *yamldoc.Value, depth int) {
	for _, v := range v.List {
		item := r.value(n.field.Elem, v, depth+1)
		switch {
		case item == nil && v.Kind != yamldoc.Null:
		case item == nil || item.null:
			r.fail(v.Pos, "nothing stands for this item of %s", n.field.Name)
		default:
			item.pos = item.at
			n.kids = append(n.kids, item)
		}
	}
}

// free reads any value.
func (r *reader) free(v *yamldoc.Value, depth int) (any, bool) {
	if depth > yamldoc.MaxDepth {
		r.fail(v.Pos, "nested deeper than %d", yamldoc.MaxDepth)
		return nil, false
	}
	var ok bool
	switch v.Kind {
	case yamldoc.Map:
		out := make(map[string]any, len(v.Map))
		for _, e := range v.Map {
			name, named := r.key(e.Key)
			if _, twice := out[name]; twice {
				r.fail(e.Key.Pos, "%s is there already", name)
				return nil, false
			}
			if !named {
				return nil, false
			}
			if out[name], ok = r.free(e.Value, depth+1); !ok {
				return nil, false
			}
		}
		return out, true
	case yamldoc.List:
		out := make([]any, len(v.List))
		for i, item := range v.List {
			if out[i], ok = r.free(item, depth+1); !ok {
				return nil, false
			}
		}
		return out, true
	case yamldoc.String, yamldoc.Bool, yamldoc.Null, yamldoc.Float:
		return v.Any, true
	}
	if _, ok = v.Any.(int); !ok {
		r.mistyped(&node{field: &field{Kind: free}, at: v.Pos}, v)
	}
	return v.Any, ok
}
