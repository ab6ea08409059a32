package server_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
)

// TestIfMatchDuringACall: while a call is in flight a version is the one that the database has, also where another
// server wrote it.
func TestIfMatchDuringACall(t *testing.T) {
	features.Proves(t, "T3")
	onBoth(t, func(t *testing.T, one, two *servetest.Server) {
		var look service.Look
		one.Must(201, "POST", "/sessions/a/calls", nil, &look)
		chat := map[string]any{"messages": servetest.Chat(0)}
		stale := one.Must(200, "GET", "/sessions/a", nil, nil).Header.Get("ETag")
		two.Must(201, "POST", "/sessions/a/messages", chat, nil)
		r := one.Must(200, "GET", "/sessions/a", nil, nil)
		now := r.Header.Get("ETag")
		if now == "" || now == stale {
			t.Fatalf("version %s, and %s before", now, stale)
		}
		one.Must(412, "POST", "/sessions/a/compact", map[string]any{}, nil, "If-Match: "+stale)
		one.Must(409, "POST", "/sessions/a/compact", map[string]any{}, nil, "If-Match: "+now)
		one.Must(412, "POST", "/sessions/a/messages", chat, nil, "If-Match: "+stale)
		r = one.Must(201, "POST", "/sessions/a/messages", chat, nil, "If-Match: "+now)
		two.Must(201, "POST", "/sessions/a/messages", chat, nil)
		one.Must(412, "POST", "/sessions/a/rollback", map[string]any{"to_version": 1}, nil, "If-Match: "+r.Header.Get("ETag"))
		now = one.Must(200, "GET", "/sessions/a", nil, nil).Header.Get("ETag")
		one.Must(200, "POST", "/sessions/a/rollback", map[string]any{"to_version": 1}, nil, "If-Match: "+now)
		one.Must(200, "POST", "/sessions/a/redo", nil, nil)
		one.Must(409, "POST", "/sessions/a/calls/"+look.Call+"/answer", answered("Done."), nil)
	})
}
