package transcript

import (
	"bytes"
	"regexp"

	"github.com/goccy/go-json"
)

// tool is one tool definition, which the providers write in four forms. A tool
// that a provider runs itself has no name here, only its own JSON.
type tool struct {
	name, description string
	schema            []byte // JSON Schema, nil for one without parameters
	own               []byte
	form              Format // whose form own is
}

type toolList []tool

// toolsOf reads tool definitions of any form. What is no list has none.
func toolsOf(raw []byte) (list toolList) {
	var elements []json.RawMessage
	if len(raw) == 0 {
		return nil
	}
	if json.Unmarshal(raw, &elements) != nil {
		return nil
	}
	for _, e := range elements {
		list = append(list, toolOf(e)...)
	}
	return list
}

// toolOf reads an element of a list of tools.
func toolOf(raw []byte) toolList {
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
	t := tool{name: e.Name, description: e.Description, own: compacted(raw)}
	switch {
	case len(e.Declarations) > 0 || len(e.SnakeCase) > 0:
		var list toolList
		for _, d := range append(e.Declarations, e.SnakeCase...) {
			for _, t := range toolOf(d) {
				t.form = Gemini
				list = append(list, t)
			}
		}
		return list
	case len(e.Function) > 0:
		for _, t := range toolOf(e.Function) {
			t.own, t.form = compacted(raw), OpenAI
			return toolList{t}
		}
		return nil
	case len(e.InputSchema) > 0:
		t.schema, t.form = e.InputSchema, Anthropic
	case e.Name != "" && (e.Type == "" || e.Type == "function"):
		if t.schema = firstOf(e.Schema, e.Snake); t.schema == nil {
			t.schema = lowerTypes(e.Parameters)
		}
		if e.Type == "function" {
			t.form = OpenAIResponses
		}
	default:
		t.name, t.form = "", runsTool(e.Type)
	}
	return toolList{t}
}

var datedTool = regexp.MustCompile(`_20[0-9]{6}$`)

// runsTool says who runs a tool of a type itself: Anthropic's types end in a
// date, and Gemini's tools have none.
func runsTool(typ string) Format {
	switch {
	case typ == "":
		return Gemini
	case typ == "custom":
		return OpenAI
	case datedTool.MatchString(typ):
		return Anthropic
	}
	return OpenAIResponses
}

// lowerTypes writes a schema's types as JSON Schema has them: Gemini has them
// in capitals too.
func lowerTypes(schema []byte) []byte {
	return upperType.ReplaceAllFunc(schema, bytes.ToLower)
}

var upperType = regexp.MustCompile(`"type":\s*"(OBJECT|ARRAY|STRING|NUMBER|INTEGER|BOOLEAN|NULL)"`)

func firstOf(values ...json.RawMessage) []byte {
	for _, v := range values {
		if len(v) > 0 && !bytes.Equal(v, []byte("null")) {
			return v
		}
	}
	return nil
}

// in writes the list in a form; tools that only another provider has are left
// out.
func (l toolList) in(form Format, write func(t tool) []byte) (out [][]byte) {
	for _, t := range l {
		switch {
		case t.form == form:
			out = append(out, t.own)
		case t.name != "":
			out = append(out, write(t))
		}
	}
	return out
}

// parameters is the schema of a tool, of no parameters where it has none.
func (t tool) parameters() []byte {
	if len(t.schema) == 0 {
		return []byte(`{"type":"object","properties":{}}`)
	}
	return compacted(t.schema)
}

func (t tool) head() *builder {
	return new(builder).str("name", t.name).maybe("description", t.description)
}

func (l toolList) anthropic() [][]byte {
	return l.in(Anthropic, func(t tool) []byte { return t.head().raw("input_schema", t.parameters()).bytes() })
}

func (l toolList) openAI() [][]byte {
	return l.in(OpenAI, func(t tool) []byte {
		return new(builder).str("type", "function").raw("function", t.head().raw("parameters", t.parameters()).bytes()).bytes()
	})
}

func (l toolList) responses() [][]byte {
	return l.in(OpenAIResponses, func(t tool) []byte {
		b := new(builder).str("type", "function").str("name", t.name).maybe("description", t.description)
		return b.raw("parameters", t.parameters()).bytes()
	})
}

// gemini writes one tool with all declarations, after those that Gemini runs.
func (l toolList) gemini() [][]byte {
	var named, own toolList
	for _, t := range l {
		if t.name != "" {
			named = append(named, t)
		} else {
			own = append(own, t)
		}
	}
	decls := named.in(Gemini, func(t tool) []byte { return t.head().raw("parametersJsonSchema", t.parameters()).bytes() })
	tools := own.in(Gemini, nil)
	if len(decls) > 0 {
		tools = append(tools, new(builder).raw("functionDeclarations", listJSON(decls)).bytes())
	}
	return tools
}
