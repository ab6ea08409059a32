// Package servetest starts servers for tests: over a store in memory or in a file, with a
// host whose tokens are words, and a client that shows the token.
package servetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/server"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/tokens"
)

// Token is that of all servers.
const Token = "a-token-for-tests-alone"

// Host is a host with one compactor for all agents.
type Host struct {
	T testing.TB
	// Options are the compactor's.
	Options kagewasm.Options
	// PluginList is what Plugins returns, ModelList what Models does.
	PluginList []service.Plugin
	ModelList  []service.Model
	// Changed counts the calls of KnobsChanged.
	Changed int

	mu     sync.Mutex
	agents map[string]*service.Agent
}

var _ service.Host = (*Host)(nil)

// Open is for service.Options.
func (h *Host) Open(audit func(kagewasm.Event)) (service.Host, error) {
	h.Options.Audit, h.agents = audit, make(map[string]*service.Agent)
	return h, nil
}

// Agent implements service.Host.
func (h *Host) Agent(_ context.Context, path, model string) (*service.Agent, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.agents[path+" "+model]; a != nil {
		return a, nil
	}
	known := tokens.Default().Resolve(model)
	a := &service.Agent{Path: path, Model: known, Window: known.ContextWindow, Compactor: hosttest.New(h.T, h.Options),
		Tools: func(_ context.Context, d json.RawMessage) (int, error) { return len(d) / 4, nil }}
	h.agents[path+" "+model] = a
	return a, nil
}

// Agents implements service.Host.
func (h *Host) Agents() []string { return []string{"", "main/reviewer"} }

// Models implements service.Host.
func (h *Host) Models() []service.Model { return h.ModelList }

// Plugins implements service.Host.
func (h *Host) Plugins(context.Context) ([]service.Plugin, error) { return h.PluginList, nil }

// Plug implements service.Host.
func (h *Host) Plug(name, version string) (service.Host, error) {
	return nil, &abi.Error{Code: abi.CodeConflict, Message: name + " " + version + " is not installed"}
}

// Prompt implements service.Host.
func (h *Host) Prompt(path string) (string, error) {
	if strings.HasPrefix(path, "project:/") {
		return "Write what matters.", nil
	}
	return "", &abi.Error{Code: abi.CodeUsage, Message: "no such prompt"}
}

// Settings implements service.Host: there are two to set, shares of which one is the larger, and some to look at.
func (h *Host) Settings(_ string, values map[string]string) ([]service.Setting, error) {
	one := service.Setting{Name: "compaction.upper_threshold", Value: 0.85, From: "default", Doc: "A share of the window.",
		Knob: abi.Knob{Type: abi.KnobRange, Min: 0.01, Max: 1, Step: 0.01}}
	two := one
	two.Name, two.Value = "compaction.lower_threshold", 0.6
	for name, value := range values {
		share, err := strconv.ParseFloat(value, 64)
		if name != one.Name && name != two.Name || err != nil || share <= 0 || share > 1 {
			return nil, &abi.Error{Code: abi.CodeUsage, Message: name + ": " + value + " is no share, or it is no setting"}
		}
		to := &one
		if name == two.Name {
			to = &two
		}
		to.Value, to.From, to.Set = share, "set here", value
	}
	if two.Set != "" && two.Value.(float64) >= one.Value.(float64) {
		return nil, &abi.Error{Code: abi.CodeUsage, Message: two.Name + " has to be below " + one.Name}
	}
	return []service.Setting{one,
		{Name: "compaction.strategy", Value: "drop", From: "default", Doc: "What makes the plan.",
			Knob: abi.Knob{Type: abi.KnobEnum, Values: []string{"drop", "delegate"}}},
		{Name: "model", Value: "fast", From: "kagewasm.yaml:1:1", Doc: "The agent's.",
			Knob: abi.Knob{Type: abi.KnobModelAlias}},
		{Name: "compaction.enabled", Value: true, From: "default", Doc: "Compact.", Knob: abi.Knob{Type: abi.KnobBoolean}},
		{Name: "compaction.max_tokens", Value: 0, From: "default", Doc: "Tokens.", Knob: abi.Knob{Type: abi.KnobText}},
		{Name: "compaction.prune.protect_percent", Value: -1, From: "default", Doc: "Off, which no slider has.",
			Knob: abi.Knob{Type: abi.KnobIntRange, Max: 100, Step: 1}},
		two,
	}, nil
}

// KnobsChanged implements service.Host.
func (h *Host) KnobsChanged() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Changed++
}

// ResetBreaker implements service.Host.
func (h *Host) ResetBreaker(_ context.Context, digest string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.PluginList {
		if h.PluginList[i].Digest == digest {
			h.PluginList[i].Breaker = service.Breaker{State: "closed"}
		}
	}
	return nil
}

// Close implements service.Host.
func (h *Host) Close(context.Context) error { return nil }

// Server is one that runs.
type Server struct {
	T       testing.TB
	URL     string
	Service *service.Service
	Store   *store.Store
	Handler *server.Server
	Token   string // empty shows none
}

// Start starts a server over a store in memory. opts may set all but the store and Open.
func Start(t testing.TB, host *Host, opts service.Options) *Server {
	t.Helper()
	s, err := store.Open(t.Context(), store.InMemory, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return StartOver(t, s, host, opts)
}

// StartOver starts a server over a store.
func StartOver(t testing.TB, s *store.Store, host *Host, opts service.Options) *Server {
	t.Helper()
	host.T, opts.Store, opts.Open = t, s, host.Open
	opts.TurnTime = cmp.Or(opts.TurnTime, time.Hour) // no test is to go by how fast a plugin is
	svc, err := service.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	h := server.New(server.Options{Service: svc, Token: Token, Rate: -1})
	started := httptest.NewServer(h)
	t.Cleanup(func() {
		svc.Drain()
		started.Close()
		if err := svc.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &Server{T: t, URL: started.URL, Service: svc, Store: s, Handler: h, Token: Token}
}

// Response is an answer that was read.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Code is that of a problem.
func (r *Response) Code() abi.Code {
	var p struct{ Code abi.Code }
	_ = json.Unmarshal(r.Body, &p)
	return p.Code
}

// Do sends a request to the API. A body that is no string is sent as JSON; headers are
// "Name: value".
func (s *Server) Do(method, path string, body any, headers ...string) *Response {
	s.T.Helper()
	text, isText := body.(string)
	if body != nil {
		headers = append([]string{"Content-Type: application/json"}, headers...)
	}
	if body != nil && !isText {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // what is raw stays as it is
		if err := e.Encode(body); err != nil {
			s.T.Fatal(err)
		}
		text = b.String()
	}
	return s.Send(s.T, method, "/api/v1"+path, text, headers...)
}

// Send sends a request to the server, as it is.
func (s *Server) Send(t testing.TB, method, path, body string, headers ...string) *Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if s.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.Token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: data}
}

// Must is Do where the answer has to have a status, and is decoded into out, nil for none.
func (s *Server) Must(status int, method, path string, body, out any, headers ...string) *Response {
	s.T.Helper()
	r := s.Do(method, path, body, headers...)
	if r.Status != status {
		s.T.Fatalf("%s %s: %d, want %d: %.1000s", method, path, r.Status, status, r.Body)
	}
	if out != nil {
		if err := json.Unmarshal(r.Body, out); err != nil {
			s.T.Fatalf("%s %s: %v: %.1000s", method, path, err, r.Body)
		}
	}
	return r
}

// Chat is a session of so many exchanges behind a system message and a task, each message
// some ten words long.
func Chat(exchanges int) []abi.Message {
	msgs := []abi.Message{{Role: abi.RoleSystem, Content: abi.Text("You are careful.")},
		{Role: abi.RoleUser, Content: abi.Text("Mend the parser of the ledger.")}}
	for i := range exchanges {
		msgs = append(msgs,
			abi.Message{Role: abi.RoleAssistant,
				Content: abi.Text(fmt.Sprintf("step %d of the work reads file%d.go and says why", i, i))},
			abi.Message{Role: abi.RoleUser,
				Content: abi.Text(fmt.Sprintf("go on with part %d and keep port %d as it is", i, 4000+i))})
	}
	return msgs
}
