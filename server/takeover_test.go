package server_test

import (
	"encoding/json"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/process"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/store"
)

// endProcess has the store say that a process began a turn which has ended since.
func endProcess(t *testing.T, s *store.Store, key, turn string) {
	t.Helper()
	name := strings.Fields(process.Self())
	if len(name) == 0 {
		t.Skip("nobody knows here whether a process is gone")
	}
	cmd := exec.CommandContext(t.Context(), "true")
	if err := cmd.Run(); err != nil {
		t.Skip(err)
	}
	name[len(name)-2] = strconv.Itoa(cmd.Process.Pid)
	list, err := s.Kept(t.Context(), store.KeptTurn, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		var o turns.Open
		if k.Name != turn {
			continue
		}
		if err = json.Unmarshal(k.Value, &o); err != nil {
			t.Fatal(err)
		}
		if o.Process = strings.Join(name, " "); !o.Gone() {
			t.Fatalf("%q is there", o.Process)
		}
		if k.Value, err = json.Marshal(o); err != nil {
			t.Fatal(err)
		}
		if err = s.Update(t.Context(), func(tx *store.Tx) error { return k.Keep(t.Context(), tx) }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTurnOfAServerThatEnded: the agent goes on with its turn at another server on the store that was running already.
// The turn is open there, calls do not end it, and its end is told to plugins.
func TestTurnOfAServerThatEnded(t *testing.T) {
	features.Proves(t, "T3")
	p := &hosttest.Plugin{Name: "hears", Turn: hosttest.Answers(nil)}
	first := over(t, store.InMemory)
	second := servetest.StartOver(t, first.Store, &servetest.Host{Options: kagewasm.Options{Plugins: []hooks.Plugin{p}}},
		service.Options{})
	end := begin(first)
	turn := path.Base(end)
	endProcess(t, first.Store, "a", turn)
	open := func(when string) {
		t.Helper()
		if list, err := turns.List(t.Context(), first.Store, "a"); err != nil || len(list) == 0 || list[0].ID != turn {
			t.Errorf("%s: %v, %v", when, list, err)
		}
	}
	open("before its agent comes")
	id := turns.NewCall()
	if err := turns.BeginCall(t.Context(), first.Store, "a", id, time.Minute); err != nil {
		t.Fatal(err)
	}
	open("in a call of a third server")
	if err := turns.EndCall(t.Context(), first.Store, "a", id); err != nil {
		t.Fatal(err)
	}
	refuses(second, "before its agent comes")
	second.Must(204, "DELETE", call(second), nil, nil)
	open("behind a call")
	second.Must(200, "DELETE", end, nil, nil)
	if n := len(p.Calls(abi.HookTurnEnd)); n != 1 {
		t.Errorf("its end was told %d times", n)
	}
	compacts(second, "when it has ended")
}

// TestAgentComesBack: a turn of a server that ended is open for ten minutes at the next one, and for as long as any
// other from when its agent has come there, with a call or a message.
func TestAgentComesBack(t *testing.T) {
	features.Proves(t, "T3")
	for how, comes := range map[string]func(*servetest.Server){
		"a call": func(s *servetest.Server) { s.Must(204, "DELETE", call(s), nil, nil) },
		"a message": func(s *servetest.Server) {
			s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(2)}, nil)
		},
	} {
		t.Run(how, func(t *testing.T) {
			first := over(t, store.InMemory)
			end := begin(first)
			endProcess(t, first.Store, "a", path.Base(end))
			next := servetest.StartOver(t, first.Store, &servetest.Host{}, service.Options{})
			is := func(left bool, most time.Duration) {
				t.Helper()
				list, err := turns.List(t.Context(), first.Store, "a")
				if err != nil || len(list) != 1 {
					t.Fatal(list, err)
				}
				o := list[0]
				if until := o.Until.Sub(o.Begun).Round(time.Hour); o.Left != left || until != most || o.Gone() {
					t.Errorf("left %v, gone %v, over %v after it began, want %v, %v", o.Left, o.Gone(), until, left, most)
				}
			}
			is(true, 0)
			refuses(next, "while it may come")
			is(true, 0)
			comes(next)
			is(false, 12*time.Hour)
			next.Must(200, "DELETE", end+"?wait=60", nil, nil)
			compacts(next, "when the turn has ended")
		})
	}
}
