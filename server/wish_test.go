package server_test

import (
	"maps"
	"slices"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/turnend"
	"github.com/kagewasm/kagewasm/store"
)

// TestAskedInACompaction: what a plugin asks for in a compaction of an open turn is kept, outlasts the server, and runs
// when the turn has ended, once.
func TestAskedInACompaction(t *testing.T) {
	features.Proves(t, "T2")
	p := &hosttest.Plugin{Name: "asks", Grants: []abi.Capability{abi.CapCompactionRequest},
		Post: hosttest.Answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the ports"}})}
	over, err := store.Open(t.Context(), store.InMemory, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	start := func() *servetest.Server {
		return servetest.StartOver(t, over, &servetest.Host{Options: kagewasm.Options{Plugins: []hooks.Plugin{p}}},
			service.Options{})
	}
	s := start()
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 400}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
	var begun struct{ Turn string }
	s.Must(201, "POST", "/sessions/a/turns", nil, &begun)
	triggers := func(s *servetest.Server) (list []abi.TriggerReason) {
		var made struct{ Compactions []abi.Record }
		s.Must(200, "GET", "/sessions/a/context", nil, nil)
		s.Must(200, "GET", "/sessions/a/compactions", nil, &made)
		return lists.Map(made.Compactions, func(r abi.Record) abi.TriggerReason { return r.Trigger })
	}
	for range 2 {
		if got := triggers(s); !slices.Equal(got, []abi.TriggerReason{abi.TriggerThreshold}) {
			t.Fatalf("in the turn: %v", got)
		}
	}
	s.Service.Drain()
	s = start()
	s.Must(200, "DELETE", "/sessions/a/turns/"+begun.Turn, nil, nil)
	for range 2 {
		triggers(s)
	}
	asked := p.Calls(abi.HookPostCompact)
	if len(asked) != 2 || asked[1].Trigger.Reason != abi.TriggerPlugin ||
		asked[1].Trigger.Instructions != "asks: the ports" {
		t.Errorf("it was called %d times: %+v", len(asked), asked[len(asked)-1].Trigger)
	}
}

// TestAskedInACompactionOfMessagesThatTheCallerKeeps: what a plugin asks for in a compaction that is recorded is wanted
// at the end of the turn, until a compaction answers it.
func TestAskedInACompactionOfMessagesThatTheCallerKeeps(t *testing.T) {
	features.Proves(t, "T2")
	p := &hosttest.Plugin{Name: "asks", Grants: []abi.Capability{abi.CapCompactionRequest},
		Pre: hosttest.Answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the ports"}})}
	s := servetest.Start(t, &servetest.Host{Options: kagewasm.Options{Plugins: []hooks.Plugin{p}}}, service.Options{})
	body := map[string]any{"messages": servetest.Chat(30), "format": "neutral", "context_window": 400, "record": true}
	with := func(more map[string]any) map[string]any {
		all := maps.Clone(body)
		maps.Copy(all, more)
		return all
	}
	ends := func() *turnend.Wanted {
		var told turnend.Ended
		s.Must(200, "POST", "/turn-end", with(nil), &told)
		if !told.Listening {
			t.Error("the agent need not tell of turns")
		}
		return told.Wanted
	}
	if w := ends(); w != nil {
		t.Fatalf("wanted before: %+v", w)
	}
	var made service.Made
	s.Must(200, "POST", "/compact", with(nil), &made)
	if len(made.Report.Wishes) != 1 {
		t.Fatalf("%+v", made.Report)
	}
	for range 2 {
		if w := ends(); w == nil || w.Reason != abi.TriggerPlugin || w.Instructions != "asks: the ports" {
			t.Fatalf("wanted %+v", w)
		}
	}
	s.Must(200, "POST", "/compact", with(map[string]any{"force": true, "reason": "plugin"}), &made)
	if w := ends(); w != nil {
		t.Errorf("wanted behind it: %+v", w)
	}
}
