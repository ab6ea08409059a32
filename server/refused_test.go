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
		if r.Status != 422 || r.Code() != abi.CodeExceedsWindow || sent != 3 {
			t.Errorf("%d messages: %d %s", sent, r.Status, r.Body)
		}
		for _, state := range []string{" tokens in 3 messages", "the window is 100000", "start a new session"} {
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
