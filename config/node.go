package config

import (
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// node is a value that somebody gave a field.
type node struct {
	field *field
	name  string      // the key it stands under; empty in lists
	pos   yamldoc.Pos // of the key, or of the value in a list
	at    yamldoc.Pos // of the value
	agent string      // path of the agent that says so
	flag  string      // the flag that says so, where it was not the file
	// wrote is the name it was written under, where that is another spelling.
	wrote string

	null  bool    // asks for the default, whatever would be inherited
	short bool    // a block written as off or on
	value any     // bool, int, float64, string, time.Duration, json.RawMessage
	items []*node // of a list
	kids  []*node // of a block or table, in the order of the file
}

// kid finds what is said of a field of a block, or under a name of a table.
func (n *node) kid(name string) *node {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(n.kids, func(k *node) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return n.kids[i]
}

// place is where a value stands; nothing stands nowhere.
func (n *node) place() yamldoc.Pos {
	if n == nil {
		return yamldoc.Pos{}
	}
	return n.pos
}

// find goes down a path of names.
func (n *node) find(path ...string) *node {
	for _, name := range path {
		n = n.kid(name)
	}
	return n
}

// without is a copy that does not say anything of some names.
func (n *node) without(names ...string) *node {
	out := *n
	out.kids = slices.DeleteFunc(slices.Clone(n.kids), func(k *node) bool { return slices.Contains(names, k.name) })
	return &out
}

// merge is what holds where over is said below under: blocks are merged field
// by field, anything else is replaced. A block that is written out takes back
// an "off" that stood in its place.
func merge(over, under *node) *node {
	switch {
	case over == nil:
		return under
	case under == nil, over.null, under.null, over.field.kind != block:
		return over
	}
	out := *over
	out.kids = slices.Clone(over.kids)
	for _, k := range under.kids {
		if k.name == "off" && under.short && !over.short {
			continue
		}
		if i := slices.IndexFunc(out.kids, func(o *node) bool { return o.name == k.name }); i >= 0 {
			out.kids[i] = merge(out.kids[i], k)
		} else {
			out.kids = append(out.kids, k)
		}
	}
	out.short = over.short
	return &out
}

// inheritable is what those below an agent take over from it.
func (n *node) inheritable() *node {
	var own []string
	for _, k := range n.kids {
		if k.field.own {
			own = append(own, k.name)
		}
	}
	return n.without(own...)
}

// bind puts everything that is said where it belongs.
func bind(target any, n *node) {
	switch {
	case n == nil || n.null:
	case n.field.set != nil:
		n.field.set(target, n)
	default:
		for _, k := range n.kids {
			bind(target, k)
		}
	}
}

// mark says who said all this.
func (n *node) mark(agent string) {
	n.agent = agent
	for _, k := range n.kids {
		if !k.field.own {
			k.mark(agent)
		}
	}
}

// plain is the value as JSON would have it, for explain.
func (n *node) plain() any {
	switch {
	case n.null:
		return nil
	case n.field.kind == list && n.value != nil:
		return n.value
	case n.field.kind == list:
		out := make([]any, 0, len(n.items))
		for _, item := range n.items {
			out = append(out, item.plain())
		}
		return out
	case n.field.kind == block, n.field.kind == table:
		out := make(map[string]any, len(n.kids))
		for _, k := range n.kids {
			out[k.name] = k.plain()
		}
		return out
	case n.field.kind == duration:
		return fmt.Sprint(n.value)
	case n.field.off && n.value == -1:
		return "off"
	}
	return n.value
}
