package config

import (
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

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

func orValue(name string) string {
	if name == "" {
		return "it"
	}
	return name
}

// off reads "off" and "on" where they can stand for something longer.
func (n *node) off(v *yamldoc.Value) bool {
	if !n.field.off {
		return false
	}
	off := v.Any == "off" || v.Any == false
	if !off && v.Any != "on" && v.Any != true {
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

func (r *reader) block(n *node, v *yamldoc.Value, depth int) bool {
	if v.Kind != yamldoc.Map {
		r.mistyped(n, v)
		return false
	}
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
			r.fail(e.Key.Pos, "unknown field %q%s%s", name, in(n.field), meant(n.field, name))
		case f.refuse != "":
			r.fail(e.Key.Pos, "%s%s: %s", name, in(n.field), f.refuse)
		case e.Value.Missing && f.like(n.field).single():
			r.fail(e.Key.Pos, "nothing behind %s: give %s, or ~ for the default", name, f.like(n.field).kind)
		default:
			if kid := r.value(f.like(n.field), e.Value, depth+1); kid != nil {
				kid.name, kid.pos = name, e.Key.Pos
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

func (r *reader) table(n *node, v *yamldoc.Value, depth int) bool {
	if v.Kind != yamldoc.Map {
		r.mistyped(n, v)
		return false
	}
	for _, e := range v.Map {
		name, ok := r.key(e.Key)
		if !ok {
			continue
		}
		at := e.Key.Pos
		switch {
		case !n.field.keys.MatchString(name):
			r.fail(at, "%q is no name for one of %s: use letters, digits, \".\", \"-\" and \"_\", at most 64", name, n.field.name)
		case n.kid(name) != nil:
			r.fail(at, "%s of %s is there already, in line %d", name, n.field.name, n.kid(name).pos.Line)
		default:
			if kid := r.entry(n.field, name, e, depth); kid != nil {
				kid.name, kid.pos = name, at
				n.kids = append(n.kids, kid)
			}
		}
	}
	return true
}

// entry is what stands under a name of a table. A block with nothing in it is
// one that says nothing, such as an agent that inherits everything.
func (r *reader) entry(f *field, name string, e yamldoc.Entry, depth int) *node {
	if e.Value.Missing && !f.elem.single() {
		n := &node{field: f.elem, at: e.Key.Pos}
		if !r.complete(n) {
			return nil
		}
		return n
	}
	n := r.value(f.elem, e.Value, depth+1)
	if e.Value.Missing || n != nil && n.null {
		r.fail(e.Key.Pos, "nothing behind %s in %s: give %s, or take it out", name, f.name, f.elem.kind)
		return nil
	}
	return n
}

func (r *reader) list(n *node, v *yamldoc.Value, depth int) bool {
	if v.Kind != yamldoc.List {
		r.mistyped(n, v)
		return false
	}
	for _, v := range v.List {
		item := r.value(n.field.elem, v, depth+1)
		switch {
		case item == nil && v.Kind != yamldoc.Null:
		case item == nil || item.null:
			r.fail(v.Pos, "nothing stands for this item of %s", n.field.name)
		default:
			item.pos = item.at
			n.items = append(n.items, item)
		}
	}
	return true
}
