package server_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

// TestRestart: an open turn, and what an agent asked for in it, are known to the next server
// on the store: a compaction by hand is refused until the turn has ended, and the one that
// was asked for runs then, with what was said. Nothing of it is left behind that.
func TestRestart(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first := servetest.StartOver(t, s, &servetest.Host{}, service.Options{})
	first.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 6000}, nil)
	first.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
	var begun struct{ Turn string }
	first.Must(201, "POST", "/sessions/a/turns", nil, &begun)
	first.Must(202, "POST", "/sessions/a/requests", map[string]any{"instructions": "keep the ports"}, nil)
	var look service.Look
	first.Must(200, "GET", "/sessions/a/context", nil, &look)
	if look.Report.Compacted {
		t.Fatal("what was asked for in a turn does not wait for its end")
	}
	first.Service.Drain()
	kept := func(kind string) (names []string) {
		list, err := s.Kept(context.Background(), kind, "a")
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range list {
			names = append(names, k.Name+string(k.Value))
		}
		return names
	}
	if asked := kept(store.KeptRequest); len(kept(store.KeptTurn)) != 1 || len(asked) != 1 ||
		!strings.HasSuffix(asked[0], `{"instructions":"keep the ports"}`) {
		t.Fatalf("%v, %v", kept(store.KeptTurn), kept(store.KeptRequest))
	}

	second := servetest.StartOver(t, s, &servetest.Host{}, service.Options{})
	if r := second.Do("POST", "/sessions/a/compact", map[string]any{}); r.Status != 409 || r.Code() != abi.CodeBusy {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	second.Must(200, "GET", "/sessions/a/context", nil, &look)
	if look.Report.Compacted {
		t.Error("it does not wait for the end of a turn that an earlier server began")
	}
	var end service.Turn
	second.Must(200, "DELETE", "/sessions/a/turns/"+begun.Turn+"?wait=60", nil, &end)
	var list struct{ Compactions []abi.Record }
	second.Must(200, "GET", "/sessions/a/compactions", nil, &list)
	if end.Report == nil || len(list.Compactions) != 1 || list.Compactions[0].Trigger != abi.TriggerAgent {
		t.Errorf("%+v, %+v", end.Report, list.Compactions)
	}
	if left := append(kept(store.KeptTurn), kept(store.KeptRequest)...); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if r := second.Do("DELETE", "/sessions/a/turns/"+begun.Turn, nil); r.Status != 404 {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
