package yamldoc

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v4"
)

// reader turns what the parser made into values.
type reader struct{ keys map[key]Pos } // nil where a key may stand twice

// key is a key of a mapping, by which it is there once.
type key struct {
	of   *yaml.Node
	text string
}

// document reads a document, nil where it holds nothing.
func (r *reader) document(doc *yaml.Node) (*Value, error) {
	if len(doc.Content) != 1 {
		return nil, nil
	}
	v, err := r.value(doc.Content[0])
	if err != nil || v.Missing {
		return nil, err
	}
	return v, nil
}

func (r *reader) value(n *yaml.Node) (v *Value, err error) {
	v = &Value{Pos: Pos{n.Line, n.Column}}
	switch {
	case n.Anchor != "":
		v.Kind = "anchor"
	case n.Style&yaml.TaggedStyle != 0 || n.Tag == "!":
		v.Kind = "tag"
	case n.Kind == yaml.AliasNode:
		v.Kind = "alias"
	case n.Kind == yaml.MappingNode:
		v.Kind = Map
		v.Map, err = r.entries(n)
	case n.Kind == yaml.SequenceNode:
		v.Kind, v.List = List, make([]*Value, len(n.Content))
		for i, item := range n.Content {
			if v.List[i], err = r.value(item); err != nil {
				return nil, err
			}
		}
	default:
		v.single(n)
	}
	return v, err
}

func (r *reader) entries(n *yaml.Node) ([]Entry, error) {
	entries := make([]Entry, len(n.Content)/2)
	for i := range entries {
		e := &entries[i]
		var err error
		if e.Key, err = r.value(n.Content[2*i]); err != nil {
			return nil, err
		}
		if k := (key{n, e.Key.Text}); r.keys != nil && e.Key.isSingle() {
			if first, twice := r.keys[k]; twice {
				return nil, &Error{e.Key.Pos, fmt.Sprintf("%.80q is already defined, in line %d", k.text, first.Line)}
			}
			r.keys[k] = e.Key.Pos
		}
		if e.Value, err = r.value(n.Content[2*i+1]); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// isSingle reports whether the value is a text, a number, a bool or null.
func (v *Value) isSingle() bool {
	switch v.Kind {
	case String, Int, Float, Bool, Null:
		return true
	}
	return false
}

// single reads a value that holds no others.
func (v *Value) single(n *yaml.Node) {
	v.Text = n.Value
	switch n.Tag {
	case "!!null":
		v.Kind, v.Missing = Null, n.Value == ""
	case "!!bool":
		v.Kind, v.Any = Bool, n.Value[0] == 't' || n.Value[0] == 'T'
	case "!!merge":
		v.Kind = Merge
	case "!!int":
		v.Kind = Int
		_ = n.Decode(&v.Any) // it is one
	case "!!float":
		v.Kind = Float
		_ = n.Decode(&v.Any)
		if f, _ := v.Any.(float64); math.IsInf(f, 0) {
			v.Kind = "infinity"
		} else if math.IsNaN(f) {
			v.Kind = "nan"
		}
	default: // a text, or a date, which is one to us
		v.Kind, v.Any = String, n.Value
	}
}
