package integrations_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/agenttest"
)

// began waits until a turn has begun, and returns its id.
func (a *codexApp) began() string {
	a.t.Helper()
	m := a.until("turn", func(m *message) bool { return m.Method == "turn/started" })
	return a.turn(m).ID
}

// codexTurn is a turn as Codex tells of it.
type codexTurn struct{ ID, Status string }

func (a *codexApp) turn(m message) codexTurn {
	a.t.Helper()
	var params struct{ Turn codexTurn }
	if err := json.Unmarshal(m.Params, &params); err != nil {
		a.t.Fatal(err)
	}
	return params.Turn
}

// interrupt breaks a turn off, as a person does.
func (a *codexApp) interrupt(thread, turn string) {
	a.t.Helper()
	a.id++
	a.send(map[string]any{"id": a.id, "method": "turn/interrupt",
		"params": map[string]any{"threadId": thread, "turnId": turn}})
	m := a.until("end of a turn", func(m *message) bool { return m.Method == "turn/completed" })
	if got := a.turn(m); got.ID != turn || got.Status != "interrupted" {
		a.t.Errorf("turn %s: %+v", turn, got)
	}
}

// start begins a turn.
func (a *codexApp) start(thread, prompt string) {
	a.t.Helper()
	input := []any{map[string]any{"type": "text", "text": prompt}}
	a.call("turn/start", map[string]any{"threadId": thread, "input": input, "approvalPolicy": "never",
		"sandboxPolicy": map[string]any{"type": "dangerFullAccess"}})
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("a minute long there was no %s", what)
		}
	}
}

// goesOn goes on with a session twice, and fails where its context is not as small as it was compacted, or does not
// have what was said before and in the turn that was broken off.
func (a *codexApp) goesOn(c *codex, thread string, says ...string) {
	a.t.Helper()
	var small agenttest.Request
	for i, prompt := range []string{"go on", "and on"} {
		a.start(thread, prompt)
		a.done()
		now := c.model.Last(a.t)
		whole(a.t, i, now)
		if small.Body == nil {
			small = now
		}
		for _, text := range append(says, "compaction_summary-", "Never touch the folder vendor/", prompt) {
			if !now.Says(text) {
				a.t.Errorf("%s: %q is gone from %d bytes", prompt, text, now.Size())
			}
		}
		if float64(now.Size()) > 1.05*float64(small.Size()) || now.Size() > c.largest()*2/3 {
			a.t.Errorf("%s: %d bytes of %d", prompt, now.Size(), small.Size())
		}
	}
}

// TestCodexInterruptedAnswer: a person breaks off a turn in the middle of an answer. The session stays as small as it
// was compacted, and has what they said.
func TestCodexInterruptedAnswer(t *testing.T) {
	c := newCodex(t)
	c.install(t)
	c.work(4)
	c.exec(t, false, "Run the tests. Never touch the folder vendor/.")
	c.work(4)
	c.exec(t, true, "Run them once more.")
	small := c.model.Last(t)
	thread := c.threads(t)[0]
	app := c.app(t)
	app.call("thread/resume", map[string]any{"threadId": thread})
	asked := len(c.model.Requests())
	c.model.Say(agenttest.Answer{Text: "I begin with", Hold: true})
	app.start(thread, "Look at the folder docs/ too.")
	turn := app.began()
	app.until("beginning of the answer", func(m *message) bool { return m.Method == "item/agentMessage/delta" })
	app.interrupt(thread, turn)
	if n := len(c.model.Requests()) - asked; n != 1 {
		t.Errorf("%d requests", n)
	}
	app.goesOn(c, thread, "Look at the folder docs/ too.")
	if now := c.model.Last(t); float64(now.Size()) > 1.05*float64(small.Size()) {
		t.Errorf("%d bytes, %d before the interruption", now.Size(), small.Size())
	}
}

// TestCodexInterruptedCompaction: a person breaks off a turn in the middle of a compaction, which they asked for or
// Codex did. It leaves nothing behind: the next one makes the session small, which has all that was said.
func TestCodexInterruptedCompaction(t *testing.T) {
	for name, byHand := range map[string]bool{"by hand": true, "by itself": false} {
		t.Run(name, func(t *testing.T) {
			c := newCodex(t)
			asked := make(chan struct{}, 100)
			var held atomic.Bool
			held.Store(true)
			slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // else nobody notices that the client hangs up
				asked <- struct{}{}
				if held.Load() {
					<-r.Context().Done()
					return
				}
				w.WriteHeader(http.StatusUnauthorized) // the note is made without a model then
			}))
			t.Cleanup(func() {
				slow.CloseClientConnections()
				slow.Close()
			})
			settings := filepath.Join(c.Project, "slow.yaml")
			if err := os.WriteFile(settings, []byte("compaction: {strategy: summarize}\nmodel: m\nmodels: {m: {provider: "+
				"openai, model: m-1, base_url: "+slow.URL+"/v1}}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			c.settings = []string{"--config", settings}
			c.install(t)
			c.work(3)
			c.exec(t, false, "Run the tests. Never touch the folder vendor/.")
			if len(asked) > 0 {
				t.Fatal("it is compacted already")
			}
			thread := c.threads(t)[0]
			app := c.app(t)
			app.call("thread/resume", map[string]any{"threadId": thread})
			if byHand {
				app.call("thread/compact/start", map[string]any{"threadId": thread})
			} else {
				c.work(5) // which is more than Codex's limit
				app.start(thread, "Look at the folder docs/ too.")
			}
			turn := app.began()
			waitFor(t, "compaction", func() bool { return len(asked) > 0 })
			app.interrupt(thread, turn)
			if _, n := c.stored(t); n > 0 {
				t.Errorf("what was broken off is in the store %d times", n)
			}
			held.Store(false)
			if byHand {
				app.call("thread/compact/start", map[string]any{"threadId": thread})
				app.done()
				app.goesOn(c, thread)
			} else {
				app.goesOn(c, thread, "Look at the folder docs/ too.")
			}
			if sessions, n := c.stored(t); sessions != 1 || n != 1 {
				t.Errorf("%d compactions of %d sessions", n, sessions)
			}
		})
	}
}
