package schemagen

import (
	"github.com/invopop/jsonschema"

	"github.com/kagewasm/kagewasm/abi"
)

type schema = jsonschema.Schema

const (
	namePattern   = `^[a-z0-9][a-z0-9_-]{0,63}$`
	digestPattern = `^sha256:[0-9a-f]{64}$`
	notBlank      = `\S`
)

// custom is the schema of a type whose JSON form is not its Go form, or nil.
func (b *builder) custom(name string) *schema {
	switch name {
	case "Meta", "Config":
		return &schema{Type: "object", Description: b.describe(name)}
	case "Content":
		return b.content()
	case "Part":
		return b.part()
	}
	return nil
}

func (b *builder) describe(name string) string {
	return b.src.comments[pkgPath+"."+name]
}

func (b *builder) content() *schema {
	b.defs["Part"] = b.part()
	s := &schema{
		Description: b.describe("Content"),
		AnyOf:       []*schema{{Type: "string"}, {Type: "array", Items: &schema{Ref: "#/$defs/Part"}}},
	}
	if !b.doc.Host {
		s.AnyOf = append(s.AnyOf, &schema{Type: "null"})
	}
	return s
}

func (b *builder) part() *schema {
	isText := properties("type", &schema{Const: "text"})
	part := &schema{
		Description: b.describe("Part"),
		Type:        "object",
		Properties:  properties("type", &schema{Type: "string"}).Properties,
		Required:    []string{"type"},
		If:          isText,
		Then:        require(properties("text", &schema{Type: "string"}), "text"),
	}
	if b.doc.Host {
		return part
	}
	either := &schema{Description: part.Description, AnyOf: []*schema{part, {Type: "string"}}}
	part.Description = ""
	return either
}

// closed are the types that refuse fields they do not have, in documents that
// the host does not write. Messages are not among them: a plugin may hand back
// what it was given, the host's own fields and all.
var closed = map[string]bool{
	"Output": true, "CompactionRequest": true, "Manifest": true, "Request": true, "Limits": true, "Knob": true,
	"LogRequest": true, "KVRequest": true, "TokensRequest": true, "MessagesRequest": true,
	"HTTPRequest": true, "ModelRequest": true, "ModelMessage": true,
}

// tweak adds to a definition what its Go type does not say.
func (b *builder) tweak(name string, def *schema) {
	if closed[name] && !b.doc.Host {
		def.AdditionalProperties = jsonschema.FalseSchema
	}
	switch name {
	case "Message":
		b.tweakMessage(def)
	case "InputMessage":
		b.tweakMessage(def)
		def.Required = append([]string{"id"}, def.Required...)
		prop(def, "tokens").Minimum, prop(def, "unit").Minimum = "0", "0"
	case "OutputMessage":
		def.Required = nil
		def.AnyOf = []*schema{{Required: []string{"ref"}}, {Required: []string{"role"}}}
	case "ToolCall":
		if !b.doc.Host {
			def.Required = []string{"id", "name"}
			prop(def, "arguments").Type = ""
		}
	case "Input":
		prop(def, "abi").Const = abi.Version
		prop(def, "time").Format = "date-time"
	case "Session":
		nullable(prop(def, "context_window"))
	case "Record":
		prop(def, "time").Format = "date-time"
		prop(def, "flag").Enum = []any{"", "good", "bad", "neutral"}
	case "Source":
		prop(def, "digest").Pattern = digestPattern
	case "Edit":
		prop(def, "call").Minimum = "-1"
	case "HostResponse":
		def.Not = &schema{Required: []string{"result", "error"}}
	case "KVRequest":
		prop(def, "key").MaxLength = new(uint64(abi.MaxKeyBytes))
	case "Manifest":
		tweakManifest(def)
	case "Request":
		prop(def, "reason").Pattern = notBlank
	case "Limits":
		for p := def.Properties.Oldest(); p != nil; p = p.Next() {
			p.Value.Minimum = "0"
		}
	case "Knob":
		tweakKnob(def)
	}
}

func (b *builder) tweakMessage(def *schema) {
	if !b.doc.Host {
		def.Required = []string{"role"}
	}
}

func tweakManifest(def *schema) {
	prop(def, "abi").Const = abi.Version
	prop(def, "name").Pattern = namePattern
	roles, one := *prop(def, "roles"), schema{Ref: "#/$defs/PluginRole"}
	list := schema{Type: roles.Type, Items: roles.Items}
	oneOrMany := []*schema{&list, &one, {Type: "null"}}
	def.Properties.Set("roles", &schema{Description: roles.Description, AnyOf: oneOrMany})
	def.Properties.Set("role", &schema{Description: "The same as roles.", AnyOf: oneOrMany})
	def.Properties.Set("hook_timeout_sec", &schema{
		Description: "The same as limits.timeout_ms, in seconds; limits.timeout_ms wins.",
		Type:        "number", Minimum: "0", Maximum: "2147483",
	})
	// A manifest is valid without a version; reports then show none.
	def.Required = []string{"name", "abi"}
	prop(def, "knobs").PropertyNames = &schema{Pattern: namePattern}
	caps := prop(def, "capabilities")
	caps.PropertyNames = &schema{}
	for _, c := range abi.Capabilities {
		caps.PropertyNames.Enum = append(caps.PropertyNames.Enum, c)
	}
	hosts := &schema{Type: "array", MinItems: new(uint64(1))}
	caps.Properties = properties("http", require(properties("hosts", hosts), "hosts")).Properties
	caps.Properties.Set("http", &schema{AllOf: []*schema{{Ref: "#/$defs/Request"}, caps.Properties.Value("http")}})
}

// tweakKnob says which fields a type needs and what its default is.
func tweakKnob(def *schema) {
	prop(def, "step").Minimum = "0"
	prop(def, "max_length").Minimum = "0"
	prop(def, "values").MinItems, prop(def, "values").UniqueItems = new(uint64(1)), true
	is := func(types ...any) *schema { return properties("type", &schema{Enum: types}) }
	value := func(typ string) *schema { return properties("default", &schema{Type: typ}) }
	def.AllOf = []*schema{
		{If: is(abi.KnobRange), Then: value("number")},
		{If: is(abi.KnobIntRange), Then: value("integer")},
		{If: is(abi.KnobRange, abi.KnobIntRange),
			Then: &schema{AnyOf: []*schema{{Required: []string{"max"}}, {Required: []string{"min"}}}}},
		{If: is(abi.KnobBoolean), Then: value("boolean")},
		{If: is(abi.KnobEnum), Then: require(value("string"), "values")},
		{If: is(abi.KnobText, abi.KnobMultiline, abi.KnobModelAlias, abi.KnobPath), Then: value("string")},
	}
}

func prop(def *schema, name string) *schema {
	p, ok := def.Properties.Get(name)
	if !ok {
		panic("schemagen: no property " + name)
	}
	return p
}

func properties(name string, s *schema) *schema {
	props := jsonschema.NewProperties()
	props.Set(name, s)
	return &schema{Properties: props}
}

func require(s *schema, names ...string) *schema {
	s.Required = names
	return s
}

// nullable lets null stand in a property's place.
func nullable(p *schema) {
	p.AnyOf = []*schema{{Type: p.Type}, {Type: "null"}}
	p.Type = ""
}
