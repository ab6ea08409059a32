package modeltest

import (
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Request is one request that a server or a [Model] got.
type Request struct {
	// ModelRequest is what it says, read from the wire. Messages are never in
	// Prompt.
	abi.ModelRequest
	// Wire is what it came by; empty in a [Model].
	Wire Wire
	// NumCtx is Ollama's option.
	NumCtx int
	// Path, Header and Body are as they came.
	Path   string
	Header http.Header
	Body   []byte
}

// Server is a provider on loopback. Its methods are safe for concurrent use.
type Server struct {
	answer func(Request) Answer
	http   *httptest.Server
	done   chan struct{}

	mu         sync.Mutex
	requests   []Request
	busy, peak int
}

// New starts a server that gives the answers in turn, and the last one from
// then on. With none it always says "ok". It stops with the test.
func New(t testing.TB, answers ...Answer) *Server {
	return NewFunc(t, inTurn(answers))
}

// NewFunc starts a server that asks f what to do. Several calls of f may run
// at the same time.
func NewFunc(t testing.TB, f func(Request) Answer) *Server {
	t.Helper()
	s := &Server{answer: f, done: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.done)
		s.http.Close()
	})
	return s
}

// inTurn gives one answer after the other, and the last one for ever.
func inTurn(answers []Answer) func(Request) Answer {
	var mu sync.Mutex
	return func(Request) Answer {
		mu.Lock()
		defer mu.Unlock()
		if len(answers) == 0 {
			return Answer{}
		}
		a := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		return a
	}
}

// URL is the base URL that a client of that wire is given.
func (s *Server) URL(w Wire) string {
	if w == OpenAI {
		return s.http.URL + "/v1"
	}
	return s.http.URL
}

// Requests returns the requests so far, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Peak is how many requests the server had at one time, at the most.
func (s *Server) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req, err := parse(r.Method, r.URL.Path, body)
	if err != nil {
		http.Error(w, "modeltest: "+err.Error(), http.StatusNotFound)
		return
	}
	req.Path, req.Header, req.Body = r.URL.Path, r.Header, body
	s.arrived(req)
	defer s.left()

	a := s.answer(req)
	if !s.wait(r, a) {
		return
	}
	s.send(w, req, a)
}

func (s *Server) arrived(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	s.busy++
	s.peak = max(s.peak, s.busy)
}

func (s *Server) left() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
}

// wait returns whether there is still somebody to answer.
func (s *Server) wait(r *http.Request, a Answer) bool {
	var timer <-chan time.Time
	if !a.Hang {
		timer = time.After(a.Delay)
	}
	select {
	case <-timer:
		return true
	case <-r.Context().Done():
	case <-s.done:
	}
	return false
}

func (s *Server) send(w http.ResponseWriter, r Request, a Answer) {
	if a.Reset {
		reset(w)
		return
	}
	status, body := encode(r, a)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if a.ContentType != "" {
		h.Set("Content-Type", a.ContentType)
	}
	maps.Copy(h, a.Header)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if a.Cut {
		body = body[:len(body)/2]
	}
	// A client that went away is what some tests are about. A body that ends
	// before its length makes the server break the connection off.
	_, _ = w.Write(body)
}

// reset ends the connection with an RST in place of a FIN.
func reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
