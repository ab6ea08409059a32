package server_test

import (
	"encoding/json"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// onBoth runs a test with two servers over one database, SQLite and PostgreSQL. Both have the session a open.
func onBoth(t *testing.T, test func(t *testing.T, one, two *servetest.Server)) {
	for name, address := range map[string]func(testing.TB) string{
		"SQLite":     func(t testing.TB) string { return filepath.Join(t.TempDir(), "sessions.db") },
		"PostgreSQL": pgtest.Database,
	} {
		t.Run(name, func(t *testing.T) {
			database := address(t)
			one := over(t, database)
			again, err := store.Open(t.Context(), database, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { again.Close() })
			two := servetest.StartOver(t, again, &servetest.Host{}, service.Options{})
			for _, s := range []*servetest.Server{one, two} {
				s.Must(200, "GET", "/sessions/a/context", nil, nil)
			}
			test(t, one, two)
		})
	}
}

// grown adds messages to the session a, so that there is something to compact.
func grown(s *servetest.Server) {
	s.T.Helper()
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
}

// begin begins a turn and returns its path.
func begin(s *servetest.Server) string {
	s.T.Helper()
	var begun struct{ Turn string }
	s.Must(201, "POST", "/sessions/a/turns", nil, &begun)
	return "/sessions/a/turns/" + begun.Turn
}

// refuses checks that a server refuses whatever waits for no turn.
func refuses(s *servetest.Server, when string) {
	s.T.Helper()
	log := map[string]any{"id": "a", "format": "neutral", "messages": servetest.Chat(30)}
	once := map[string]any{"id": "a", "format": "neutral", "messages": servetest.Chat(30), "force": true}
	for path, body := range map[string]any{"/sessions/a/compact": map[string]any{}, "/compact": once,
		"/sessions/import": log} {
		if r := s.Do("POST", path, body); r.Status != 409 || r.Code() != abi.CodeBusy {
			s.T.Errorf("%s: %s: %d %s", when, path, r.Status, r.Body)
		}
	}
}

// TestRequestsOfTwoServers: what the agent asked for at one server in a turn is made once, when the turn ends at
// whichever server, and neither makes it again.
func TestRequestsOfTwoServers(t *testing.T) {
	features.Proves(t, "I5")
	onBoth(t, func(t *testing.T, one, two *servetest.Server) {
		err := one.Store.Update(t.Context(), func(tx *store.Tx) error {
			return tx.Describe(t.Context(), "a", store.About{Window: 100_000}, 1) // so that nothing is due
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range [][2]*servetest.Server{{one, one}, {one, two}, {two, one}} {
			grown(one)
			turn := begin(s[0])
			s[0].Must(202, "POST", "/sessions/a/requests", map[string]any{"instructions": "keep the ports"}, nil)
			for _, each := range []*servetest.Server{one, two} {
				each.Must(200, "GET", "/sessions/a/context", nil, nil)
			}
			s[1].Must(200, "DELETE", turn+"?wait=60", nil, nil)
			for _, each := range []*servetest.Server{one, two} {
				each.Must(200, "GET", "/sessions/a/context", nil, nil)
				var list struct{ Compactions []abi.Record }
				each.Must(200, "GET", "/sessions/a/compactions", nil, &list)
				agents := lists.Filter(list.Compactions, func(r abi.Record) bool { return r.Trigger == abi.TriggerAgent })
				if len(agents) != i+1 || len(list.Compactions) != 1+i+1 { // one was due when the session was made
					t.Errorf("turn %d: %d compactions, of which %d the agent's", i, len(list.Compactions), len(agents))
				}
			}
			if left, err := one.Store.Kept(t.Context(), store.KeptRequest, "a"); err != nil || len(left) != 0 {
				t.Errorf("turn %d: left %v, %v", i, left, err)
			}
		}
	})
}

// TestTurnsOfTwoServers: the database says which turns are open, whichever server began or ended them.
func TestTurnsOfTwoServers(t *testing.T) {
	features.Proves(t, "T3")
	onBoth(t, func(t *testing.T, one, two *servetest.Server) {
		for _, s := range [][2]*servetest.Server{{one, one}, {one, two}, {two, one}, {two, two}} {
			turn := begin(s[0])
			refuses(one, "in a turn")
			refuses(two, "in a turn")
			s[1].Must(200, "DELETE", turn, nil, nil)
			for _, again := range []*servetest.Server{one, two} {
				again.Must(404, "DELETE", turn, nil, nil)
				grown(again)
				var done service.Compacted
				again.Must(200, "POST", "/sessions/a/compact", map[string]any{}, &done)
				if !done.Report.Compacted {
					t.Errorf("behind the turn: %s", done.Report.Reason)
				}
			}
		}
	})
}

// TestRequestsInTurnsOfAnother: what an agent asks for in a turn that another server began waits for the end of it.
func TestRequestsInTurnsOfAnother(t *testing.T) {
	features.Proves(t, "T3")
	onBoth(t, func(t *testing.T, one, two *servetest.Server) {
		turn := begin(one)
		two.Must(202, "POST", "/sessions/a/requests", map[string]any{"instructions": "keep the ports"}, nil)
		var look service.Look
		two.Must(200, "GET", "/sessions/a/context", nil, &look)
		if look.Report.Compacted {
			t.Error("it does not wait for the end of the turn")
		}
		var end service.Turn
		two.Must(200, "DELETE", turn+"?wait=60", nil, &end)
		if end.Report == nil || len(compactionsBy(two, abi.TriggerAgent)) != 1 {
			t.Errorf("%+v", end.Report)
		}
	})
}

// compactionsBy are the records of the compactions of the session a that were made for a reason.
func compactionsBy(s *servetest.Server, reason abi.TriggerReason) (of []abi.Record) {
	s.T.Helper()
	var list struct{ Compactions []abi.Record }
	s.Must(200, "GET", "/sessions/a/compactions", nil, &list)
	for _, r := range list.Compactions {
		if r.Trigger == reason {
			of = append(of, r)
		}
	}
	return of
}

// TestTurnsAtOnce: turns that begin and end at two servers at once, each at one or the other, leave none behind, and of
// two ends of one turn one is refused.
func TestTurnsAtOnce(t *testing.T) {
	features.Proves(t, "T3")
	onBoth(t, func(t *testing.T, one, two *servetest.Server) {
		var wg sync.WaitGroup
		servers := []*servetest.Server{one, two}
		for i := range 8 {
			wg.Go(func() {
				for k := range 5 {
					var begun struct{ Turn string }
					if r := servers[(i+k)%2].Do("POST", "/sessions/a/turns", nil); json.Unmarshal(r.Body, &begun) != nil {
						t.Errorf("%d %s", r.Status, r.Body)
					}
					turn := "/sessions/a/turns/" + begun.Turn
					if r := servers[i%2].Do("POST", "/sessions/a/compact", map[string]any{}); r.Status != 409 {
						t.Errorf("in a turn: %d %s", r.Status, r.Body)
					}
					var ends sync.WaitGroup
					var ended, refused atomic.Int32
					for _, s := range servers {
						ends.Go(func() {
							switch r := s.Do("DELETE", turn+"?failed=true", nil); r.Status {
							case 200:
								ended.Add(1)
							case 404:
								refused.Add(1)
							default:
								t.Errorf("%d %s", r.Status, r.Body)
							}
						})
					}
					if ends.Wait(); ended.Load() != 1 || refused.Load() != 1 {
						t.Errorf("%d ends, %d refused", ended.Load(), refused.Load())
					}
				}
			})
		}
		wg.Wait()
		for _, s := range servers {
			s.Must(200, "POST", "/sessions/a/compact", map[string]any{"target_tokens": 0}, nil)
		}
	})
}

// TestTurnsNobodyEnds: a turn is over twelve hours after it began, for servers that have the session open too. Whoever
// ends it then is believed, and the next turn takes it away.
func TestTurnsNobodyEnds(t *testing.T) {
	features.Proves(t, "T3")
	s := over(t, store.InMemory)
	s.Must(200, "GET", "/sessions/a/context", nil, nil)
	age := func(turn string, by time.Duration) {
		t.Helper()
		value, err := json.Marshal(map[string]time.Time{"begun": time.Now().Add(-by).UTC()})
		if err != nil {
			t.Fatal(err)
		}
		k := store.Kept{Kind: store.KeptTurn, Owner: "a", Name: filepath.Base(turn), Value: value}
		if err := s.Store.Update(t.Context(), func(tx *store.Tx) error { return k.Keep(t.Context(), tx) }); err != nil {
			t.Fatal(err)
		}
	}
	young, old, older := begin(s), begin(s), begin(s)
	age(young, 11*time.Hour)
	age(old, 13*time.Hour)
	age(older, 14*time.Hour)
	refuses(s, "in a turn of eleven hours")
	s.Must(200, "DELETE", young, nil, nil)
	s.Must(200, "POST", "/sessions/a/compact", map[string]any{"target_tokens": 0}, nil)
	s.Must(200, "DELETE", old, nil, nil)
	s.Must(200, "DELETE", begin(s), nil, nil)
	s.Must(404, "DELETE", older, nil, nil)
}

// TestNobodyWaitsForPluginsAtTheEndOfTurns: who ends a turn does not wait for a plugin that hangs; the session goes on
// meanwhile, and what the plugin asks for at last runs as a deferred task.
func TestNobodyWaitsForPluginsAtTheEndOfTurns(t *testing.T) {
	features.Proves(t, "O4")
	hangs := make(chan struct{})
	p := &hosttest.Plugin{Name: "asks", Grants: []abi.Capability{abi.CapCompactionRequest},
		Turn: func(*abi.Input) (*abi.Output, error) {
			<-hangs
			return &abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the ports"}}, nil
		}}
	letGo := sync.OnceFunc(func() { close(hangs) })
	defer letGo()
	s := servetest.Start(t, &servetest.Host{Options: kagewasm.Options{Plugins: []hooks.Plugin{p}}},
		service.Options{TurnTime: time.Millisecond})
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 2000}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(10)}, nil)
	var begun struct{ Turn string }
	s.Must(201, "POST", "/sessions/a/turns", nil, &begun)
	var ended service.Turn
	s.Must(200, "DELETE", "/sessions/a/turns/"+begun.Turn, nil, &ended)
	if !ended.Background || ended.Report != nil || ended.Version == 0 {
		t.Errorf("%+v", ended)
	}
	s.Must(404, "DELETE", "/sessions/a/turns/"+begun.Turn, nil, nil)
	s.Must(200, "GET", "/sessions/a/context", nil, nil)
	s.Must(201, "POST", "/sessions/a/turns", nil, &begun)
	s.Must(200, "DELETE", "/sessions/a/turns/"+begun.Turn+"?failed=true", nil, nil)
	letGo()
	for {
		var made struct{ Compactions []abi.Record }
		s.Must(200, "GET", "/sessions/a/compactions", nil, &made)
		if len(made.Compactions) > 0 {
			if r := made.Compactions[0].Trigger; r != abi.TriggerPlugin {
				t.Errorf("by %s", r)
			}
			return
		}
		time.Sleep(time.Millisecond)
	}
}
