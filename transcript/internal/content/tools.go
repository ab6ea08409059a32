package content

import (
	"bytes"
	"regexp"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Tool is one tool definition, which the providers write in four forms. A tool
// that a provider runs itself has no name here, only its own JSON.
type Tool struct {
	Name string
	// Own is the definition as it is written in the form of the format that
	// Form names; empty for a form that is none of theirs.
	Own  []byte
	Form string

	description string
	schema      []byte // JSON Schema, nil for one without parameters
}

// WriteTools writes tool definitions in a form; those that only another
// provider has are left out.
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

// Fields are what all forms say of a tool, for [jsondoc.Obj]; the schema of its
// parameters stands under the given key.
func (t Tool) Fields(schema string) []any {
	parameters := []byte(`{"type":"object","properties":{}}`)
	if len(t.schema) > 0 {
		parameters = jsondoc.Compact(t.schema)
	}
	return []any{"name", t.Name, "description", jsondoc.Maybe(t.description), schema, parameters}
}

// ToolsOf reads tool definitions of any form. What is no list has none.
func ToolsOf(raw []byte) (list []Tool) {
	var elements []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &elements) != nil {
		return nil
	}
	for _, e := range elements {
		list = append(list, toolOf(e)...)
	}
	return list
}

// toolOf reads an element of a list of tools.
func toolOf(raw []byte) []Tool {
	var e struct {
		Type         string            `json:"type"`
		Name         string            `json:"name"`
		Description  string            `json:"description"`
		Parameters   json.RawMessage   `json:"parameters"`
		Schema       json.RawMessage   `json:"parametersJsonSchema"`
		Snake        json.RawMessage   `json:"parameters_json_schema"`
		InputSchema  json.RawMessage   `json:"input_schema"`
		Function     json.RawMessage   `json:"function"`
		Declarations []json.RawMessage `json:"functionDeclarations"`
		SnakeCase    []json.RawMessage `json:"function_declarations"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return nil
	}
	t := Tool{Name: e.Name, description: e.Description, Own: jsondoc.Compact(raw)}
	switch {
	case len(e.Declarations) > 0 || len(e.SnakeCase) > 0:
		var list []Tool
		for _, d := range append(e.Declarations, e.SnakeCase...) {
			for _, t := range toolOf(d) {
				t.Form = "gemini"
				list = append(list, t)
			}
		}
		return list
	case len(e.Function) > 0:
		for _, f := range toolOf(e.Function) {
			f.Own, f.Form = t.Own, "openai"
			return []Tool{f}
		}
		return nil
	case len(e.InputSchema) > 0:
		t.schema, t.Form = e.InputSchema, "anthropic"
	case e.Name != "" && (e.Type == "" || e.Type == "function"):
		if t.schema = firstOf(e.Schema, e.Snake); t.schema == nil {
			t.schema = upperType.ReplaceAllFunc(e.Parameters, bytes.ToLower)
		}
		if e.Type == "function" {
			t.Form = "openai-responses"
		}
	default:
		t.Name, t.Form = "", provider(e.Type)
	}
	return []Tool{t}
}

var datedTool = regexp.MustCompile(`_20[0-9]{6}$`)

// provider says who runs a tool of a type itself: Anthropic's types end in a
// date, and Gemini's tools have none.
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

func firstOf(values ...json.RawMessage) []byte {
	for _, v := range values {
		if len(v) > 0 && !bytes.Equal(v, jsondoc.Null) {
			return v
		}
	}
	return nil
}
