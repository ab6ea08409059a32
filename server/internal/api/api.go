// Package api is the HTTP API of a service.Service: its operations, how their errors are
// told ([Problem]), and the document that describes them.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"path"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// Prefix is where the API stands.
const Prefix = "/api/v1"

// Options of an API.
type Options struct {
	Service *service.Service
	Version string // of the program
	MaxBody int64  // of a request, in bytes
	Log     *slog.Logger
}

// api registers operations, all in one way.
type api struct {
	huma huma.API
	s    *service.Service
	opts Options
}

// Register adds the operations to a mux.
func Register(mux *http.ServeMux, opts Options) {
	ownProblems()
	registry := huma.NewMapRegistry("#/components/schemas/", nameOf)
	registry.RegisterTypeAlias(reflect.TypeFor[abi.Content](), reflect.TypeFor[contentSchema]())
	config := huma.Config{OpenAPI: &huma.OpenAPI{OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "kagewasm", Version: opts.Version, Description: description},
		Components: &huma.Components{Schemas: registry, SecuritySchemes: map[string]*huma.SecurityScheme{
			"token": {Type: "http", Scheme: "bearer", Description: "the token of the file that kagewasm serve names"}}},
		Security: []map[string][]string{{"token": {}}}},
		OpenAPIPath: Prefix + "/openapi", Formats: map[string]huma.Format{"application/json": strictFormat,
			"json": strictFormat},
		DefaultFormat: "application/json", RejectUnknownQueryParameters: true}
	a := &api{huma: humago.New(mux, config), s: opts.Service, opts: opts}
	a.sessions()
	a.calls()
	a.compactions()
	a.history()
	a.operator()
	a.stream()
}

const description = "Sessions of agents, compacted where they get too long for their model, and all that was done to " +
	"them. A session is named by its key: its id, or ID#AGENT for that of an agent below the main one, percent-encoded " +
	"in a path. Errors are problem+json; branch on their code."

// nameOf names a schema by its type, with the package's name where other packages have
// types of the same name.
func nameOf(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch p := path.Base(t.PkgPath()); p {
	case "store", "hooks", "session", "note":
		return strings.ToUpper(p[:1]) + p[1:] + name
	}
	return name
}

// contentSchema is what a message says: a text, or parts.
type contentSchema struct{}

// Schema implements huma.SchemaProvider.
func (contentSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: "a text, or a list of parts", OneOf: []*huma.Schema{{Type: huma.TypeString},
		{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}}}
}

// strictFormat is JSON that cannot be read in more than one way.
var strictFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		if fast, ok := v.(interface{ AppendJSON([]byte) ([]byte, error) }); ok {
			data, err := fast.AppendJSON(nil)
			if err == nil {
				_, err = w.Write(data)
			}
			return err
		}
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	},
	Unmarshal: func(data []byte, v any) error {
		if u, ok := v.(unread); ok {
			u.keep(data)
			return nil
		}
		if err := strictjson.CheckForeign(data); err != nil {
			return err
		}
		return json.Unmarshal(data, v)
	},
}

// unread is a body that the operation reads itself.
type unread interface{ keep([]byte) }

// loose is a body with messages in it: huma's own look at it would cost more than what is
// done with it. Operations with one have to be loose.
type loose[T any] struct{ data []byte }

func (l *loose[T]) keep(data []byte) { l.data = bytes.Clone(data) } // which huma uses again

// Schema implements huma.SchemaProvider.
func (loose[T]) Schema(r huma.Registry) *huma.Schema { return r.Schema(reflect.TypeFor[T](), true, "") }

var known sync.Map // the keys of a type, for strictjson

// read decodes the body. foreign says that messages of other formats may stand in it.
func (l *loose[T]) read(foreign bool) (v T, err error) {
	t := reflect.TypeFor[T]()
	if foreign {
		err = strictjson.CheckForeign(l.data)
	} else {
		keys, ok := known.Load(t)
		if !ok {
			keys, _ = known.LoadOrStore(t, strictjson.Keys(&v))
		}
		err = strictjson.Check(l.data, keys.(map[string]bool))
	}
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(l.data))
		d.DisallowUnknownFields()
		err = d.Decode(&v)
	}
	if err != nil {
		err = &abi.Error{Code: abi.CodeBadInput, Op: "body", Message: err.Error(), Err: err}
	}
	return v, err
}

// op is an operation of the API.
type op struct {
	id      string
	method  string
	path    string
	summary string
	tag     string
	status  int
	errors  []int
	// loose: the body is one that the operation reads itself.
	loose bool
	text  string // more than the summary
}

// add adds an operation.
func add[I, O any](a *api, o op, do func(context.Context, *I) (*O, error)) {
	if o.method != http.MethodGet {
		o.errors = append(o.errors, http.StatusBadRequest)
	}
	h := huma.Operation{OperationID: o.id, Method: o.method, Path: Prefix + o.path, Summary: o.summary,
		Description: o.text, Tags: []string{o.tag}, DefaultStatus: o.status, Errors: append([]int{401}, o.errors...),
		MaxBodyBytes: a.opts.MaxBody, BodyReadTimeout: -1, SkipValidateBody: o.loose}
	huma.Register(a.huma, h, func(ctx context.Context, in *I) (*O, error) {
		out, err := do(ctx, in)
		if err == nil {
			return out, nil
		}
		if err == error(notModified) {
			return nil, err
		}
		problem := problemOf(err)
		if cause, ok := problem.(*inner); ok {
			a.opts.Log.Error("an operation went wrong", "operation", o.id, "error", cause.cause)
			problem = cause.Problem
		}
		return nil, problem
	})
}

// BySession is an input that names a session.
type BySession struct {
	Session string `path:"session" maxLength:"500" doc:"the key of the session, percent-encoded"`
}

// Matching is an input that may demand a version.
type Matching struct {
	IfMatch string `header:"If-Match" doc:"the ETag that the session has to have: 412 where it has another one"`
}

// version is the one that is demanded, nil for any.
func (m *Matching) version() (*int, error) {
	tag := strings.TrimSpace(m.IfMatch)
	if tag == "" || tag == "*" {
		return nil, nil
	}
	n, err := strconv.Atoi(strings.Trim(tag, `"`))
	if err != nil {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "If-Match", Message: "it is no ETag of a session: " +
			strconv.Quote(tag)}
	}
	return &n, nil
}

// etag is a version as a header has it.
func etag(version int) string { return `"` + strconv.Itoa(version) + `"` }

// out is an answer with a body alone.
type out[T any] struct{ Body T }

func outOf[T any](v T, err error) (*out[T], error) { return &out[T]{v}, err }

// nothing is an answer without a body.
type nothing struct{}
