package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// kind is what a field holds.
type kind int

const (
	boolean kind = iota
	integer
	number
	text
	duration // written as 90s, 5m
	list     // of elem
	block    // of fields
	table    // of elem, by names the operator chooses
	free     // any value
)

func (k kind) String() string {
	return [...]string{"true or false", "a whole number", "a number", "a text", "a duration", "a list", "a mapping", "a mapping", "a value"}[k]
}

// field is one setting, and all there is to know of it: parsing, inheritance,
// explain, the schema and the sample are made from this.
type field struct {
	name string
	// doc is a sentence or more: what it does, its unit, what it is for.
	doc  string
	kind kind
	// def is the value where nobody says anything, in terms of JSON. nil: doc
	// says what happens.
	def any

	// min and max bound numbers, durations in seconds; over leaves min itself
	// out, and max 0 is no bound.
	min, max float64
	over     bool
	choices  []string
	// pattern of a text, and likeness, which says in words what it asks for.
	pattern  *regexp.Regexp
	likeness string

	elem   *field
	fields []*field
	// keys is the pattern of a table's names.
	keys *regexp.Regexp
	// required fields have to be there; need says in words what they are.
	required bool
	need     string
	// own fields are not inherited.
	own bool
	// off lets "off" stand in the field's place: a block with {off: true}, a
	// number that is then -1, as 0 is; a list that is then set off.
	off bool

	// same makes this another spelling of a field beside it, named by its path;
	// percent divides by 100 on the way.
	same    string
	percent bool
	// refuse says why this is no setting, though it looks like one.
	refuse string

	// check says what else is wrong with a value.
	check func(*node) string
	// set puts the value where it belongs. A block without it hands the target
	// on to its fields.
	set func(target any, n *node)
	// example is what the sample shows in place of the default, as YAML.
	example string
}

// child finds a field of a block by its name.
func (f *field) child(name string) *field {
	i := slices.IndexFunc(f.fields, func(c *field) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return f.fields[i]
}

// at finds a field by its path.
func (f *field) at(path string) *field {
	for name := range strings.SplitSeq(path, ".") {
		if f = f.child(name); f == nil {
			return nil
		}
	}
	return f
}

// single reports whether a value of the field is a single one.
func (f *field) single() bool {
	return f.kind != block && f.kind != table && f.kind != list
}

// settable are the fields of a block that are no other spelling of another.
func (f *field) settable() []*field {
	return slices.DeleteFunc(slices.Clone(f.fields), func(c *field) bool { return c.same != "" || c.refuse != "" })
}

// to is a setter for what at points to: a bool, a number, a text, a duration
// (as time.Duration, or an integer of milliseconds), a pointer to one of those,
// or a list or map of texts.
func to[T, V any](at func(*T) *V) func(any, *node) {
	return func(target any, n *node) {
		assign(reflect.ValueOf(at(target.(*T))).Elem(), n)
	}
}

func assign(dst reflect.Value, n *node) {
	switch dst.Kind() {
	case reflect.Pointer:
		dst.Set(reflect.New(dst.Type().Elem()))
		assign(dst.Elem(), n)
	case reflect.Slice:
		dst.Set(reflect.MakeSlice(dst.Type(), len(n.items), len(n.items)))
		for i, item := range n.items {
			assign(dst.Index(i), item)
		}
	case reflect.Map:
		dst.Set(reflect.MakeMap(dst.Type()))
		for _, kid := range n.kids {
			v := reflect.New(dst.Type().Elem()).Elem()
			assign(v, kid)
			dst.SetMapIndex(reflect.ValueOf(kid.name).Convert(dst.Type().Key()), v)
		}
	default:
		assignScalar(dst, n.value)
	}
}

func assignScalar(dst reflect.Value, value any) {
	if d, ok := value.(time.Duration); ok && dst.Type() != reflect.TypeFor[time.Duration]() {
		value = int(d.Milliseconds())
	}
	dst.Set(reflect.ValueOf(value).Convert(dst.Type()))
}
