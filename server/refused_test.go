package server_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
)

// TestDescendToNothing: with the recovery descend each refusal leaves fewer messages to send. With none left, and still
// refused, the error is final and tells how the session stands, as the log does.
func TestDescendToNothing(t *testing.T) {
	features.Proves(t, "A11")
	var log bytes.Buffer
	s := servetest.Start(t, &servetest.Host{Options: kagewasm.Options{
		Policy: kagewasm.Policy{Recovery: kagewasm.RecoverDescend}}},
		service.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 100_000}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(20)}, nil)
	var look service.Look
	s.Must(201, "POST", "/sessions/a/calls", nil, &look)
	for range kagewasm.RecoverFrom + 2 {
		sent := len(look.Messages)
		r := s.Do("POST", "/sessions/a/calls/"+look.Call+"/refused", map[string]any{"error": "prompt is too long"})
		if r.Status == 200 {
			if err := json.Unmarshal(r.Body, &look); err != nil {
				t.Fatal(err)
			}
			if len(look.Messages) >= sent {
				t.Errorf("from %d messages to %d", sent, len(look.Messages))
			}
			continue
		}
		if r.Status != 422 || r.Code() != abi.CodeExceedsWindow || sent != 4 {
			t.Errorf("%d messages: %d %s", sent, r.Status, r.Body)
		}
		for _, state := range []string{" tokens in 4 messages", "the window is 100000", "start a new session"} {
			if !strings.Contains(string(r.Body), state) || !strings.Contains(log.String(), state) {
				t.Errorf("no %q in %s, and %s", state, r.Body, &log)
			}
		}
		if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "session=a") {
			t.Errorf("the log says %s", &log)
		}
		s.Must(404, "POST", "/sessions/a/calls/"+look.Call+"/refused", map[string]any{"error": "again"}, nil)
		return
	}
	t.Errorf("still %d messages", len(look.Messages))
}

// TestRefusedForAnotherReason: only words about the length, or words that nobody knows, compact. A rate limit is told
// as what it is, and the call stays in flight.
func TestRefusedForAnotherReason(t *testing.T) {
	features.Proves(t, "K3")
	s := start(t)
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 100_000}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(20)}, nil)
	var look service.Look
	s.Must(201, "POST", "/sessions/a/calls", nil, &look)
	at, sent := "/sessions/a/calls/"+look.Call+"/refused", len(look.Messages)
	for words, about := range map[string]string{
		"rate limit exceeded: 30000 tokens per min":       "a rate limit",
		"529 {\"error\":{\"type\":\"overloaded_error\"}}": "down or busy",
		"invalid x-api-key":                               "the key",
	} {
		r := s.Do("POST", at, map[string]any{"error": words})
		if r.Status != 422 || r.Code() != abi.CodeUsage || !strings.Contains(string(r.Body), about) {
			t.Errorf("%q: %d %s", words, r.Status, r.Body)
		}
	}
	var list struct{ Compactions []json.RawMessage }
	s.Must(200, "GET", "/sessions/a/compactions", nil, &list)
	if len(list.Compactions) > 0 {
		t.Errorf("compacted: %s", list.Compactions)
	}
	s.Must(200, "POST", at, map[string]any{"error": "that was more than I can read"}, &look)
	if len(look.Messages) >= sent {
		t.Errorf("%d messages of %d", len(look.Messages), sent)
	}
}
