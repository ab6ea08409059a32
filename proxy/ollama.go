package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/tokens"
)

// ollama is its own API. A model is unloaded after five minutes, with what it has cached.
var ollama = wire{
	format: "openai", list: "messages", lines: true, provider: "ollama/", model: named("/api/chat"),
	kept: func(*document) time.Duration { return 5 * time.Minute },
	usage: func(part []byte, u *tokens.Usage) bool {
		var said struct {
			Input  *int `json:"prompt_eval_count"`
			Output int  `json:"eval_count"`
		}
		if !bytes.Contains(part, []byte(`"prompt_eval_count"`)) || json.Unmarshal(part, &said) != nil || said.Input == nil {
			return false
		}
		*u = tokens.Usage{Input: *said.Input, Output: said.Output}
		return true
	},
}

// hearOllama takes over what a part of an answer of Ollama says.
func (t *turn) hearOllama(data []byte) {
	var p struct {
		Message said
		Done    bool
		Reason  string `json:"done_reason"`
	}
	if json.Unmarshal(data, &p) != nil {
		return
	}
	t.text.WriteString(p.Message.Content)
	t.calls = t.calls || len(p.Message.ToolCalls) > 0
	t.over = t.over || p.Done && (p.Reason == "stop" || p.Reason == "")
}

// option is a whole number among the options of a body, 0 where there is none.
func (d *document) option(name string) int {
	l := &lexer{doc: d.doc}
	options, _ := l.object(d.fields["options"])
	if at := options[name]; at.ok() && !l.bad {
		return l.number(at)
	}
	return 0
}

// generates reports whether a request has Ollama load a model, and is no conversation.
func generates(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/api/generate")
}

// load has such a request say how large a window its model is to be loaded with, where one is
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
	if p.opts.NumCtx == nil {
		return nil
	}
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
