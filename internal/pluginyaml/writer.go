package pluginyaml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// writer turns YAML into JSON and remembers where everything stands.
type writer struct {
	json bytes.Buffer
	at   map[string]yamldoc.Pos // by path: "limits.timeout_ms"
}

// maxPath is how long a path may be whose place is remembered. What is deeper, or below
// a longer name, is said to be where that begins.
const maxPath = 256

func fail(v *yamldoc.Value, format string, args ...any) error {
	return &yamldoc.Error{Pos: v.Pos, Message: fmt.Sprintf(format, args...)}
}

// value writes one value. t is the type it is decoded into, where that is
// known.
func (w *writer) value(v *yamldoc.Value, t reflect.Type, path string, depth int) error {
	if depth > strictjson.MaxDepth {
		return fail(v, "nested deeper than %d", strictjson.MaxDepth)
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v.Kind {
	case yamldoc.Map:
		return w.mapping(v, t, path, depth)
	case yamldoc.List:
		return w.list(v, t, path, depth)
	case yamldoc.Int, yamldoc.Float, yamldoc.Bool:
		if t != nil && t.Kind() == reflect.String {
			w.single(v.Text)
			return nil
		}
	case yamldoc.String:
		if what := wanted(t); what != "" {
			return fail(v, "%s: a text, where %s belongs", path, what)
		}
	case yamldoc.Null:
	default:
		return fail(v, "%s: a manifest is plain mappings, lists and values", v.Kind)
	}
	w.single(v.Any)
	return nil
}

// wanted is what belongs where a text does not.
func wanted(t reflect.Type) string {
	if t == nil {
		return ""
	}
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return "true or false"
	case k >= reflect.Int && k <= reflect.Float64:
		return "a number"
	}
	return ""
}

func (w *writer) mapping(v *yamldoc.Value, t reflect.Type, path string, depth int) error {
	fields, elem := shape(t)
	w.json.WriteByte('{')
	for i, e := range v.Map {
		if e.Key.Kind != yamldoc.String {
			return fail(e.Key, "a key has to be a text")
		}
		name, typ := e.Key.Text, elem
		if fields != nil {
			var ok bool
			if typ, ok = fields[name]; !ok && !(path == "" && slices.Contains(wildFields, name)) {
				known := strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
				return fail(e.Key, "unknown field %q: known are %s", name, known)
			}
		}
		w.next(i)
		w.single(name)
		w.json.WriteByte(':')
		sub := path
		if len(path)+len(name) < maxPath {
			sub = strings.TrimPrefix(path+"."+name, ".")
			w.at[sub] = e.Key.Pos
		}
		if err := w.value(e.Value, typ, sub, depth+1); err != nil {
			return err
		}
	}
	w.json.WriteByte('}')
	return nil
}

func (w *writer) list(v *yamldoc.Value, t reflect.Type, path string, depth int) error {
	var elem reflect.Type
	if t != nil && t.Kind() == reflect.Slice {
		elem = t.Elem()
	}
	w.json.WriteByte('[')
	for i, item := range v.List {
		w.next(i)
		if err := w.value(item, elem, path, depth+1); err != nil {
			return err
		}
	}
	w.json.WriteByte(']')
	return nil
}

// next parts an item from the one before.
func (w *writer) next(i int) {
	if i > 0 {
		w.json.WriteByte(',')
	}
}

// single writes a text, a bool, null or a finite number.
func (w *writer) single(says any) {
	b, _ := json.Marshal(says)
	w.json.Write(b)
}

// wildFields are what manifests in the wild say at the top, and the ABI
// translates.
var wildFields = []string{"role", "hook_timeout_sec"}

// shape is what a mapping decoded into t may hold: the fields of a struct, or
// the type of all values of a map.
func shape(t reflect.Type) (fields map[string]reflect.Type, elem reflect.Type) {
	switch {
	case t == nil:
	case t.Kind() == reflect.Map:
		elem = t.Elem()
	case t.Kind() == reflect.Struct:
		fields = make(map[string]reflect.Type)
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields[name] = field.Type
		}
	}
	return fields, elem
}
