package config

import (
	"fmt"
	"strings"
)

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
