package plugins_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kagewasm/kagewasm/internal/shared"
)

// openAPI is the OpenAPI document; nil where it is not there. The schemas of
// OpenAPI 3.1 are JSON Schemas as they stand, and that is what they are
// compiled as.
type openAPI struct {
	list []route
	// body are the schemas of requests by operation, and answer those of
	// responses by operation and status.
	body   map[string]*jsonschema.Schema
	answer map[string]map[int]*jsonschema.Schema
}

// route is an operation of the API.
type route struct{ method, path, operation string }

// ownRoutes are the routes of the operations that are handled here, for when there is
// no document.
var ownRoutes = []route{
	{"GET", "/health", "health_endpoint_health_get"},
	{"GET", "/version", "get_version"},
	{"PUT", "/v1/default/banks/{bank_id}", "create_or_update_bank"},
	{"POST", "/v1/default/banks/{bank_id}/memories", "retain_memories"},
	{"POST", "/v1/default/banks/{bank_id}/memories/recall", "recall_memories"},
	{"GET", "/v1/default/banks/{bank_id}/operations/{operation_id}", "get_operation_status"},
}

func readDocument(tb testing.TB) *openAPI {
	tb.Helper()
	paths := shared.With(tb, nil, "data", "hindsight-openapi.json")
	if len(paths) == 0 {
		tb.Log("no OpenAPI document: requests and answers are not validated")
		return nil
	}
	document.once.Do(func() {
		text, err := os.ReadFile(paths[0])
		if err == nil {
			document.api, err = newDocument(text)
		}
		document.err = err
	})
	if document.err != nil {
		tb.Fatal(document.err)
	}
	return document.api
}

// document is compiled once for all tests.
var document struct {
	once sync.Once
	api  *openAPI
	err  error
}

// documentURL is what the document is called while it is compiled.
const documentURL = "https://hindsight.test/openapi.json"

func newDocument(text []byte) (*openAPI, error) {
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	closeObjects(raw)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(documentURL, raw); err != nil {
		return nil, err
	}
	var api struct {
		Paths map[string]map[string]struct {
			OperationID string
			RequestBody *struct{ Content map[string]any }
			Responses   map[string]struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(text, &api); err != nil {
		return nil, err
	}
	d := &openAPI{body: make(map[string]*jsonschema.Schema), answer: make(map[string]map[int]*jsonschema.Schema)}
	for path, methods := range api.Paths {
		for method, op := range methods {
			at := documentURL + "#/paths/" + strings.ReplaceAll(path, "/", "~1") + "/" + method
			at = strings.NewReplacer("{", "%7B", "}", "%7D").Replace(at)
			d.list = append(d.list, route{strings.ToUpper(method), path, op.OperationID})
			if op.RequestBody != nil && op.RequestBody.Content[jsonMedia] != nil {
				if d.body[op.OperationID], err = c.Compile(at + "/requestBody/content/application~1json/schema"); err != nil {
					return nil, err
				}
			}
			d.answer[op.OperationID] = make(map[int]*jsonschema.Schema)
			for status, r := range op.Responses {
				code, err := strconv.Atoi(status)
				if err != nil || r.Content[jsonMedia] == nil {
					continue
				}
				if d.answer[op.OperationID][code],
					err = c.Compile(at + "/responses/" + status + "/content/application~1json/schema"); err != nil {
					return nil, err
				}
			}
		}
	}
	return d, nil
}

const jsonMedia = "application/json"

// closeObjects makes schemas refuse the fields they do not name: a name that
// is written wrong would pass else.
func closeObjects(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			closeObjects(e)
		}
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok && v["type"] == "object" && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, e := range v {
			closeObjects(e)
		}
	}
}

// routes are all operations of the document.
func (d *openAPI) routes() []route {
	if d == nil {
		return ownRoutes
	}
	return d.list
}

func (d *openAPI) checkRequest(op string, h http.Header, body []byte) error {
	if d == nil {
		return nil
	}
	schema := d.body[op]
	switch {
	case schema == nil && len(body) > 0:
		return fmt.Errorf("a body, and there is none in the API")
	case schema == nil:
		return nil
	case !strings.HasPrefix(h.Get("Content-Type"), jsonMedia):
		return fmt.Errorf("content type %q", h.Get("Content-Type"))
	}
	return validate(schema, body)
}

func (d *openAPI) checkAnswer(op string, status int, body []byte) error {
	if d == nil {
		return nil
	}
	schema := d.answer[op][status]
	if schema == nil {
		return fmt.Errorf("status %d is not of the API", status)
	}
	return validate(schema, body)
}

func validate(schema *jsonschema.Schema, body []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}
