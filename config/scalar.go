package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// A text may have at most this many bytes.
const maxText = 16 << 10

// label is what a value is called in a message; in a list it has no name.
func (f *field) label() string { return cmp.Or(f.Name, "it") }

// kindNames are what values are called; any other is "something else".
var kindNames = map[yamldoc.Kind]string{
	yamldoc.Map: "a mapping", yamldoc.List: "a list", yamldoc.String: "a text", yamldoc.Bool: "true or false",
	yamldoc.Int: "a number", yamldoc.Float: "a number", "infinity": "no finite number", "nan": "no number",
}

// mistyped is a value of another kind than the field's.
func (r *reader) mistyped(n *node, v *yamldoc.Value) {
	is, hint := cmp.Or(kindNames[v.Kind], "something else"), ""
	switch {
	case v.Kind == "anchor" || v.Kind == "alias" || v.Kind == "tag":
		r.fail(n.at, "anchors, aliases and tags are not read: write it out; what agents share is inherited")
		return
	case n.field.Name == "compactor" && v.Kind == yamldoc.List:
		hint = ": an agent has at most one compactor, name it; others can be its observers"
	case n.field.Kind == duration && is == "a number":
		hint = ": write the unit, such as 90s or 5m"
	case n.field.Kind == boolean && v.Kind == yamldoc.String:
		hint = ": write true or false"
	}
	r.fail(n.at, "%s is %s, where %s belongs%s", n.field.label(), is, n.field.Kind, hint)
}

// number reads an integer or a number.
func (r *reader) number(n *node, v *yamldoc.Value) bool {
	x, ok := v.Any.(float64)
	if i, whole := v.Any.(int); whole {
		x, ok = float64(i), true
	}
	if !ok {
		r.mistyped(n, v) // beyond any number
		return false
	}
	n.value = v.Any
	if n.field.Kind == number {
		n.value = x
	}
	if n.field.Percent {
		n.value = x / 100
	}
	return r.inRange(n, x)
}

// inRange checks bounds, and says so where the other unit was meant.
func (r *reader) inRange(n *node, x float64) bool {
	f := n.field
	if f.within(x) {
		if f.Off && x == 0 {
			n.value = -1
		}
		return true
	}
	hint := ""
	switch {
	case f.Max == 1 && f.within(x/100):
		hint = fmt.Sprintf("; it is a fraction, write %s for %s percent", decimal(x/100), decimal(x))
	case f.Percent && x > 0 && x < f.Min:
		hint = fmt.Sprintf("; it is a percentage, write %s for the fraction %s", decimal(x*100), decimal(x))
	}
	r.fail(n.at, "%s is %s: %s%s", f.label(), decimal(x), f.bounds(), hint)
	return false
}

func (f *field) within(x float64) bool {
	most := f.most()
	return x >= f.Min && (!f.Over || x > f.Min) && (most == 0 || x <= most)
}

// most is the upper bound, 0 for none. Whole numbers always have one, so that
// sums of them stay sums.
func (f *field) most() float64 {
	if f.Max == 0 && f.Kind == integer {
		return math.MaxInt32
	}
	return f.Max
}

// bounds says in words what a number has to be.
func (f *field) bounds() string {
	says := "it has to be at least " + decimal(f.Min)
	if f.Over {
		says = "it has to be over " + decimal(f.Min)
	}
	if most := f.most(); most != 0 {
		says += " and at most " + decimal(most)
	}
	return says
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func (r *reader) duration(n *node, v *yamldoc.Value) bool {
	d, err := time.ParseDuration(v.Text)
	if err != nil {
		r.fail(n.at, "%s is %q: write a duration, such as 90s or 5m", n.field.Name, v.Text)
		return false
	}
	n.value = d
	return r.inRange(n, d.Seconds())
}

func (r *reader) text(n *node, v *yamldoc.Value) bool {
	f, s := n.field, v.Text
	n.value = s
	switch {
	case len(s) > maxText:
		r.fail(n.at, "%s has %d bytes, %d allowed", f.label(), len(s), maxText)
	case strings.ContainsRune(s, 0):
		r.fail(n.at, "%s holds a NUL", f.label())
	case len(f.Choices) > 0 && !slices.Contains(f.Choices, s):
		r.fail(n.at, "%s is %q%s", f.label(), s, late(func() string { return suggest(s, f.Choices) }))
	case f.Pattern != nil && !f.Pattern.MatchString(s):
		r.fail(n.at, "%s: %s", f.label(), f.Likeness)
	default:
		return true
	}
	return false
}
