package config

import (
	"encoding/json"
)

// schemaID identifies the schema.
const schemaID = "https://kagewasm.dev/schema/config/1.json"

// Schema is the JSON Schema (draft 2020-12) of a configuration, for editors. It
// says what one value can be; that names exist and thresholds fit each other is
// for [Load].
func Schema() []byte {
	s := schemer{defs: map[*field]string{agentBlock: "agent", agentBlock.child("compaction"): "compaction"}, done: make(object)}
	root := s.block(file)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = schemaID
	root["title"] = FileName
	root["type"] = []string{"object", "null"}
	root["$defs"] = s.done
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("config: schema: " + err.Error()) // it holds texts and numbers alone
	}
	return append(b, '\n')
}

type object map[string]any

// schemer writes schemas of fields; blocks that are met again and again become
// definitions.
type schemer struct {
	defs map[*field]string
	done object
}

// value is the schema of what may stand for a field; null is the default.
func (s schemer) value(f *field) object {
	o := s.bare(f)
	if f.off {
		o = object{"anyOf": []object{o, {"enum": offWords(f)}}}
	}
	if f.doc != "" {
		o["description"] = f.doc
	}
	if f.def != nil {
		o["default"] = f.def
	}
	return o
}

// offWords are what may stand in the place of something longer; editors that
// read old YAML take off for false.
func offWords(f *field) []any {
	if f.kind == block {
		return []any{"off", "on", true, false}
	}
	return []any{"off", false}
}

func (s schemer) bare(f *field) object {
	switch f.kind {
	case boolean:
		return typed("boolean")
	case integer:
		return f.bounded(typed("integer"))
	case number:
		return f.bounded(typed("number"))
	case duration:
		o := typed("string")
		o["pattern"] = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
		return o
	case text:
		return f.worded(typed("string"))
	case list:
		o := typed("array")
		o["items"] = s.value(f.elem)
		return o
	case table:
		o := typed("object")
		o["propertyNames"] = object{"pattern": f.keys.String()}
		o["additionalProperties"] = s.value(f.elem)
		return o
	case block:
		return s.shared(f)
	}
	return object{}
}

func typed(name string) object { return object{"type": []string{name, "null"}} }

func (f *field) bounded(o object) object {
	low := "minimum"
	if f.over {
		low = "exclusiveMinimum"
	}
	o[low] = f.min
	if most := f.most(); most > 0 {
		o["maximum"] = most
	}
	return o
}

func (f *field) worded(o object) object {
	if f.pattern != nil {
		o["pattern"] = f.pattern.String()
	}
	if len(f.choices) > 0 {
		all := []any{nil}
		for _, c := range f.choices {
			all = append(all, c)
		}
		o["enum"] = all
	}
	return o
}

func (s schemer) shared(f *field) object {
	name, ok := s.defs[f]
	if !ok {
		return s.block(f)
	}
	if _, ok := s.done[name]; !ok {
		s.done[name] = nil // before its fields, among which it may be again
		s.done[name] = s.block(f)
	}
	return object{"$ref": "#/$defs/" + name}
}

func (s schemer) block(f *field) object {
	properties := make(object)
	var required []string
	for _, c := range f.fields {
		if c.refuse != "" {
			continue
		}
		properties[c.name] = s.value(c.like(f))
		if c.required {
			required = append(required, c.name)
		}
	}
	o := typed("object")
	o["properties"], o["additionalProperties"] = properties, false
	if required != nil {
		o["required"] = required
	}
	return o
}
