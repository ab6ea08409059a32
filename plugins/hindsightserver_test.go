package plugins_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// hindsightServer is a Hindsight server for tests: the part of version
// 0.9 of its HTTP API that the plugin hindsight uses, on loopback and in
// memory. It ranks what it was given by words, so that it behaves like one.
//
// Its routes are those of the API's OpenAPI document, and every request and
// response is validated by it: a test that sends or gets anything else fails.
// The document is shared data and no part of the project; without it the same
// handlers stand at routes written down here, and nothing is validated.
//
// The exported fields may be set before its first request.
type hindsightServer struct {
	URL string
	// Token, where set, is what requests have to bear.
	Token string
	// Fault may answer a request in the server's place, and reports whether it
	// did. What it answers is not validated.
	Fault func(w http.ResponseWriter, r *http.Request) bool
	// FailWork makes the work on what is retained fail, for that reason.
	FailWork string

	tb       testing.TB
	document *openAPI

	mu         sync.Mutex
	banks      map[string]*serverBank
	operations map[string]*serverWork
	requests   []hindsightRequest
}

// hindsightRequest is what the server was asked.
type hindsightRequest struct {
	Method, Path string // the path as it came, escaped
	Operation    string // its id in the document
	Body         string
}

// startHindsight starts a server, which is stopped when the test ends.
func startHindsight(tb testing.TB) *hindsightServer {
	tb.Helper()
	s := &hindsightServer{tb: tb, document: readDocument(tb), banks: make(map[string]*serverBank),
		operations: make(map[string]*serverWork)}
	mux := http.NewServeMux()
	for _, r := range s.document.routes() {
		mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, q *http.Request) { s.serve(w, q, r.operation) })
	}
	web := httptest.NewServer(mux)
	tb.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// Requests are all requests so far, oldest first; of one operation where it is
// named.
func (s *hindsightServer) Requests(operation string) (list []hindsightRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if operation == "" || r.Operation == operation {
			list = append(list, r)
		}
	}
	return list
}

// serve validates a request, answers it, and validates the answer.
func (s *hindsightServer) serve(w http.ResponseWriter, r *http.Request, op string) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever asked went away
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.requests = append(s.requests, hindsightRequest{r.Method, r.URL.EscapedPath(), op, string(body)})
	s.mu.Unlock()
	if err := s.document.checkRequest(op, r.Header, body); err != nil {
		s.tb.Errorf("hindsight: %s %s: the request: %v", r.Method, r.URL, err)
	}
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	answer := httptest.NewRecorder()
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.answer(answer, r, op)
	if answer.Code < 300 {
		if err := s.document.checkAnswer(op, answer.Code, answer.Body.Bytes()); err != nil {
			s.tb.Errorf("hindsight: %s %s: the answer: %v", r.Method, r.URL, err)
		}
	}
	w.Header().Set("Content-Type", jsonMedia)
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // whoever asked may be gone
}

// answer hands a request to the handler of its operation.
func (s *hindsightServer) answer(w http.ResponseWriter, r *http.Request, op string) {
	if s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token {
		reply(w, http.StatusUnauthorized, map[string]any{"detail": "no valid token"})
		return
	}
	handle := hindsightHandlers[op]
	if handle == nil {
		reply(w, http.StatusNotImplemented, map[string]any{"detail": "not in this server: " + op})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	status, doc := handle(s, r)
	reply(w, status, doc)
}

func reply(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(doc); err != nil {
		panic(err) // the handlers' own documents encode
	}
}
