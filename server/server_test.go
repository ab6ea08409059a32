package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

func start(t *testing.T) *servetest.Server {
	return servetest.Start(t, &servetest.Host{}, service.Options{})
}

// TestLoop: the loop of an agent in any language: append, context, answer, usage; what
// went can be listed and undone.
func TestLoop(t *testing.T) {
	features.Proves(t, "K16")
	features.Proves(t, "K14")
	s := start(t)
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 300}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(20)}, nil)
	var look service.Look
	s.Must(200, "GET", "/sessions/a/context", nil, &look)
	if !look.Report.Compacted || len(look.Messages) >= 42 {
		t.Fatalf("%d messages: %s", len(look.Messages), look.Report.Reason)
	}
	s.Must(204, "POST", "/sessions/a/usage", map[string]any{"model": "gpt-4o", "input_tokens": 1000, "output_tokens": 10},
		nil)
	var stats store.Stats
	s.Must(200, "GET", "/sessions/a/stats", nil, &stats)
	if stats.Completed != 1 || len(stats.Costs) != 1 || stats.Costs[0].Spender != store.Primary ||
		stats.Costs[0].ModelUsage.Cost <= 0 {
		t.Errorf("%+v", stats)
	}
	var lost struct{ Lost []json.RawMessage }
	s.Must(200, "GET", "/sessions/a/lost", nil, &lost)
	if len(lost.Lost) == 0 {
		t.Error("nothing is lost")
	}
	var undone service.Restored
	s.Must(200, "POST", "/sessions/a/undo", nil, &undone)
	if undone.Messages != 42 || undone.Superseded != len(look.Report.Superseded) {
		t.Errorf("%+v", undone)
	}
	s.Must(200, "POST", "/sessions/a/redo", nil, &undone)
	if undone.Messages != len(look.Messages) {
		t.Errorf("%+v", undone)
	}
	var verified store.AuditReport
	s.Must(200, "GET", "/audit/verify", nil, &verified)
	if verified.Entries == 0 || len(verified.Problems) != 0 {
		t.Errorf("%+v", verified)
	}
}

// TestOpenAPI: the document describes the API in OpenAPI 3.1.
func TestOpenAPI(t *testing.T) {
	var doc struct {
		OpenAPI string
		Paths   map[string]any
	}
	start(t).Must(200, "GET", "/openapi.json", nil, &doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || len(doc.Paths) < 20 {
		t.Errorf("%s, %d paths", doc.OpenAPI, len(doc.Paths))
	}
}

// TestToken: nobody without the token learns anything.
func TestToken(t *testing.T) {
	s := start(t)
	s.Token = ""
	for _, path := range []string{"/sessions", "/openapi.json", "/../../metrics", "/nothing"} {
		if r := s.Do(http.MethodGet, path, nil); r.Status != http.StatusUnauthorized || r.Code() != "unauthorized" {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
}
