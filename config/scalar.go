package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// maxText is how long one text may be, in bytes.
const maxText = 16 << 10

// scalar reads a single value of the kind the field asks for.
func (r *reader) scalar(n *node, v *yamldoc.Value) bool {
	f := n.field
	var ok bool
	switch f.kind {
	case boolean:
		n.value, ok = v.Any.(bool)
	case integer:
		var x int
		if x, ok = v.Any.(int); ok {
			n.value = x
			return r.inRange(n, float64(x))
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
		// What only looks like a number or a truth is fine where a text belongs.
		switch v.Kind {
		case yamldoc.String, yamldoc.Int, yamldoc.Float, yamldoc.Bool:
			n.value = v.Text
			return r.text(n, v.Text)
		}
	}
	if !ok {
		r.mistyped(n, v)
	}
	return ok
}

// mistyped is a value of another kind than the field's.
func (r *reader) mistyped(n *node, v *yamldoc.Value) {
	is, hint := "something else", ""
	switch v.Kind {
	case "anchor", "alias", "tag":
		r.fail(n.at, "anchors, aliases and tags are not read: write it out; what agents share is inherited")
		return
	case yamldoc.Map:
		is = "a mapping"
	case yamldoc.List:
		is = "a list"
		if n.field.name == "compactor" {
			hint = ": an agent has at most one compactor, name it; others can be its observers"
		}
	case yamldoc.String:
		is = "a text"
		if n.field.kind == boolean {
			hint = ": write true or false"
		}
	case yamldoc.Bool:
		is = "true or false"
	case yamldoc.Int, yamldoc.Float:
		is = "a number"
		if n.field.kind == duration {
			hint = ": write the unit, such as 90s or 5m"
		}
	case "infinity":
		is = "no finite number"
	case "nan":
		is = "no number"
	}
	r.fail(n.at, "%s is %s, where %s belongs%s", orValue(n.field.name), is, n.field.kind, hint)
}

func real(v *yamldoc.Value) (float64, bool) {
	switch x := v.Any.(type) {
	case int:
		return float64(x), true
	case float64:
		return x, v.Kind == yamldoc.Float
	}
	return 0, false
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

func (r *reader) duration(n *node, v *yamldoc.Value) bool {
	if v.Kind != yamldoc.String {
		r.mistyped(n, v)
		return false
	}
	d, err := time.ParseDuration(v.Text)
	if err != nil {
		r.fail(n.at, "%s is %q: write a duration, such as 90s or 5m", n.field.name, v.Text)
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
func (r *reader) free(v *yamldoc.Value, depth int) (json.RawMessage, bool) {
	x, ok := r.any(v, depth)
	if !ok {
		return nil, false
	}
	b, err := json.Marshal(x)
	if err != nil {
		r.fail(v.Pos, "%v", err)
	}
	return b, err == nil
}

func (r *reader) any(v *yamldoc.Value, depth int) (any, bool) {
	if depth > yamldoc.MaxDepth {
		r.fail(v.Pos, "nested deeper than %d", yamldoc.MaxDepth)
		return nil, false
	}
	switch v.Kind {
	case yamldoc.Map:
		out := make(map[string]any, len(v.Map))
		for _, e := range v.Map {
			name, ok := r.key(e.Key)
			if _, twice := out[name]; twice {
				r.fail(e.Key.Pos, "%s is there already", name)
				return nil, false
			}
			if !ok {
				return nil, false
			}
			if out[name], ok = r.any(e.Value, depth+1); !ok {
				return nil, false
			}
		}
		return out, true
	case yamldoc.List:
		out := make([]any, len(v.List))
		for i, item := range v.List {
			var ok bool
			if out[i], ok = r.any(item, depth+1); !ok {
				return nil, false
			}
		}
		return out, true
	case yamldoc.String, yamldoc.Bool, yamldoc.Null:
		return v.Any, true
	}
	if _, ok := real(v); ok {
		return v.Any, true
	}
	r.mistyped(&node{field: &field{kind: free}, at: v.Pos}, v)
	return nil, false
}
