package agenttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// Answer is one answer of a scripted model.
type Answer struct {
	Text  string
	Calls []Call
	// Cut breaks the connection in the middle of the answer.
	Cut bool
	// Status, where set, is that of an error which is answered instead; 0 is none. By chat completions alone.
	Status int
	// Hold keeps the answer back until the client hangs up; by Messages and Responses what is behind its first words.
	Hold bool
}

// Call is a tool call of an answer.
type Call struct {
	Name  string
	Input map[string]any
	// Namespace is that of the tool, where a client groups its tools.
	Namespace string
}

// Model answers requests by a script: what is queued first, and "done" once nothing is.
type Model struct {
	// By, where set, is asked before the queue, with how many requests of the same session came before: sessions that run
	// side by side each have a script of their own then.
	By func(r Request, before int) (Answer, bool)

	// Compacts lets the model's provider make compactions itself, whose items only it can read. By Responses alone.
	Compacts bool

	mu       sync.Mutex
	queue    []Answer
	requests []Request
	calls    atomic.Int64
	// Tokens is what an answer says its request took; nil is a quarter of its bytes.
	Tokens func(r Request) int
}

// Request is a request that a model got.
type Request struct {
	Path    string
	Session string // as the client's headers name it
	Agent   string // the subagent, likewise; empty for the main one
	Body    []byte
	// Messages are those of the body, each as its JSON.
	Messages []json.RawMessage
}

// Say queues answers.
func (m *Model) Say(answers ...Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, answers...)
}

// Requests are the requests so far.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Request(nil), m.requests...)
}

// Last is the latest request.
func (m *Model) Last(tb testing.TB) Request {
	tb.Helper()
	all := m.Requests()
	if len(all) == 0 {
		tb.Fatal("the model got no request")
	}
	return all[len(all)-1]
}

// answer notes a request and takes the next answer.
func (m *Model) answer(r Request) (a Answer, tokens int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := 0
	for i := range m.requests {
		if m.requests[i].Session == r.Session {
			before++
		}
	}
	m.requests = append(m.requests, r)
	a, scripted := Answer{Text: "done"}, false
	if m.By != nil {
		if by, ok := m.By(r, before); ok {
			a, scripted = by, true
		}
	}
	if !scripted && len(m.queue) > 0 {
		a, m.queue = m.queue[0], m.queue[1:]
	}
	if m.Tokens != nil {
		return a, m.Tokens(r)
	}
	return a, len(r.Body) / 4
}

// id is one that no other answer has.
func (m *Model) id(prefix string) string { return fmt.Sprintf("%s%06d", prefix, m.calls.Add(1)) }

// served serves a model until the test ends, and returns its base URL.
func served(tb testing.TB, model http.HandlerFunc) string {
	tb.Helper()
	s := httptest.NewServer(model)
	tb.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}
