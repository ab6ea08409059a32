package content

import (
	"bytes"
	"regexp"

	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Tool is one tool definition. The providers write it in four forms. A tool that
// a provider runs itself has no name here, only its own JSON.
type Tool struct {
	Name string
	// Own is the definition as it was read, in the form of the format Form. Form
	// is empty for a form that no format has.
	Own  []byte
	Form string

	description string
	schema      []byte // JSON Schema, nil for one without parameters
}

// WriteTools writes tool definitions in a form. Tools that only another provider
// has are left out.
func WriteTools(tools []Tool, form string, write func(t Tool) []byte) (out [][]byte) {
	for _, t := range tools {
		switch {
		case t.Form == form:
			out = append(out, t.Own)
		case t.Name != "":
			out = append(out, write(t))
		}
	}
	return out
}

// Fields returns what all forms say of a tool, for [jsondoc.Obj]. schema is the
// key of its parameters' schema.
func (t Tool) Fields(schema string) []any {
	parameters := []byte(`{"type":"object","properties":{}}`)
	if len(t.schema) > 0 {
		parameters = jsondoc.Compact(t.schema)
	}
	return []any{"name", t.Name, "description", jsondoc.Maybe(t.description), schema, parameters}
}

// ToolsOf reads tool definitions of any form. What is no list has none.
func ToolsOf(raw []byte) (list []Tool) {
	src := jsondoc.New("", raw)
	whole := src.Whole()
	if src.Check(whole) == nil && src.Kind(whole) == '[' {
		for _, at := range src.Elements(whole) {
			list = append(list, toolsIn(src.Probe(at, "a tool"))...)
		}
	}
	return list
}

// toolsIn reads an element of a list of tools.
func toolsIn(o *jsondoc.Object) (list []Tool) {
	typ := o.Str("type")
	t := Tool{Name: o.Str("name"), description: o.Str("description"), Own: jsondoc.Compact(o.Bytes(o.At))}
	declared := append(o.List("functionDeclarations"), o.List("function_declarations")...)
	if o.Err() != nil {
		return nil
	}
	value := func(keys ...string) []byte {
		for _, key := range keys {
			if at := o.Value(key); at.OK() {
				return o.Bytes(at)
			}
		}
		return nil
	}
	switch {
	case len(declared) > 0:
		for _, at := range declared {
			for _, t := range toolsIn(o.Probe(at, "a function")) {
				t.Form = "gemini"
				list = append(list, t)
			}
		}
		return list
	case o.Value("function").OK():
		list = toolsIn(o.Probe(o.Value("function"), "a function"))
		if len(list) > 1 {
			list = list[:1]
		}
		for i := range list {
			list[i].Own, list[i].Form = t.Own, "openai"
		}
		return list
	case o.Value("input_schema").OK():
		t.schema, t.Form = value("input_schema"), "anthropic"
	case t.Name != "" && (typ == "" || typ == "function"):
		if t.schema = value("parametersJsonSchema", "parameters_json_schema"); t.schema == nil {
			t.schema = upperType.ReplaceAllFunc(value("parameters"), bytes.ToLower)
		}
		if typ == "function" {
			t.Form = "openai-responses"
		}
	default:
		t.Name, t.Form = "", provider(typ)
	}
	return []Tool{t}
}

var datedTool = regexp.MustCompile(`_20[0-9]{6}$`)

// provider returns the format of the provider that runs a tool of a type itself.
// Anthropic's types end in a date, and Gemini's tools have none.
func provider(typ string) string {
	switch {
	case typ == "":
		return "gemini"
	case typ == "custom":
		return "openai"
	case datedTool.MatchString(typ):
		return "anthropic"
	}
	return "openai-responses"
}

// upperType finds a schema's types as Gemini may have them; JSON Schema has
// them in lower case.
var upperType = regexp.MustCompile(`"type":\s*"(OBJECT|ARRAY|STRING|NUMBER|INTEGER|BOOLEAN|NULL)"`)
