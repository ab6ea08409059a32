// Package pluginyaml reads the manifest of a plugin from its plugin.yaml, or from
// the sidecar beside a module: [Read] from a file, [Parse] from bytes. Plugins' own
// tests get it through abitest.Manifest.
package pluginyaml

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// MaxBytes bounds the length of a manifest, as YAML or as JSON.
const MaxBytes = yamldoc.MaxBytes

// Read reads the manifest of a plugin that is being written. Errors are as in
// [Parse], of code bad_input for a manifest without a version or with a limit that no host
// keeps to, and of code usage where the file cannot be read.
//
// Hosts, which use Parse, do without a version. An operator needs one to tell two
// builds apart, and only the author can give it. They leave their own limits where a
// manifest has higher ones.
func Read(path string) (*abi.Manifest, error) {
	data, err := os.ReadFile(path)
	if err == nil {
		m, err := Parse(path, data)
		if err == nil && m.Version == "" {
			return nil, &abi.Error{Code: abi.CodeBadInput, Op: "manifest", Plugin: m.Name, Phase: abi.PhaseLoad,
				Message: path + ": version is missing: write version: 0.1.0"}
		}
		if err == nil {
			err = checkLimits(path, m)
		}
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	e := &abi.Error{Code: abi.CodeUsage, Op: "manifest", Phase: abi.PhaseLoad, Message: err.Error(), Err: err}
	if errors.Is(err, os.ErrNotExist) {
		e.Message = path + ": not found"
		e.Hint = "a plugin has a plugin.yaml, which says at least name, version, abi: 1 and hooks: [pre_compact]"
	}
	return nil, e
}

// Parse reads a plugin.yaml or a sidecar. name is the file's, for errors, which
// are of code bad_input and say "name:line:column: what". Unknown fields,
// duplicate keys, anchors, aliases and tags are errors; numbers and booleans
// are fine where a text belongs (version: 1.0).
func Parse(name string, data []byte) (*abi.Manifest, error) {
	m, err := parse(data)
	if err == nil {
		return m, nil
	}
	out := &abi.Error{Code: abi.CodeBadInput, Op: "manifest", Phase: abi.PhaseLoad, Message: name + ": " + err.Error()}
	if m != nil {
		out.Plugin = m.Name
	}
	if at, ok := errors.AsType[*yamldoc.Error](err); ok && at.Line > 0 {
		out.Message = fmt.Sprintf("%s:%d:%d: %s", name, at.Line, at.Column, at.Message)
	}
	return nil, out
}

// HookPlace is where the manifest at path names a hook, "LINE:COLUMN". It is empty where
// it does not.
func HookPlace(path string, hook abi.Hook) string {
	if hooks := field(path, "hooks"); hooks != nil {
		for _, item := range hooks.List {
			if item.Text == string(hook) {
				return fmt.Sprintf("%d:%d", item.Line, item.Column)
			}
		}
	}
	return ""
}

// FieldPlace is where the value of a field stands in the manifest at path, "LINE:COLUMN". It
// is empty where there is none. The names are those of the fields around it, and its own.
func FieldPlace(path string, names ...string) string {
	if v := field(path, names...); v != nil {
		return fmt.Sprintf("%d:%d", v.Line, v.Column)
	}
	return ""
}

// field is the value of a field in the manifest at path, nil where there is none.
func field(path string, names ...string) *yamldoc.Value {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	docs, err := yamldoc.Parse(data)
	if err != nil || len(docs) != 1 {
		return nil
	}
	v := docs[0]
	for _, name := range names {
		if v == nil {
			return nil
		}
		i := slices.IndexFunc(v.Map, func(f yamldoc.Entry) bool { return f.Key.Text == name })
		if i < 0 {
			return nil
		}
		v = v.Map[i].Value
	}
	return v
}

// parse returns errors without the name of the file: a [*yamldoc.Error] where the
// place is known. With an error of the manifest's own check there is a manifest.
func parse(data []byte) (*abi.Manifest, error) {
	docs, err := yamldoc.Parse(data)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 || docs[0] == nil {
		return nil, errors.New("it has to hold one document, the manifest")
	}
	w := writer{at: make(map[string]yamldoc.Pos)}
	if err := w.value(docs[0], reflect.TypeFor[abi.Manifest](), "", 0); err != nil {
		return nil, err
	}
	m := new(abi.Manifest)
	err = strictjson.Decode(w.json.Bytes(), m)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil, w.mistyped(wrong)
	}
	if err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return m, w.place(abi.AsError(err).Message)
	}
	return m, w.zero(m)
}

// zero refuses a zero that is written where it says nothing: it would read as a bound, and is none.
func (w *writer) zero(m *abi.Manifest) error {
	for _, name := range slices.Sorted(maps.Keys(m.Knobs)) {
		k := m.Knobs[name]
		for _, field := range []string{"max_length", "step"} {
			pos, written := w.at["knobs."+name+"."+field]
			if written && (field == "step" && k.Step == 0 || field == "max_length" && k.MaxLength == 0) {
				return &yamldoc.Error{Pos: pos, Message: fmt.Sprintf("knob %s: %s 0 is none: give more, or leave it out", name,
					field)}
			}
		}
	}
	return nil
}

// mistyped says where a value of a wrong type stands.
func (w *writer) mistyped(wrong *json.UnmarshalTypeError) error {
	field := strings.TrimPrefix(wrong.Field, "plain.")
	what := field
	what = cmp.Or(what, "the manifest")
	message := fmt.Sprintf("%s: a %s, where a %s belongs", what, wrong.Value, wrong.Type.Kind())
	return &yamldoc.Error{Pos: w.nearest(field), Message: message}
}

// place adds to an error of the manifest's own check where the field stands that
// it begins with.
func (w *writer) place(message string) error {
	path, rest, _ := strings.Cut(message, " ")
	name, _, _ := strings.Cut(rest, " ")
	name = strings.Trim(strings.TrimRight(name, ":"), `"`)
	switch path {
	case "knob":
		path = "knobs." + name
	case "capability":
		path = "capabilities." + name
	case "limits:":
		path = "limits." + name
	case "hook":
		path = "hooks"
	case "role":
		if path = "roles"; w.at[path] == (yamldoc.Pos{}) {
			path = "role"
		}
	}
	return &yamldoc.Error{Pos: w.nearest(path), Message: message}
}

// nearest is the place of a path, or of what it stands in.
func (w *writer) nearest(path string) yamldoc.Pos {
	for path != "" {
		if pos, ok := w.at[path]; ok {
			return pos
		}
		path = path[:max(strings.LastIndexByte(path, '.'), 0)]
	}
	return yamldoc.Pos{}
}
