package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// maxText is how long one text may be, in bytes.
const maxText = 16 << 10

// scalar reads a single value of the kind the field asks for.
func (r *reader) scalar(n *node, v ast.Node) bool {
	f := n.field
	var ok bool
	switch f.kind {
	case boolean:
		var b *ast.BoolNode
		if b, ok = v.(*ast.BoolNode); ok {
			n.value = b.Value
		}
	case integer:
		if n.value, ok = whole(v); ok {
			return r.inRange(n, float64(n.value.(int)))
		}
	case number:
		var x float64
		if x, ok = real(v); ok {
			if !r.inRange(n, x) {
				return false
			}
			if f.percent {
				x /= 100
			}
			n.value = x
		}
	case duration:
		return r.duration(n, v)
	case text:
		var s string
		if s, ok = words(v); ok {
			n.value = s
			return r.text(n, s)
		}
	}
	if !ok {
		r.mistyped(n, v)
	}
	return ok
}

// mistyped is a value of another kind than the field's.
func (r *reader) mistyped(n *node, v ast.Node) {
	switch v.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		r.fail(n.at, "anchors, aliases and tags are not read: write it out; what agents share is inherited")
		return
	}
	is := map[ast.NodeType]string{
		ast.MappingType: "a mapping", ast.MappingValueType: "a mapping", ast.SequenceType: "a list", ast.StringType: "a text", ast.LiteralType: "a text",
		ast.BoolType: "true or false", ast.IntegerType: "a number", ast.FloatType: "a number", ast.InfinityType: "no finite number", ast.NanType: "no number",
	}[v.Type()]
	if is == "" {
		is = "something else"
	}
	hint := ""
	switch {
	case n.field.name == "compactor" && v.Type() == ast.SequenceType:
		hint = ": an agent has at most one compactor, name it; others can be its observers"
	case n.field.kind == duration && is == "a number":
		hint = ": write the unit, such as 90s or 5m"
	case n.field.kind == boolean && v.Type() == ast.StringType:
		hint = ": write true or false"
	}
	r.fail(n.at, "%s is %s, where %s belongs%s", orValue(n.field.name), is, n.field.kind, hint)
}

func whole(v ast.Node) (any, bool) {
	i, ok := v.(*ast.IntegerNode)
	if !ok {
		return nil, false
	}
	x, err := strconv.ParseInt(strings.ReplaceAll(fmt.Sprint(i.Value), "_", ""), 10, 64)
	if err != nil || x != int64(int(x)) {
		return nil, false
	}
	return int(x), true
}

func real(v ast.Node) (float64, bool) {
	switch v := v.(type) {
	case *ast.IntegerNode:
		x, ok := whole(v)
		if !ok {
			return 0, false
		}
		return float64(x.(int)), true
	case *ast.FloatNode:
		return v.Value, !math.IsNaN(v.Value) && !math.IsInf(v.Value, 0)
	}
	return 0, false
}

// words is a text; what only looks like a number or a truth is fine where a
// text belongs, as it was written.
func words(v ast.Node) (string, bool) {
	switch v := v.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return v.GetToken().Value, true
	}
	return "", false
}

// inRange checks bounds, and says so where the other unit was meant.
func (r *reader) inRange(n *node, x float64) bool {
	f := n.field
	if f.within(x) {
		if f.off && x == 0 {
			n.value = -1
		}
		return true
	}
	hint := ""
	switch {
	case f.max == 1 && f.within(x/100):
		hint = fmt.Sprintf("; it is a fraction, write %s for %s percent", decimal(x/100), decimal(x))
	case f.percent && x > 0 && x < f.min:
		hint = fmt.Sprintf("; it is a percentage, write %s for the fraction %s", decimal(x*100), decimal(x))
	}
	r.fail(n.at, "%s is %s: %s%s", orValue(f.name), decimal(x), f.bounds(), hint)
	return false
}

func (f *field) within(x float64) bool {
	most := f.most()
	return x >= f.min && (!f.over || x > f.min) && (most == 0 || x <= most)
}

// most is the upper bound, 0 for none. Whole numbers always have one, so that
// sums of them stay sums.
func (f *field) most() float64 {
	if f.max == 0 && f.kind == integer {
		return math.MaxInt32
	}
	return f.max
}

// bounds says in words what a number has to be.
func (f *field) bounds() string {
	low, most := "at least", f.most()
	if f.over {
		low = "over"
	}
	if most == 0 {
		return "it has to be " + low + " " + decimal(f.min)
	}
	return fmt.Sprintf("it has to be %s %s and at most %s", low, decimal(f.min), decimal(most))
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func (r *reader) duration(n *node, v ast.Node) bool {
	s, ok := v.(*ast.StringNode)
	if !ok {
		r.mistyped(n, v)
		return false
	}
	d, err := time.ParseDuration(s.Value)
	if err != nil {
		r.fail(n.at, "%s is %q: write a duration, such as 90s or 5m", n.field.name, s.Value)
		return false
	}
	n.value = d
	return r.inRange(n, d.Seconds())
}

func (r *reader) text(n *node, s string) bool {
	f := n.field
	switch {
	case len(s) > maxText:
		r.fail(n.at, "%s has %d bytes, %d allowed", orValue(f.name), len(s), maxText)
	case strings.ContainsRune(s, 0):
		r.fail(n.at, "%s holds a NUL", orValue(f.name))
	case len(f.choices) > 0 && !slices.Contains(f.choices, s):
		r.fail(n.at, "%s is %q%s", orValue(f.name), s, suggest(s, f.choices))
	case f.pattern != nil && !f.pattern.MatchString(s):
		r.fail(n.at, "%s: %s", orValue(f.name), f.likeness)
	default:
		return true
	}
	return false
}

// free reads any value as JSON.
func (r *reader) free(v ast.Node, depth int) (json.RawMessage, bool) {
	x, ok := r.any(v, depth)
	if !ok {
		return nil, false
	}
	b, err := json.Marshal(x)
	if err != nil {
		r.fail(start(v), "%v", err)
	}
	return b, err == nil
}

func (r *reader) any(v ast.Node, depth int) (any, bool) {
	n := &node{field: &field{kind: free}, at: start(v)}
	if depth > maxDepth {
		r.fail(n.at, "nested deeper than %d", maxDepth)
		return nil, false
	}
	switch v := v.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		values, _ := r.pairs(n, v)
		out := make(map[string]any, len(values))
		for _, v := range values {
			name, ok := r.key(v)
			if _, twice := out[name]; twice {
				r.fail(start(v.Key), "%s is there already", name)
				return nil, false
			}
			if !ok {
				return nil, false
			}
			if out[name], ok = r.any(v.Value, depth+1); !ok {
				return nil, false
			}
		}
		return out, true
	case *ast.SequenceNode:
		out := make([]any, 0, len(v.Values))
		for _, v := range v.Values {
			x, ok := r.any(v, depth+1)
			if !ok {
				return nil, false
			}
			out = append(out, x)
		}
		return out, true
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.BoolNode:
		return v.Value, true
	case *ast.NullNode:
		return nil, true
	}
	if x, ok := whole(v); ok {
		return x, true
	}
	if x, ok := real(v); ok {
		return x, true
	}
	r.mistyped(n, v)
	return nil, false
}
