package server_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/servetest"
)

// events reads a stream of events until it ends: their types.
func events(t *testing.T, ctx context.Context, s *servetest.Server, query string) <-chan string {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/api/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s, %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	types := make(chan string, 100)
	lines := bufio.NewScanner(resp.Body)
	lines.Scan() // it has begun
	go func() {
		defer resp.Body.Close()
		defer close(types)
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				types <- name
			}
		}
	}()
	return types
}

func walkEvents(t *testing.T, w *walker) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	all, one := events(t, ctx, w.Server, ""), events(t, ctx, w.Server, "?session=c")
	w.operations["watch"].good++
	w.no(404, "not_found", "watch", nil, "?", "session=nobody")
	w.ok("append-messages", map[string]any{"messages": servetest.Chat(10)}, nil, "session", "loop")
	w.ok("append-messages", map[string]any{"messages": servetest.Chat(10)}, nil, "session", "c")
	w.ok("compact-session", map[string]any{}, nil, "session", "c")
	want := []string{"session.appended", "compaction.triggered", "session.rewritten", "compaction.completed"}
	for _, name := range want {
		if got := <-one; got != name {
			t.Errorf("%s, want %s", got, name)
		}
	}
	for _, name := range append([]string{"session.appended"}, want...) {
		if got := <-all; got != name {
			t.Errorf("%s, want %s", got, name)
		}
	}
}

// TestStreamsEnd: who watches does not keep a server from ending.
func TestStreamsEnd(t *testing.T) {
	s := start(t)
	types := events(t, t.Context(), s, "")
	s.Service.Drain()
	select {
	case <-types:
	case <-time.After(time.Minute):
		t.Error("the stream goes on")
	}
}
