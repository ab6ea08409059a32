package session_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

var toolForms = []session.ToolForm{session.ToolFormOpenAIChat, session.ToolFormOpenAIResponses,
	session.ToolFormAnthropic}

// definition is a tool in any of the forms.
type definition struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Strict      *bool           `json:"strict"`
	Parameters  json.RawMessage `json:"parameters"`
	InputSchema json.RawMessage `json:"input_schema"`
	Function    *definition     `json:"function"`
}

func definitions(t testing.TB, form session.ToolForm, opts session.Tools) (list []definition) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(opts.Definitions(form)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		t.Fatalf("%s: %v", form, err)
	}
	return list
}

// TestToolForms: each provider is given the fields that its API names, and
// no others.
func TestToolForms(t *testing.T) {
	features.Proves(t, "I5")
	for _, form := range toolForms {
		t.Run(string(form), func(t *testing.T) {
			for _, d := range definitions(t, form, session.Tools{Recall: true, Prefix: "kw.x_"}) {
				schema, strict := d.Parameters, d.Strict
				switch form {
				case session.ToolFormOpenAIChat:
					if d.Type != "function" || d.Name != "" || d.Function == nil || d.Function.Type != "" {
						t.Fatalf("%+v is not a function in an envelope", d)
					}
					d = *d.Function
					schema, strict = d.Parameters, d.Strict
				case session.ToolFormOpenAIResponses:
					if d.Type != "function" || d.Function != nil {
						t.Errorf("%+v is not a flat function", d)
					}
				case session.ToolFormAnthropic:
					if d.Type != "" || d.Parameters != nil || d.Strict != nil {
						t.Errorf("%+v has fields of another API", d)
					}
					schema = d.InputSchema
				}
				if form != session.ToolFormAnthropic && (strict == nil || !*strict) {
					t.Errorf("%s is not strict", d.Name)
				}
				if !strings.HasPrefix(d.Name, "kw_x_") || len(d.Description) < 40 {
					t.Errorf("the name is %q, the description %q", d.Name, d.Description)
				}
				checkStrict(t, d.Name, schema)
			}
		})
	}
	if doc := (session.Tools{}).Definitions("other"); string(doc) != "null" {
		t.Errorf("in an unknown form the tools are %s", doc)
	}
}

// checkStrict holds what strict mode asks of a schema: nothing but what is
// named, and all of that required.
func checkStrict(t *testing.T, name string, doc json.RawMessage) {
	t.Helper()
	var schema struct {
		Type                 string
		Properties           map[string]json.RawMessage
		Required             []string
		AdditionalProperties *bool
	}
	if err := json.Unmarshal(doc, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties ||
		len(schema.Required) != len(schema.Properties) {
		t.Errorf("%s: %s is no schema for strict mode", name, doc)
	}
}

// TestOffByDefault: an agent is offered compact alone.
func TestOffByDefault(t *testing.T) {
	features.Proves(t, "N9", "K12")
	for _, form := range toolForms {
		t.Run(string(form), func(t *testing.T) {
			off, on := definitions(t, form, session.Tools{}), definitions(t, form, session.Tools{Recall: true})
			if len(off) != 1 || len(on) != 2 {
				t.Errorf("%d tools without recall, %d with it", len(off), len(on))
			}
		})
	}
	host := &toolHost{stored: storedSession()}
	content, ok, err := session.Tools{}.Answer(host, "recall", `{"query":"ErrConflict","limit":null}`)
	if !ok || err != nil || strings.Contains(content, "ErrConflict") || !strings.Contains(content, "operator") ||
		host.looked {
		t.Errorf("recall that is off answers %q, %v, %v", content, ok, err)
	}
}

// schemas are the schemas of the arguments, by the tools' names.
func schemas(t testing.TB) map[string]*jsonschema.Schema {
	t.Helper()
	out := make(map[string]*jsonschema.Schema)
	for _, d := range definitions(t, session.ToolFormAnthropic, session.Tools{Recall: true}) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(d.InputSchema))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(d.Name+".json", doc); err != nil {
			t.Fatal(err)
		}
		if out[d.Name], err = c.Compile(d.Name + ".json"); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// fits reports whether arguments are what the schema asks for.
func fits(s *jsonschema.Schema, arguments string) bool {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	return err == nil && s.Validate(doc) == nil
}
