package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"time"
)

// loads are the windows that an Ollama has models loaded with, as it said itself.
type loads struct {
	mu sync.Mutex
	of map[loadedAt]load
}

// loadedAt is a model of one Ollama.
type loadedAt struct{ upstream, model string }

// load is the window of a model, 0 where nobody knows, and until when that holds.
type load struct {
	window int
	until  time.Time
}

// How long an answer holds: a model is loaded anew where somebody asks for another window, and one that is not loaded
// will be soon. Nobody waits for long.
const (
	loadedFor, unloadedFor = time.Minute, 10 * time.Second
	askTime                = 2 * time.Second
	maxAnswer              = 4 << 20
)

// loaded is the window that the request's model has: the smallest of what is known, what the request asks for, and what
// Ollama says where it asks for nothing.
func (e *exchange) loaded(r *http.Request) *int {
	known, n := e.engine.Model.ContextWindow, e.doc.option("num_ctx")
	if n <= 0 {
		n = e.p.loads.window(e.p, r, e.model)
	}
	if n > 0 && (known == nil || n < *known) {
		return &n
	}
	return known
}

// window is what Ollama says of a model.
func (l *loads) window(p *Proxy, r *http.Request, model string) int {
	now := p.opts.Now()
	at := loadedAt{p.upstream(r.Header).String(), model}
	l.mu.Lock()
	known, ok := l.of[at]
	l.mu.Unlock()
	if model == "" || ok && now.Before(known.until) {
		return known.window
	}
	window, loaded := p.asked(r, model)
	known = load{window, now.Add(unloadedFor)}
	if loaded {
		known.until = now.Add(loadedFor)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil || len(l.of) >= maxFamilies {
		l.of = make(map[loadedAt]load)
	}
	l.of[at] = known
	return window
}

// asked is the window that a model is loaded with: what its parameters say, else what it is loaded with now, and never
// more than it takes. Where it is not loaded that is not known yet, but for what it takes.
func (p *Proxy) asked(r *http.Request, model string) (window int, loaded bool) {
	var shown struct {
		Parameters string
		Info       map[string]json.RawMessage `json:"model_info"`
	}
	body, _ := json.Marshal(map[string]string{"model": model}) // a text can always be written
	if !p.ask(r, "/show", body, &shown) {
		return 0, true // it is no Ollama, or does not say
	}
	for line := range strings.Lines(shown.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			window, _ = strconv.Atoi(f[1])
		}
	}
	if loaded = window > 0; !loaded {
		window, loaded = p.running(r, model)
	}
	var architecture string
	var most int
	_ = json.Unmarshal(shown.Info["general.architecture"], &architecture)
	if json.Unmarshal(shown.Info[architecture+".context_length"], &most) == nil && (window <= 0 || most < window) {
		window = most
	}
	return window, loaded
}

// running is what a model is loaded with now. Older ones do not say.
func (p *Proxy) running(r *http.Request, model string) (window int, loaded bool) {
	var running struct {
		Models []struct {
			Name, Model string
			Context     int `json:"context_length"`
		}
	}
	if !p.ask(r, "/ps", nil, &running) {
		return 0, true
	}
	for _, m := range running.Models {
		if tagged(m.Name) == tagged(model) || tagged(m.Model) == tagged(model) {
			return m.Context, true
		}
	}
	return 0, false
}

// tagged is the name of a model with its tag.
func tagged(model string) string {
	if strings.LastIndexByte(model, ':') <= strings.LastIndexByte(model, '/') {
		model += ":latest"
	}
	return strings.ToLower(model)
}

// ask asks what stands beside the chat that a request is for, and reports whether there was an answer.
func (p *Proxy) ask(r *http.Request, what string, body []byte, into any) bool {
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	in := r.Clone(ctx)
	in.URL.Path, in.URL.RawPath, in.URL.RawQuery = strings.TrimSuffix(r.URL.Path, "/chat")+what, "", ""
	out := in.Clone(ctx)
	out.Header = http.Header{"Content-Type": {"application/json"}}
	if key := r.Header.Get("Authorization"); key != "" {
		out.Header.Set("Authorization", key)
	}
	p.rewrite(&httputil.ProxyRequest{In: in, Out: out})
	out.Method, out.Body, out.ContentLength, out.TransferEncoding = http.MethodGet, nil, 0, nil
	if body != nil {
		out.Method, out.Body, out.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	resp, err := p.opts.Transport.RoundTrip(out)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return err == nil && resp.StatusCode == http.StatusOK && json.Unmarshal(answer, into) == nil
}
