package integrations_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/agenttest"
)

// codexApp is Codex, with requests and notifications.
type codexApp struct {
	*app
	id int
}

func (c *codex) app(t *testing.T) *codexApp {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.program, "app-server")
	cmd.Dir, cmd.Env = c.Project, c.Env
	a := &codexApp{app: startApp(t, cmd)}
	a.call("initialize", map[string]any{"clientInfo": map[string]any{"name": "test", "version": "1"}})
	a.send(map[string]any{"method": "initialized"})
	return a
}

// message is one of Codex's.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Params json.RawMessage `json:"params"`
}

// until reads messages up to one that is looked for.
func (a *codexApp) until(what string, is func(m *message) bool) message {
	a.t.Helper()
	for a.lines.Scan() {
		var m message
		if err := json.Unmarshal(a.lines.Bytes(), &m); err != nil {
			a.t.Fatalf("%v: %s", err, a.lines.Bytes())
		}
		if is(&m) {
			return m
		}
	}
	a.t.Fatalf("Codex ended, and there was no %s", what)
	return message{}
}

func (a *codexApp) call(method string, params map[string]any) json.RawMessage {
	a.t.Helper()
	a.id++
	a.send(map[string]any{"id": a.id, "method": method, "params": params})
	m := a.until(method, func(m *message) bool { return m.ID == a.id && m.Method == "" })
	if m.Error != nil {
		a.t.Fatalf("%s: %s", method, m.Error)
	}
	return m.Result
}

// done waits until a turn has ended.
func (a *codexApp) done() {
	a.t.Helper()
	a.until("end of a turn", func(m *message) bool { return m.Method == "turn/completed" })
}

// threads are the ids of all threads that Codex keeps, oldest first.
func (c *codex) threads(t *testing.T) (ids []string) {
	t.Helper()
	var files []string
	for path := range agenttest.Tree(t, c.path("sessions")) {
		if strings.HasSuffix(path, ".jsonl") {
			files = append(files, filepath.Base(path))
		}
	}
	slices.Sort(files) // by time
	for _, f := range files {
		ids = append(ids, regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).FindString(f))
	}
	return ids
}

// dot is the path of an image in the project.
func (c *codex) dot(t *testing.T) string {
	t.Helper()
	png, err := base64.StdEncoding.DecodeString(aPNG)
	if err != nil {
		t.Fatal(err)
	}
	picture := filepath.Join(c.Project, "dot.png")
	if err := os.WriteFile(picture, png, 0o644); err != nil {
		t.Fatal(err)
	}
	return picture
}

// TestCodexByHand: a compaction that a person asks for goes through us and asks no model; an image that they sent is
// still there, and what was compacted stays so in a fork.
func TestCodexByHand(t *testing.T) {
	c := newCodex(t)
	c.install(t)
	picture := c.dot(t)
	c.work(3)
	c.exec(t, false, "Run the tests. Never touch the folder vendor/.", "-i", picture)
	full := c.model.Last(t)
	if !full.Says("data:image/png") {
		t.Fatalf("no image in %.2000s", full.Body)
	}
	thread := c.threads(t)[0]
	app := c.app(t)
	app.call("thread/resume", map[string]any{"threadId": thread})
	asked := len(c.model.Requests())
	app.call("thread/compact/start", map[string]any{"threadId": thread})
	app.done()
	if n := len(c.model.Requests()) - asked; n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	input := []any{map[string]any{"type": "text", "text": "go on"}}
	app.call("turn/start", map[string]any{"threadId": thread, "input": input})
	app.done()
	small := c.model.Last(t)
	whole(t, 0, small)
	if n := strings.Count(string(small.Body), "data:image/png"); small.Size() > full.Size()*2/3 || n != 1 ||
		!small.Says("Never touch the folder vendor/") {
		t.Errorf("%d bytes of %d, %d images", small.Size(), full.Size(), n)
	}
	app.in.Close()
	c.Must(t, c.program, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "fork", thread,
		"elsewhere")
	if fork := c.model.Last(t); float64(fork.Size()) > 1.05*float64(small.Size()) {
		t.Errorf("%d bytes in a fork, %d before", fork.Size(), small.Size())
	}
}

// TestCodexSubagent: a subagent whose own window is full is compacted through us, as a session of its own.
func TestCodexSubagent(t *testing.T) {
	c := newCodex(t)
	c.install(t)
	app := c.app(t)
	var started struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	if err := json.Unmarshal(app.call("thread/start", map[string]any{"approvalPolicy": "never",
		"sandbox": "danger-full-access"}), &started); err != nil {
		t.Fatal(err)
	}
	run := func(from int) agenttest.Call {
		return agenttest.Call{Name: "exec_command", Input: map[string]any{"cmd": fmt.Sprintf("seq %d %d", from, from+1800)}}
	}
	c.model.By = func(r agenttest.Request, before int) (agenttest.Answer, bool) {
		switch main := r.Session == started.Thread.ID; {
		case main && before == 0:
			return agenttest.Answer{Calls: []agenttest.Call{{Name: "spawn_agent", Namespace: "multi_agent_v1",
				Input: map[string]any{"message": "Count as far as you can."}}}}, true
		case main || before > 7:
			return agenttest.Answer{Text: "done"}, true
		}
		return agenttest.Answer{Text: "I count.", Calls: []agenttest.Call{run(before * 2000)}}, true
	}
	app.call("turn/start", map[string]any{"threadId": started.Thread.ID,
		"input": []any{map[string]any{"type": "text", "text": "Have somebody count."}}})
	app.done()
	app.done() // the subagent's
	subs := make(map[string]bool)
	for i, r := range c.model.Requests() {
		whole(t, i, r)
		if r.Session != started.Thread.ID && r.Says("compaction_summary-") {
			subs[r.Session] = true
		}
	}
	if len(subs) != 1 {
		for i, r := range c.model.Requests() {
			t.Logf("%d %s %d bytes", i, r.Session, r.Size())
		}
		t.Fatalf("notes in the requests of %v", subs)
	}
	list := c.Must(t, c.kagewasm, "sessions")
	for sub := range subs {
		if !strings.Contains(list, sub) || strings.Contains(list, started.Thread.ID) {
			t.Errorf("%s is not the one session that was compacted:\n%s", sub, list)
		}
	}
}
