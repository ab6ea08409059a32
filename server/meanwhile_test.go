package server_test

import (
	"path/filepath"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// answered is a body with an answer of the model.
func answered(text string) map[string]any {
	return map[string]any{"messages": []abi.Message{{Role: abi.RoleAssistant, Content: abi.Text(text)}}}
}

// inView are the texts that the model sees.
func inView(s *servetest.Server) string {
	s.T.Helper()
	var look service.Look
	s.Must(200, "GET", "/sessions/a/context", nil, &look)
	var b strings.Builder
	for i := range look.Messages {
		b.WriteString(look.Messages[i].Text() + "\n")
	}
	return b.String()
}

// TestAnswersBehindOthers: the answer to a call stands behind what another process made of the session meanwhile, also
// where this one has taken in more since, and the model sees it from then on.
func TestAnswersBehindOthers(t *testing.T) {
	features.Proves(t, "T3")
	path := filepath.Join(t.TempDir(), "sessions.db")
	one := over(t, path)
	again, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	other := servetest.StartOver(t, again, &servetest.Host{}, service.Options{})
	host := hosttest.New(t, kagewasm.Options{}) // of a program with the library, which asks nobody
	for _, text := range []string{"the first answer", "the second answer"} {
		var look service.Look
		one.Must(201, "POST", "/sessions/a/calls", nil, &look)
		open, err := session.Open(t.Context(), host, session.Options{Journal: again,
			Session: abi.Session{ID: "a", ContextWindow: new(600)}})
		if err != nil {
			t.Fatal(err)
		}
		done, err := open.Compact(t.Context(), kagewasm.Request{Target: new(0)})
		if err != nil || !done.Report.Compacted {
			t.Fatal(err, done.Report.Reason)
		}
		if text == "the second answer" {
			one.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(0)}, nil)
		}
		one.Must(200, "POST", "/sessions/a/calls/"+look.Call+"/answer", answered(text), nil)
		for _, s := range []*servetest.Server{one, other} {
			if seen := inView(s); !strings.Contains(seen, text) {
				t.Errorf("the model does not see %s:\n%.2000s", text, seen)
			}
		}
		one.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(12)}, nil)
	}
	var list struct{ Compactions []store.Record }
	one.Must(200, "GET", "/sessions/a/compactions", nil, &list)
	for _, r := range list.Compactions {
		if !r.InForce {
			t.Errorf("compaction %s is not in force any more", r.ID)
		}
	}
}

// TestAnswersMayComeAgain: a call whose answer cannot be stored stays in flight, so that the answer can be sent again.
func TestAnswersMayComeAgain(t *testing.T) {
	features.Proves(t, "T3")
	s := over(t, store.InMemory)
	var look service.Look
	begin := func() string {
		s.Must(201, "POST", "/sessions/a/calls", nil, &look)
		return "/sessions/a/calls/" + look.Call
	}
	at := begin()
	wrong := map[string]any{"messages": []map[string]any{{"role": "boss", "content": "Done."}}}
	for range 2 {
		s.Must(422, "POST", at+"/answer", wrong, nil)
	}
	s.Must(409, "POST", "/sessions/a/compact", map[string]any{}, nil)
	s.Must(409, "GET", "/sessions/a/context?wait=0", nil, nil)
	s.Must(200, "POST", at+"/answer", answered("Done at last."), nil)
	s.Must(404, "POST", at+"/answer", answered("Done at last."), nil)
	if seen := inView(s); strings.Count(seen, "Done at last.") != 1 {
		t.Errorf("%.2000s", seen)
	}
	at = begin() // one that is given up then
	s.Must(422, "POST", at+"/answer", wrong, nil)
	s.Must(204, "DELETE", at, nil, nil)
	at = begin() // one that the provider refused, as its client says now
	s.Must(422, "POST", at+"/answer", wrong, nil)
	s.Must(422, "POST", at+"/refused", map[string]any{"error": "prompt is too long"}, nil)
	s.Must(404, "DELETE", at, nil, nil)
}
