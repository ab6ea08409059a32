package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// loadsOllama reports whether a request may have Ollama load a model, by its own API.
func loadsOllama(r *http.Request) bool {
	return r.Method == http.MethodPost &&
		(strings.HasSuffix(r.URL.Path, "/api/chat") || strings.HasSuffix(r.URL.Path, "/api/generate"))
}

// load has a request say how large a window its model is to be loaded with, where one is
// configured and the request does not say. All else of it stays as it came. The error is one
// of reading it.
func (p *Proxy) load(r *http.Request) error {
	b, err := readBody(r, p.opts.MaxBody)
	if err != nil {
		return err
	}
	if r.Body = b.reader(); b.plain == nil {
		return nil
	}
	if sized := p.withNumCtx(b.plain); sized != nil {
		setBody(r, sized)
	}
	return nil
}

// withNumCtx is a body with num_ctx among its options, nil where it stays as it came.
func (p *Proxy) withNumCtx(body []byte) []byte {
	l := &lexer{doc: body}
	whole := span{start: l.space(0)}
	if l.at(whole.start) != '{' {
		return nil
	}
	whole.end = l.value(whole.start)
	fields, _ := l.object(whole)
	model, options := l.string(fields["model"]), fields["options"]
	if l.bad || l.space(whole.end) != len(body) || model == "" {
		return nil
	}
	n := p.opts.NumCtx(model)
	if n <= 0 {
		return nil
	}
	numCtx := fmt.Sprintf(`"num_ctx":%d`, n)
	put := func(at, end int, text string) []byte {
		return slices.Replace(slices.Clone(body), at, end, []byte(text)...)
	}
	switch {
	case !options.ok():
		return put(whole.start+1, whole.start+1, `"options":{`+numCtx+`},`)
	case string(options.of(body)) == "null":
		return put(options.start, options.end, `{`+numCtx+`}`)
	}
	said, _ := l.object(options)
	if _, there := said["num_ctx"]; there || l.bad || said == nil {
		return nil
	}
	if len(said) > 0 {
		numCtx += ","
	}
	return put(options.start+1, options.start+1, numCtx)
}
