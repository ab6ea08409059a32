package schemagen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/kagewasm/kagewasm/abi"
)

// base is where the $id of every schema begins.
var base = fmt.Sprintf("https://kagewasm.dev/schema/abi/%d/", abi.Version)

// document is one kind of document that has a schema.
type document struct {
	// Name of the schema, and of its file without ".json".
	Name  string
	Title string
	Value any
	// Host marks documents that the host alone writes. Their schemas say
	// exactly what it writes and leave room for fields of later releases.
	// Schemas of documents from elsewhere accept whatever the host reads, and
	// no field that it does not know.
	Host bool
	// Null marks documents in whose place null may stand.
	Null bool
}

// documents are all documents that have a schema.
var documents = []document{
	{Name: "message", Title: "Message of a session", Value: abi.Message{}},
	{Name: "input", Title: "Hook input", Value: abi.Input{}, Host: true},
	{Name: "output", Title: "Hook output", Value: abi.Output{}, Null: true},
	{Name: "manifest", Title: "Plugin manifest", Value: abi.Manifest{}},
	{Name: "knob", Title: "Knob of a plugin", Value: abi.Knob{}},
	{Name: "plan", Title: "Compaction plan", Value: abi.Plan{}, Host: true},
	{Name: "record", Title: "Compaction record", Value: abi.Record{}, Host: true},
	{Name: "error", Title: "Error", Value: abi.Error{}, Host: true},
	{Name: "host_response", Title: "Response of a host call", Value: abi.HostResponse{}, Host: true},
	{Name: "log_request", Title: "Request of log", Value: abi.LogRequest{}},
	{Name: "kv_request", Title: "Request of kv.get, kv.set, kv.delete and kv.list", Value: abi.KVRequest{}},
	{Name: "kv_response", Title: "Result of kv.get and kv.list", Value: abi.KVResponse{}, Host: true},
	{Name: "tokens_request", Title: "Request of tokens.count", Value: abi.TokensRequest{}},
	{Name: "tokens_response", Title: "Result of tokens.count", Value: abi.TokensResponse{}, Host: true},
	{Name: "messages_request", Title: "Request of messages.get", Value: abi.MessagesRequest{}},
	{Name: "messages_response", Title: "Result of messages.get", Value: abi.MessagesResponse{}, Host: true},
	{Name: "search_request", Title: "Request of messages.search", Value: abi.SearchRequest{}},
	{Name: "search_response", Title: "Result of messages.search", Value: abi.SearchResponse{}, Host: true},
	{Name: "http_request", Title: "Request of http", Value: abi.HTTPRequest{}},
	{Name: "http_response", Title: "Result of http", Value: abi.HTTPResponse{}, Host: true},
	{Name: "model_request", Title: "Request of model.complete", Value: abi.ModelRequest{}},
	{Name: "model_response", Title: "Result of model.complete", Value: abi.ModelResponse{}, Host: true},
	{Name: "compaction_request", Title: "Request of compaction.request", Value: abi.CompactionRequest{}},
}

// generateAll returns the schemas by file name. dir is the folder of package
// abi's source.
func generateAll(dir string) (map[string][]byte, error) {
	src, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(documents))
	for _, d := range documents {
		file, err := generate(src, d)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", d.Name, err)
		}
		files[d.Name+".json"] = file
	}
	return files, nil
}

func generate(src *source, d document) ([]byte, error) {
	b := builder{src: src, doc: d, defs: jsonschema.Definitions{}}
	r := jsonschema.Reflector{
		Anonymous:                 true,
		AllowAdditionalProperties: true,
		CommentMap:                src.comments,
		Mapper:                    b.named,
	}
	root := r.Reflect(d.Value)
	maps.Copy(root.Definitions, b.defs)
	for name, def := range root.Definitions {
		b.tweak(name, def)
	}
	root.ID = jsonschema.ID(base + d.Name + ".json")
	root.Title = d.Title
	if d.Null {
		root.AnyOf = []*jsonschema.Schema{{Ref: root.Ref}, {Type: "null"}}
		root.Ref = ""
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// builder collects the definitions of one schema that reflection does not
// make: named strings with their constants, and types with a JSON form of
// their own.
type builder struct {
	src  *source
	doc  document
	defs jsonschema.Definitions
}

// named answers the reflector with a reference to a definition for the types
// it would get wrong, with nil for all others.
func (b *builder) named(t reflect.Type) *jsonschema.Schema {
	if t.PkgPath() != pkgPath {
		return nil
	}
	name := t.Name()
	def := b.custom(name)
	if def == nil && t.Kind() == reflect.String {
		def = b.enum(name)
	}
	if def == nil {
		return nil
	}
	b.defs[name] = def
	return &jsonschema.Schema{Ref: "#/$defs/" + name}
}

// enum is a named string with its constants. A kind may be any text; the
// constants are those the host knows.
func (b *builder) enum(name string) *jsonschema.Schema {
	def := &jsonschema.Schema{Type: "string", Description: b.src.describeEnum(name)}
	for _, c := range b.src.consts[name] {
		if name == "Kind" {
			def.Examples = append(def.Examples, c.value)
		} else {
			def.Enum = append(def.Enum, c.value)
		}
	}
	return def
}
