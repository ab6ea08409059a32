package config

import "encoding/json"

const schemaID = "https://kagewasm.dev/schema/config/1.json"

// Schema returns the JSON Schema (draft 2020-12) of a configuration, for editors. It says what one
// value can be. [Load] checks that names exist and that thresholds fit each other.
func Schema() []byte {
	// Blocks that are met again and again are definitions.
	s := schemer{"agent": nil, "compaction": nil}
	root := s.block(file())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = schemaID
	root["title"] = FileName
	root["$defs"] = s
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("config: schema: " + err.Error()) // it holds texts and numbers alone
	}
	return append(b, '\n')
}

type object map[string]any

// schemer holds the definitions, by the name of the block; nil is one that is not
// made yet.
type schemer map[string]object

// value is the schema of what may stand for a field; null is the default.
func (s schemer) value(f *field) object {
	o := s.bare(f)
	if f.Off {
		// Editors that read old YAML take off for false.
		words := []any{"off", false}
		if f.Kind == block {
			words = []any{"off", "on", true, false}
		}
		o = object{"anyOf": []object{o, {"enum": words}}}
	}
	if f.Doc != "" {
		o["description"] = f.Doc
	}
	if f.Default != nil {
		o["default"] = f.Default
	}
	return o
}

func (s schemer) bare(f *field) object {
	if f.Kind == block {
		return s.shared(f)
	}
	o := object{}
	if name := schemaTypes[f.Kind]; name != "" {
		o["type"] = []string{name, "null"}
	}
	switch f.Kind {
	case integer, number:
		low := "minimum"
		if f.Over {
			low = "exclusiveMinimum"
		}
		o[low] = f.Min
		if most := f.most(); most > 0 {
			o["maximum"] = most
		}
	case duration:
		o["pattern"] = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	case text:
		if f.Pattern != nil {
			o["pattern"] = f.Pattern.String()
		}
		if len(f.Choices) > 0 {
			all := []any{nil}
			for _, c := range f.Choices {
				all = append(all, c)
			}
			o["enum"] = all
		}
	case list:
		o["items"] = s.value(f.Elem)
	case table:
		o["propertyNames"] = object{"pattern": f.Keys.String()}
		o["additionalProperties"] = s.value(f.Elem)
	}
	return o
}

var schemaTypes = map[kind]string{
	boolean: "boolean", integer: "integer", number: "number", duration: "string", text: "string",
	list: "array", table: "object", block: "object",
}

func (s schemer) shared(f *field) object {
	def, shared := s[f.Of]
	if !shared {
		return s.block(f)
	}
	if def == nil {
		s[f.Of] = object{} // before its fields, among which it may be again
		s[f.Of] = s.block(f)
	}
	return object{"$ref": "#/$defs/" + f.Of}
}

func (s schemer) block(f *field) object {
	properties := make(object)
	var required []string
	for _, c := range f.fields {
		if c.Refuse {
			continue
		}
		properties[c.Name] = s.value(c.like(f))
		if c.Required != "" {
			required = append(required, c.Name)
		}
	}
	o := object{"type": []string{schemaTypes[block], "null"}, "properties": properties, "additionalProperties": false}
	if required != nil {
		o["required"] = required
	}
	return o
}
