package server_test

import (
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

// TestMessagesOfASessionInATurn: messages that the caller keeps under the name of a session with a turn or a call are
// not compacted by hand; what the agent or a plugin asks for, and what is due, is.
func TestMessagesOfASessionInATurn(t *testing.T) {
	features.Proves(t, "T3")
	s := over(t, store.InMemory)
	body := func(reason abi.TriggerReason, force bool) map[string]any {
		return map[string]any{"id": "a", "format": "neutral", "messages": servetest.Chat(30), "record": true, "force": force,
			"reason": reason, "context_window": 4000}
	}
	busy := func(how string) {
		t.Helper()
		for _, b := range []map[string]any{body("", true), body(abi.TriggerManual, true),
			{"id": "a", "messages": servetest.Chat(30), "format": "neutral", "target_tokens": 100},
			{"id": "a", "messages": servetest.Chat(30), "format": "neutral", "instructions": "keep the ports"}} {
			want := s.Must(409, "POST", "/sessions/a/compact", map[string]any{}, nil)
			r := s.Must(409, "POST", "/compact", b, nil)
			if string(r.Body) != string(want.Body) {
				t.Errorf("%s: %s, want %s", how, r.Body, want.Body)
			}
		}
	}
	var begun struct{ Turn string }
	s.Must(201, "POST", "/sessions/a/turns", nil, &begun)
	busy("in a turn")
	for _, b := range []map[string]any{body(abi.TriggerAgent, true), body(abi.TriggerPlugin, true),
		body(abi.TriggerThreshold, true), body("", false)} {
		s.Must(200, "POST", "/compact", b, nil)
	}
	s.Must(200, "DELETE", "/sessions/a/turns/"+begun.Turn+"?failed=true", nil, nil)
	var look service.Look
	s.Must(201, "POST", "/sessions/a/calls", nil, &look)
	busy("in a call")
	s.Must(200, "POST", "/sessions/a/calls/"+look.Call+"/answer", answered("Done."), nil)
	var made service.Made
	s.Must(200, "POST", "/compact", body(abi.TriggerManual, true), &made)
	if made.Session != "a" || !made.Report.Compacted {
		t.Errorf("%+v", made)
	}
}

// TestMessagesOfATurnBefore: a turn that an earlier server began counts.
func TestMessagesOfATurnBefore(t *testing.T) {
	features.Proves(t, "T3")
	path := filepath.Join(t.TempDir(), "sessions.db")
	first := over(t, path)
	first.Must(201, "POST", "/sessions/a/turns", nil, nil)
	second := servetest.StartOver(t, first.Store, &servetest.Host{}, service.Options{})
	r := second.Do("POST", "/compact", map[string]any{"id": "a", "format": "neutral", "messages": servetest.Chat(30),
		"force": true})
	if r.Status != 409 || r.Code() != abi.CodeBusy {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
