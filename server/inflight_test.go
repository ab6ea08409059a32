package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

// call marks a call of the session a in flight and returns its path.
func call(s *servetest.Server) string {
	s.T.Helper()
	var look service.Look
	s.Must(201, "POST", "/sessions/a/calls", nil, &look)
	return "/sessions/a/calls/" + look.Call
}

// compacts checks that a server compacts the session a by hand.
func compacts(s *servetest.Server, when string) {
	s.T.Helper()
	grown(s)
	var done service.Compacted
	s.Must(200, "POST", "/sessions/a/compact", map[string]any{"target_tokens": 0}, &done)
	if !done.Report.Compacted {
		s.T.Errorf("%s: %s", when, done.Report.Reason)
	}
}

// TestCallsOfTwoServers: while a call is in flight at one server each of them fails at once with what a person asks
// for, and says which process has the call, since when, and when it is over at the latest. However the call ends, all
// compact again.
func TestCallsOfTwoServers(t *testing.T) {
	features.Proves(t, "T3")
	onBoth(t, func(t *testing.T, one, two *servetest.Server) {
		for how, end := range map[string]func(s *servetest.Server, at string){
			"with its answer": func(s *servetest.Server, at string) {
				s.Must(200, "POST", at+"/answer", answered("Done."), nil)
			},
			"given up": func(s *servetest.Server, at string) { s.Must(204, "DELETE", at, nil, nil) },
		} {
			for _, s := range []*servetest.Server{one, two} {
				at, begun := call(s), time.Now()
				refuses(one, "in a call")
				refuses(two, "in a call")
				var first string
				for _, each := range []*servetest.Server{one, two} {
					r := each.Must(409, "POST", "/sessions/a/compact", map[string]any{}, nil)
					for _, says := range []string{`session \"a\": a call of the model is in flight since 20`, filepath.Base(at),
						fmt.Sprintf("process %d on ", os.Getpid()), "where that process is gone, the call counts as over at 20"} {
						if !strings.Contains(string(r.Body), says) {
							t.Errorf("%s does not say %q", r.Body, says)
						}
					}
					if first == "" {
						first = string(r.Body)
					} else if string(r.Body) != first {
						t.Errorf("%s, and the other server says %s", r.Body, first)
					}
				}
				if took := time.Since(begun); took > 30*time.Second {
					t.Errorf("refused after %v", took)
				}
				end(s, at)
				compacts(one, how)
				compacts(two, how)
			}
		}
	})
}

// TestRequestsInCallsOfAnother: what an agent asks for during a call at another server waits for the end of the call.
func TestRequestsInCallsOfAnother(t *testing.T) {
	features.Proves(t, "T3")
	onBoth(t, func(t *testing.T, one, two *servetest.Server) {
		at := call(one)
		two.Must(202, "POST", "/sessions/a/requests", map[string]any{"instructions": "keep the ports"}, nil)
		two.Must(200, "GET", "/sessions/a/context", nil, nil)
		if list := compactionsBy(two, abi.TriggerAgent); len(list) != 0 {
			t.Errorf("it does not wait for the end of the call: %+v", list)
		}
		one.Must(200, "POST", at+"/answer", answered("Done."), nil)
		two.Must(200, "GET", "/sessions/a/context", nil, nil)
		if list := compactionsBy(two, abi.TriggerAgent); len(list) != 1 {
			t.Errorf("when the call has ended: %+v", list)
		}
	})
}

// TestCallsNobodyEnds: a call whose process is gone counts as over when the time of a call is. Who ends a turn does not
// end it before.
func TestCallsNobodyEnds(t *testing.T) {
	features.Proves(t, "T3")
	s := over(t, store.InMemory)
	left := func(until time.Time) {
		t.Helper()
		value, err := json.Marshal(map[string]any{"begun": until.Add(-10 * time.Minute), "until": until, "call": true,
			"by": "process 1 on elsewhere"})
		if err != nil {
			t.Fatal(err)
		}
		k := store.Kept{Kind: store.KeptTurn, Owner: "a", Name: "call-elsewhere", Value: value}
		if err := s.Store.Update(t.Context(), func(tx *store.Tx) error { return k.Keep(t.Context(), tx) }); err != nil {
			t.Fatal(err)
		}
	}
	until := time.Now().Add(time.Minute)
	left(until)
	refuses(s, "in a call of a process that may be there")
	r := s.Must(409, "POST", "/sessions/a/compact", map[string]any{}, nil)
	if stamp := until.UTC().Format(time.RFC3339); !strings.Contains(string(r.Body), "process 1 on elsewhere") ||
		!strings.Contains(string(r.Body), "over at "+stamp) {
		t.Errorf("%s, want it to say %s", r.Body, stamp)
	}
	s.Must(404, "DELETE", "/sessions/a/turns/call-elsewhere", nil, nil)
	refuses(s, "after the end of a turn")
	left(time.Now().Add(-time.Second))
	compacts(s, "when the call's time is over")
}

// TestCallsOfAServerBefore: a call that a server had in flight when it was killed is over where another one starts that
// has the store for itself, and a turn is not. Of other servers on the store nobody knows that they are gone.
func TestCallsOfAServerBefore(t *testing.T) {
	features.Proves(t, "T3")
	first := over(t, filepath.Join(t.TempDir(), "sessions.db"))
	call(first)
	again := servetest.StartOver(t, first.Store, &servetest.Host{}, service.Options{})
	refuses(again, "where the first server may be there")
	alone := servetest.StartOver(t, first.Store, &servetest.Host{}, service.Options{Alone: true})
	compacts(alone, "behind the call")
	begin(alone)
	refuses(servetest.StartOver(t, first.Store, &servetest.Host{}, service.Options{Alone: true}), "in a turn")
}

// TestCallsThatTakeTooLong: a call that is dropped as nobody ended it in time is over for all servers.
func TestCallsThatTakeTooLong(t *testing.T) {
	features.Proves(t, "T3")
	first := over(t, filepath.Join(t.TempDir(), "sessions.db"))
	short := servetest.StartOver(t, first.Store, &servetest.Host{}, service.Options{CallTime: 100 * time.Millisecond})
	at := call(short)
	time.Sleep(200 * time.Millisecond)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if open, err := first.Store.Kept(t.Context(), store.KeptTurn, "a"); err == nil && len(open) == 0 {
			break
		}
	}
	short.Must(404, "DELETE", at, nil, nil)
	compacts(first, "when the call was dropped")
}
