package server_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

// asksAtTheEnd is a plugin that asks for a compaction at the end of each turn. before is called in each compaction.
func asksAtTheEnd(before func()) *hosttest.Plugin {
	return &hosttest.Plugin{Name: "asks", Roles: []abi.PluginRole{abi.RoleObserver},
		Grants: []abi.Capability{abi.CapCompactionRequest, abi.CapCompactionSummary},
		Pre: func(*abi.Input) (*abi.Output, error) {
			if before != nil {
				before()
			}
			return nil, nil
		},
		Turn: hosttest.Answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the ports"}})}
}

// with is a host with a plugin.
func with(p hooks.Plugin) *servetest.Host {
	return &servetest.Host{Options: kagewasm.Options{Plugins: []hooks.Plugin{p}}}
}

// asked starts a server with a session a in whose window there is room.
func asked(t *testing.T, host *servetest.Host, opts service.Options) *servetest.Server {
	t.Helper()
	s := servetest.Start(t, host, opts)
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 100_000}, nil)
	grown(s)
	return s
}

// triggersOf are what the compactions of the session a were made for.
func triggersOf(s *servetest.Server) []abi.TriggerReason {
	s.T.Helper()
	var made struct{ Compactions []abi.Record }
	s.Must(200, "GET", "/sessions/a/compactions", nil, &made)
	return lists.Map(made.Compactions, func(r abi.Record) abi.TriggerReason { return r.Trigger })
}

// become waits until the compactions of the session a are those.
func become(s *servetest.Server, want ...abi.TriggerReason) {
	s.T.Helper()
	var got []abi.TriggerReason
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if got = triggersOf(s); slices.Equal(got, want) {
			return
		}
	}
	s.T.Errorf("%v, want %v", got, want)
}

// TestTurnsEndAtOnce: who ends a turn does not wait for the compaction that a plugin asked for; the next call does.
// Its result is in the answer where the client waits, and the audit log has it.
func TestTurnsEndAtOnce(t *testing.T) {
	features.Proves(t, "O4", "K8")
	in, goes := make(chan struct{}), make(chan struct{})
	s := asked(t, with(asksAtTheEnd(func() { in <- struct{}{}; <-goes })), service.Options{})
	var ended service.Turn
	s.Must(200, "DELETE", begin(s), nil, &ended)
	if !ended.Background || ended.Report != nil || len(ended.Turn.Wishes) != 1 {
		t.Errorf("%+v", ended)
	}
	<-in
	if r := s.Do("POST", "/sessions/a/compact", map[string]any{}); r.Status != 409 ||
		!strings.Contains(string(r.Body), "a compaction that was asked for in a turn is running since") {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(1)}, nil)
	looked := make(chan *service.Look)
	go func() {
		var look service.Look
		s.Must(200, "GET", "/sessions/a/context", nil, &look)
		looked <- &look
	}()
	close(goes)
	if look := <-looked; look.Report.Compacted || len(look.Messages) >= 60 {
		t.Errorf("the next call is not shown what the compaction left: %d messages", len(look.Messages))
	}
	become(s, abi.TriggerPlugin)

	grown(s)
	go func() { <-in }()
	var waited service.Turn
	s.Must(200, "DELETE", begin(s)+"?wait=60", nil, &waited)
	if waited.Background || waited.Report == nil || !waited.Report.Compacted || waited.Version <= ended.Version {
		t.Errorf("%+v", waited)
	}
	if r := s.Do("GET", "/audit?session=a", nil); strings.Count(string(r.Body),
		`"type":"compaction.completed","session":"a"`) != 2 {
		t.Errorf("the audit log: %s", r.Body)
	}
	if left, err := s.Store.Kept(t.Context(), store.KeptTurn, "a"); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestTurnsEndInACall: the end of a turn does not wait for a call in flight. What a plugin asked for runs when the call
// has ended, however it does, and by itself.
func TestTurnsEndInACall(t *testing.T) {
	features.Proves(t, "O4")
	for how, end := range map[string]func(s *servetest.Server, at string){
		"with its answer": func(s *servetest.Server, at string) {
			s.Must(200, "POST", at+"/answer", answered("Done."), nil)
		},
		"given up": func(s *servetest.Server, at string) { s.Must(204, "DELETE", at, nil, nil) },
	} {
		t.Run(how, func(t *testing.T) {
			s := asked(t, with(asksAtTheEnd(nil)), service.Options{})
			turn, at := begin(s), call(s)
			var ended service.Turn
			s.Must(200, "DELETE", turn, nil, &ended)
			if !ended.Background || ended.Report != nil {
				t.Errorf("%+v", ended)
			}
			if got := triggersOf(s); len(got) != 0 {
				t.Errorf("in the call: %v", got)
			}
			end(s, at)
			become(s, abi.TriggerPlugin)
		})
	}
}

// TestTurnsOfASessionThatOverlap: what was asked for in a turn waits for the end of all that are open, also of one that
// was begun while a call of the last one was still in flight.
func TestTurnsOfASessionThatOverlap(t *testing.T) {
	features.Proves(t, "T2")
	for name, ask := range map[string]func(s *servetest.Server){
		"a plugin": nil,
		"the agent": func(s *servetest.Server) {
			s.Must(202, "POST", "/sessions/a/requests", map[string]any{"instructions": "the ports"}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, want := asksAtTheEnd(nil), abi.TriggerPlugin
			if ask != nil {
				p.Turn, want = nil, abi.TriggerAgent
			}
			s := asked(t, with(p), service.Options{})
			first, second := begin(s), begin(s)
			if ask != nil {
				ask(s)
			}
			none := func(when string) {
				t.Helper()
				s.Must(200, "GET", "/sessions/a/context", nil, nil)
				if got := triggersOf(s); len(got) != 0 {
					t.Fatalf("%s: %v", when, got)
				}
			}
			s.Must(200, "DELETE", first, nil, nil)
			none("the second turn is open")
			at := call(s)
			s.Must(200, "DELETE", second, nil, nil)
			third := begin(s)
			s.Must(200, "POST", at+"/answer", answered("Done."), nil)
			none("the third turn is open")
			s.Must(200, "DELETE", third, nil, nil)
			become(s, want)
		})
	}
}

// TestServersThatEndBehindATurn: a compaction that was asked for and has not ended when the server does is asked for at
// the next one.
func TestServersThatEndBehindATurn(t *testing.T) {
	features.Proves(t, "O4")
	s := asked(t, with(asksAtTheEnd(nil)), service.Options{})
	turn := begin(s)
	call(s)
	s.Must(200, "DELETE", turn, nil, nil)
	if err := s.Service.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := triggersOf(s); len(got) != 0 {
		t.Fatalf("%v", got)
	}
	next := servetest.StartOver(t, s.Store, &servetest.Host{}, service.Options{Alone: true})
	next.Must(200, "GET", "/sessions/a/context", nil, nil)
	become(next, abi.TriggerPlugin)
}

// TestFailuresBehindATurn: nobody waits for a compaction behind a turn, so the logs say why it failed.
func TestFailuresBehindATurn(t *testing.T) {
	features.Proves(t, "O4")
	var mu sync.Mutex
	var log bytes.Buffer
	writer := writerFunc(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(b)
	})
	host := &servetest.Host{Options: kagewasm.Options{Plugins: []hooks.Plugin{asksAtTheEnd(nil)},
		Policy: kagewasm.Policy{Strategy: "summarize", NoFloor: true},
		Model:  modeltest.Script(modeltest.Answer{None: true})}}
	s := asked(t, host, service.Options{Log: slog.New(slog.NewTextHandler(writer, nil))})
	var ended service.Turn
	s.Must(200, "DELETE", begin(s), nil, &ended)
	if !ended.Background {
		t.Errorf("%+v", ended)
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		said := log.String()
		mu.Unlock()
		if strings.Contains(said, "the compaction behind a turn failed") && strings.Contains(said, "session=a") {
			break
		}
	}
	if r := s.Do("GET", "/audit?session=a", nil); !strings.Contains(string(r.Body), `"compaction.failed"`) {
		t.Errorf("the audit log: %s\nthe log: %s", r.Body, log.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
