package config

import (
	"fmt"
	"slices"
	"strings"

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
	kids  []*node // of a block, table or list, in the order of the file
	// bound is what bind made of a list: all agents that inherit it share it.
	bound any
}

// kid finds what is said of a field of a block, or under a name of a table.
func (n *node) kid(name string) *node {
	for _, k := range n.all() {
		if k.name == name {
			return k
		}
	}
	return nil
}

// all is what stands in a block, table or list; in nothing stands nothing.
func (n *node) all() []*node {
	if n == nil {
		return nil
	}
	return n.kids
}

// find goes down a path of settings.
func (n *node) find(path string) *node {
	for name := range strings.SplitSeq(path, ".") {
		n = n.kid(name)
	}
	return n
}

// without is a copy that does not say anything of some fields.
func (n *node) without(of func(*node) bool) *node {
	out := *n
	out.kids = slices.DeleteFunc(slices.Clone(n.kids), of)
	return &out
}

// inherit is what holds for an agent, by what is said of it and what holds for the
// one above. A window is one of a model's: who names a model of its own does not
// take over the window of another.
func inherit(said, under *node) *node {
	if under != nil && said.kid("model") != nil {
		under = under.without(func(k *node) bool { return k.name == "context" })
	}
	return merge(said.without(func(k *node) bool { return k.field.Own }), under)
}

// merge is what holds where over is said below under: blocks are merged field
// by field, anything else is replaced. A block that is written out takes back
// an "off" that stood in its place.
func merge(over, under *node) *node {
	switch {
	case over == nil:
		return under
	case under == nil, over.null, under.null, over.field.Kind != block:
		return over
	}
	out := *over
	out.kids = slices.Clone(over.kids)
	for _, k := range under.kids {
		i := slices.IndexFunc(out.kids, func(o *node) bool { return o.name == k.name })
		switch {
		case k.name == "off" && under.short && !over.short:
		case i >= 0:
			out.kids[i] = merge(out.kids[i], k)
		default:
			out.kids = append(out.kids, k)
		}
	}
	return &out
}

// mark says who said all this: an agent in the file, or a flag, which stands
// nowhere. Items of lists are their list's.
func (n *node) mark(agent, flag string) {
	if n.agent, n.flag = agent, flag; flag != "" {
		n.pos, n.at = yamldoc.Pos{}, yamldoc.Pos{}
	}
	if n.field.Kind == list {
		agent = ""
	}
	for _, k := range n.kids {
		if !k.field.Own {
			k.mark(agent, flag)
		}
	}
}

// plain is the value as JSON would have it, for explain.
func (n *node) plain() any {
	switch {
	case n.null:
		return nil
	case n.field.Kind == block, n.field.Kind == table:
		out := make(map[string]any, len(n.kids))
		for _, k := range n.kids {
			out[k.name] = k.plain()
		}
		return out
	case n.field.Kind == list && n.value == nil:
		out := make([]any, len(n.kids))
		for i, k := range n.kids {
			out[i] = k.plain()
		}
		return out
	case n.field.Kind == duration:
		return fmt.Sprint(n.value)
	case n.field.Off && n.value == -1:
		return "off"
	}
	return n.value
}
