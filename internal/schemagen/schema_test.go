package schemagen

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// schemas is the folder of the files.
const schemas = "../../abi/schema"

var update = flag.Bool("update", false, "write the schemas again")

func readSchema(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(schemas, name+".json"))
}

// compile returns the schema of a document. Formats are asserted, so that a
// time that is none fails.
func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	file, err := readSchema(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	id := base + name + ".json"
	if got := doc.(map[string]any)["$id"]; got != id {
		t.Errorf("$id %v, want %s", got, id)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(id, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(s *jsonschema.Schema, doc []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// TestUpToDate: the files are what package abi says, no more and no fewer.
func TestUpToDate(t *testing.T) {
	want, err := generateAll("../../abi")
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range want {
		path := filepath.Join(schemas, name)
		if *update {
			if err := os.WriteFile(path, file, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, file) {
			t.Errorf("%s is not what package abi says: run go generate ./internal/schemagen", name)
		}
	}
	entries, err := os.ReadDir(schemas)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if want[e.Name()] == nil {
			t.Errorf("%s is the schema of no document: delete it", e.Name())
		}
	}
}

// TestEveryHostCallHasSchemas: a request or response that is added to the ABI
// needs its row in
func TestEveryHostCallHasSchemas(t *testing.T) {
	src, err := os.ReadFile("../../abi/hostcall.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(src), "\n") {
		name, ok := strings.CutSuffix(strings.TrimPrefix(line, "type "), " struct {")
		if !ok || !strings.HasPrefix(line, "type ") {
			continue
		}
		if !slices.ContainsFunc(documents, func(d document) bool { return reflect.TypeOf(d.Value).Name() == name }) {
			t.Errorf("abi.%s has no schema: add it to documents", name)
		}
	}
}

// TestEverythingIsDescribed: definitions carry the comment of their type.
func TestEverythingIsDescribed(t *testing.T) {
	for _, d := range documents {
		file, err := readSchema(d.Name)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Schema string `json:"$schema"`
			Title  string `json:"title"`
			Defs   map[string]struct {
				Description string `json:"description"`
			} `json:"$defs"`
		}
		if err := json.Unmarshal(file, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Title == "" || doc.Schema != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s: title %q, $schema %q", d.Name, doc.Title, doc.Schema)
		}
		for name, def := range doc.Defs {
			if def.Description == "" {
				t.Errorf("%s: %s has no description: write a comment on abi.%s", d.Name, name, name)
			}
			if strings.Contains(def.Description, "FEATURES") {
				t.Errorf("%s: %s refers to what a reader does not have: %s", d.Name, name, def.Description)
			}
		}
	}
}

type example struct {
	Why string `json:"why"`
	// By says who refuses an invalid document: "schema", "host", or both.
	By       []string        `json:"by"`
	Document json.RawMessage `json:"document"`
}

// TestExamples runs the documents in testdata through the schema and through
// what a host does with them.
func TestExamples(t *testing.T) {
	for _, d := range documents {
		t.Run(d.Name, func(t *testing.T) {
			file, err := os.ReadFile(filepath.Join("..", "..", "abi", "testdata", "documents", d.Name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var examples struct{ Valid, Invalid []example }
			if err := json.Unmarshal(file, &examples); err != nil {
				t.Fatal(err)
			}
			if len(examples.Valid) == 0 || len(examples.Invalid) == 0 {
				t.Fatal("examples of both kinds are needed")
			}
			s := compile(t, d.Name)
			for _, e := range examples.Valid {
				checkValid(t, s, d, e)
			}
			for _, e := range examples.Invalid {
				bySchema, byHost := validate(s, e.Document) != nil, read(d, e.Document, nil) != nil
				if want := slices.Contains(e.By, "schema"); bySchema != want {
					t.Errorf("%s: refused by the schema: %v, want %v: %s", e.Why, bySchema, want, e.Document)
				}
				if want := slices.Contains(e.By, "host"); byHost != want {
					t.Errorf("%s: refused by the host: %v, want %v: %s", e.Why, byHost, want, e.Document)
				}
			}
		})
	}
}

// checkValid holds that both accept a document, and that what Go makes of it
// and writes again is valid too.
func checkValid(t *testing.T, s *jsonschema.Schema, d document, e example) {
	t.Helper()
	if err := validate(s, e.Document); err != nil {
		t.Errorf("%s: refused by the schema: %v", e.Why, err)
	}
	v := reflect.New(reflect.TypeOf(d.Value))
	if err := read(d, e.Document, v.Interface()); err != nil {
		t.Errorf("%s: refused by the host: %v", e.Why, err)
		return
	}
	out, err := json.Marshal(v.Interface())
	if err != nil {
		t.Errorf("%s: %v", e.Why, err)
		return
	}
	if err := validate(s, out); err != nil {
		t.Errorf("%s: what Go writes is refused: %v: %s", e.Why, err, out)
	}
}

// read is what a host does with a document before it believes it.
func read(d document, doc []byte, v any) error {
	if v == nil {
		v = reflect.New(reflect.TypeOf(d.Value)).Interface()
	}
	if err := strictjson.Check(doc, strictjson.Keys(v)); err != nil {
		return err
	}
	if k, ok := v.(*abi.Knob); ok {
		if err := strictjson.Decode(doc, k); err != nil {
			return err
		}
		return k.Validate()
	}
	if err := json.Unmarshal(doc, v); err != nil {
		return err
	}
	switch v := v.(type) {
	case *abi.Message:
		if !v.Role.Valid() {
			return fmt.Errorf("role %q", v.Role)
		}
	case *abi.Manifest:
		return v.Validate()
	}
	return nil
}

// TestGoValues: what Go writes is valid where lists are nil and fields are
// zero, too.
func TestGoValues(t *testing.T) {
	source := abi.Source{Type: abi.SourceHost, Name: "x"}
	for name, v := range map[string]any{
		"output": abi.Output{},
		"record": &abi.Record{Time: "2026-01-02T03:04:05Z", Trigger: abi.TriggerIdle, Source: source,
			ReasonCode: abi.ReasonCompacted},
		"plan":               &abi.Plan{Source: source},
		"error":              &abi.Error{Code: abi.CodeTrap},
		"message":            abi.Message{Role: abi.RoleUser},
		"host_response":      abi.HostResponse{},
		"kv_response":        abi.KVResponse{},
		"compaction_request": abi.CompactionRequest{},
		"manifest":           abi.Manifest{Name: "x", ABI: abi.Version},
		"knob":               abi.Knob{Type: abi.KnobBoolean},
		"input": abi.Input{
			ABI: abi.Version, Time: "2026-01-02T03:04:05Z", Hook: abi.HookTurnEnd, Trigger: abi.Trigger{Reason: abi.TriggerIdle},
			Messages: []abi.InputMessage{{Message: abi.Message{ID: "m", Role: abi.RoleUser, Content: abi.Parts()}}},
			Record: &abi.Record{Time: "2026-01-02T03:04:05Z", Trigger: abi.TriggerIdle, Source: source,
				ReasonCode: abi.ReasonCancelled},
		},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(compile(t, name), doc); err != nil {
				t.Errorf("%v: %s", err, doc)
			}
		})
	}
}

func TestSessionsAreValid(t *testing.T) {
	own, err := filepath.Glob(filepath.Join("..", "..", "abi", "testdata", "sessions", "*.jsonl"))
	if err != nil || len(own) == 0 {
		t.Fatalf("no sessions in testdata: %v", err)
	}
	s, input := compile(t, "message"), compile(t, "messages_response")
	for _, path := range shared.With(t, own) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for line := range bytes.Lines(file) {
				if line = bytes.TrimSpace(line); len(line) == 0 {
					continue
				}
				n++
				if err := validate(s, line); err != nil {
					t.Fatalf("line %d: %v", n, err)
				}
				checkAsInput(t, input, n, line)
			}
			if n == 0 {
				t.Fatal("no messages")
			}
		})
	}
}

// checkAsInput holds that a message of a log, handed to a plugin, is what the
// stricter schema of that direction says.
func checkAsInput(t *testing.T, s *jsonschema.Schema, n int, line []byte) {
	t.Helper()
	var m abi.InputMessage
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("line %d: %v", n, err)
	}
	doc, err := json.Marshal(abi.MessagesResponse{Messages: []abi.InputMessage{m}})
	if err != nil {
		t.Fatalf("line %d: %v", n, err)
	}
	if err := validate(s, doc); err != nil {
		t.Fatalf("line %d, handed on: %v", n, err)
	}
}

// TestNamesAgree: the schema and the host accept the same names.
func TestNamesAgree(t *testing.T) {
	s := compile(t, "manifest")
	name := rapid.OneOf(rapid.StringMatching(`[a-z0-9_\-A-Z. ]{0,4}`), rapid.StringMatching(`[a-z]{60,68}`),
		rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		name := name.Draw(t, "name")
		doc, err := json.Marshal(abi.Manifest{Name: name, ABI: abi.Version})
		if err != nil {
			t.Fatal(err)
		}
		if got := validate(s, doc) == nil; got != abi.ValidName(name) {
			t.Fatalf("name %q: by the schema %v, by the host %v", name, got, abi.ValidName(name))
		}
	})
}

// TestEnumsAgree: the values a schema lists are those the package lists.
func TestEnumsAgree(t *testing.T) {
	file, err := readSchema("manifest")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs map[string]struct {
			Enum []string `json:"enum"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(file, &doc); err != nil {
		t.Fatal(err)
	}
	var hooks []string
	for _, h := range abi.Hooks {
		hooks = append(hooks, string(h))
	}
	if got := doc.Defs["Hook"].Enum; !slices.Equal(got, hooks) {
		t.Errorf("hooks %v, want %v", got, hooks)
	}
	for _, typ := range doc.Defs["KnobType"].Enum {
		k := abi.Knob{Type: abi.KnobType(typ), Max: 1, Values: []string{"a"}}
		if err := k.Validate(); err != nil {
			t.Errorf("knob type %s: %v", typ, err)
		}
	}
}
